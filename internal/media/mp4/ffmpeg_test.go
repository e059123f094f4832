package mp4

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// run runs a real program; a test without it has failed, and so has one in
// which it complains.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed: install ffmpeg with libx264 (Debian: apt-get install ffmpeg)", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.String()
}

// encode makes a track and access units of a moving picture, a keyframe every
// 10, encoded as a recording is.
func encode(t testing.TB, size string, fps int, frames string, args ...string) (Track, [][]byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.h264")
	argv := []string{
		"-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=" + size + ":r=30", "-frames:v", frames,
		"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-threads", "2", "-x264-params",
		"bframes=0:ref=1:weightp=0:rc-lookahead=0:sync-lookahead=0:scenecut=0:sliced-threads=1:keyint=10:aud=1:" +
			"colorprim=bt709:transfer=bt709:colormatrix=bt709",
	}
	run(t, "ffmpeg", append(append(argv, args...), "-f", "h264", file)...)
	stream, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	track := Track{FPS: fps}
	var aus [][]byte
	for nal := range h264.SplitAnnexB(stream) {
		switch h264.Type(nal) {
		case h264.TypeSPS:
			track.SPS = nal
		case h264.TypePPS:
			track.PPS = nal
		case h264.TypeAUD:
			aus = append(aus, nil)
		case h264.TypeSEI:
		default:
			aus[len(aus)-1] = h264.AppendAVCC(aus[len(aus)-1], nal)
		}
	}
	sps, err := h264.ParseSPS(track.SPS)
	if err != nil {
		t.Fatal(err)
	}
	track.Width, track.Height = sps.Width, sps.Height
	return track, aus
}

// hashes decodes a file and returns a hash for each picture.
func hashes(t testing.TB, file string) []string {
	t.Helper()
	out := run(t, "ffmpeg", "-nostdin", "-v", "error", "-err_detect", "explode", "-xerror", "-i", file,
		"-fps_mode", "passthrough", "-f", "framehash", "-hash", "md5", "-")
	var sums []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "#") {
			fields := strings.Split(strings.TrimSpace(line), ",")
			sums = append(sums, strings.TrimSpace(fields[len(fields)-1]))
		}
	}
	return sums
}
