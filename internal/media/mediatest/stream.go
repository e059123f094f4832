// Package mediatest makes real encoded streams for tests. Nothing of the
// product imports it.
package mediatest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/flv"
	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// FFmpeg is the path of ffmpeg; the test fails when there is none.
func FFmpeg(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("ffmpeg is not installed: apt-get install ffmpeg")
	}
	return path
}

// Stream encodes a moving test picture with the recorder's own profile.
func Stream(t testing.TB, w, h, fps, frames int) (mp4.Track, []segment.Frame) {
	t.Helper()
	args := []string{
		"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=%dx%d:rate=%d", w, h, fps),
		"-frames:v", fmt.Sprint(frames), "-vf", profile.ToYUV(w, h),
	}
	args = append(args, profile.Recording().Args()...)
	cmd := exec.CommandContext(t.Context(), FFmpeg(t), append(args, "-f", "flv", "-")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("encode a test stream: %v: %s", err, errs.String())
	}
	track := mp4.Track{Width: profile.Even(w), Height: profile.Even(h), FPS: fps}
	var list []segment.Frame
	r := flv.NewReader(&out)
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return track, list
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Config != nil {
			set, err := h264.ParseConfig(p.Config)
			if err != nil {
				t.Fatal(err)
			}
			track.SPS, track.PPS = set.SPS, set.PPS
			continue
		}
		tick := (int64(p.Time)*int64(fps) + int64(time.Second)/2) / int64(time.Second)
		list = append(list, segment.Frame{Tick: tick, Key: p.Key, Data: p.Data})
	}
}
