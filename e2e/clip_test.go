package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

type clipData struct {
	RecordingID, Path, Page, Captions, Transcript, Poster, Sheet, Markdown, Format, Verdict string
	Width, Height, FPS, Speed                                                               int
	Bytes                                                                                   int64
	DurationSeconds, RecordingSeconds, CutSeconds                                           float64
	Steps                                                                                   []struct {
		Text, Result string
		Second       float64
	}
	Notes []string
}

// files fails the test when a file of the clip is missing or empty.
func (d clipData) files(t *testing.T) {
	t.Helper()
	for _, f := range []string{d.Path, d.Page, d.Captions, d.Transcript, d.Poster, d.Sheet} {
		if st, err := os.Stat(f); err != nil || st.Size() == 0 {
			t.Errorf("%q: %v", f, err)
		}
	}
}

// videoOf decodes the video of a clip whole, apart from the product; its
// chapters are a track of their own.
func videoOf(t *testing.T, path string) probe {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0",
		"-show_streams", "-show_format", "-of", "json", path).Output()
	var p struct {
		Streams []probe
		Format  struct{ Duration string }
	}
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil || len(p.Streams) != 1 {
		t.Fatalf("ffprobe %s: %v: %s", path, err, out)
	}
	if msg, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-err_detect", "explode", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(msg) > 0 {
		t.Errorf("%s does not decode: %v: %s", path, err, msg)
	}
	p.Streams[0].Seconds, _ = strconv.ParseFloat(p.Format.Duration, 64)
	return p.Streams[0]
}

// An agent's session with a stillness in it, on a screen of its own: the clip
// is short and small, has the steps, and can be made again with other options
// while the recording stays as it is.
func TestClipOfASession(t *testing.T) {
	b := newBox(t, "PROOFREEL_OUT="+t.TempDir())
	d := b.start("--url", serveRig(t), "--size", "1280x720", "--fps", "30", "--name", "the rig")
	b.must("step", "Start the clock")
	act(t, d, "click", "#flash")
	act(t, d, "click", "#t1")
	b.must("result", "pass", "The page flashed")
	time.Sleep(6 * time.Second) // nothing happens
	b.must("step", "Click the second target")
	act(t, d, "click", "#t2")
	b.must("result", "fail", "It did not turn green")
	var stop struct {
		stopData
		Clip clipData
	}
	first := b.must("stop", "--clip")
	first.get(t, &stop)
	c := stop.Clip
	c.files(t)
	p := videoOf(t, c.Path)
	if p.Width != 1280 || p.Profile != "High" || p.PixFmt != "yuv420p" || p.Space != "bt709" || math.Abs(p.Seconds-c.DurationSeconds) > 0.07 {
		t.Errorf("video %+v, answer %+v", p, c)
	}
	if c.CutSeconds < 4 || c.DurationSeconds > c.RecordingSeconds || c.Bytes > 300_000 {
		t.Errorf("%.1f s of %.1f s, %.1f s cut, %d bytes", c.DurationSeconds, c.RecordingSeconds, c.CutSeconds, c.Bytes)
	}
	if len(c.Steps) != 2 || c.Steps[0].Result != "pass" || c.Steps[1].Result != "fail" || c.Verdict != stop.Verdict {
		t.Errorf("steps %+v, verdict %s of %s", c.Steps, c.Verdict, stop.Verdict)
	}
	if again := b.must("stop", "--clip"); again.stdout != first.stdout {
		t.Errorf("a repeated stop gives another answer:\n%s%s", first.stdout, again.stdout)
	}
	film, err := os.ReadFile(stop.Path)
	if err != nil {
		t.Fatal(err)
	}
	var other clipData
	b.must("clip", d.RecordingID, "--speed", "4", "--width", "640", "--position", "bottom", "--name", "fast", "--max-size", "100kB").get(t, &other)
	other.files(t)
	if other.DurationSeconds >= c.DurationSeconds || other.Width != 640 || other.Bytes > 100_000 || filepath.Dir(other.Path) != filepath.Dir(c.Path) {
		t.Errorf("%+v", other)
	}
	if now, err := os.ReadFile(stop.Path); err != nil || !bytes.Equal(now, film) {
		t.Errorf("the film was changed: %v", err)
	}
	c.files(t)
}

// A display that is there: 15 frames a second at most, and stop makes the clip
// unasked. --no-clip answers with the film alone.
func TestClipOfADisplayThatIsThere(t *testing.T) {
	out := t.TempDir()
	b := newBox(t, "PROOFREEL_OUT="+out)
	there := b.start("--browser", "none", "--size", "800x600") // a display for the next to film
	t.Setenv("XAUTHORITY", there.Xauthority)
	b.env = append(b.env, "XAUTHORITY="+there.Xauthority)
	d := b.start("--display", there.Display)
	if d.FPS > 15 || d.RecordingID == there.RecordingID {
		t.Errorf("start: %+v", d)
	}
	b.must("step", "--id", d.RecordingID, "Look at the desktop")
	b.must("result", "--id", d.RecordingID, "pass", "It is there")
	var plain, shown struct {
		stopData
		Clip *clipData
	}
	b.must("stop", d.RecordingID, "--no-clip").get(t, &plain)
	if left, _ := os.ReadDir(out); plain.Clip != nil || len(left) > 0 {
		t.Errorf("a clip that was not wanted: %+v %v", plain.Clip, left)
	}
	b.must("stop", d.RecordingID).get(t, &shown)
	if shown.Clip == nil {
		t.Fatal("no clip")
	}
	shown.Clip.files(t)
	if !strings.HasPrefix(shown.Clip.Path, out) || !strings.Contains(shown.Clip.Markdown, filepath.Base(shown.Clip.Path)) {
		t.Errorf("%+v", shown.Clip)
	}
	var own struct{ Clip *clipData }
	if b.must("stop", there.RecordingID).get(t, &own); own.Clip != nil {
		t.Error("an own display got a clip unasked")
	}
}

// A folder on a disk that is full: one clear error, the film named, the
// recording as it was, and nothing left behind.
func TestClipOnAFullDisk(t *testing.T) {
	if !mounted(t) {
		return
	}
	b := newBox(t)
	d := b.start("--url", serveRig(t)+"?mode=anim", "--size", "1280x720", "--fps", "30")
	b.must("step", "Watch it move")
	time.Sleep(3 * time.Second)
	b.must("stop")
	full := t.TempDir()
	for _, size := range []string{"16k", "64k", "160k"} {
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", full).CombinedOutput(); err != nil {
			t.Fatalf("mount a tmpfs: %v: %s", err, out)
		}
		a := b.call("clip", d.RecordingID, "--out", full)
		left, _ := os.ReadDir(full)
		if out, err := exec.Command("umount", full).CombinedOutput(); err != nil {
			t.Fatalf("unmount: %v: %s", err, out)
		}
		if a.exit != 4 || a.env.Error.Code != "disk_full" || len(left) > 0 {
			t.Errorf("%s: exit %d: %s; left %v", size, a.exit, a.stderr, left)
		}
	}
	var c clipData
	b.must("clip", d.RecordingID, "--out", t.TempDir()).get(t, &c)
	c.files(t)
}

// What can't be made a clip of is told.
func TestClipRefuses(t *testing.T) {
	b := newBox(t)
	if a := b.call("clip"); a.exit != 20 || a.env.Error.Code != "recording_not_found" {
		t.Errorf("without a recording: exit %d: %s", a.exit, a.stderr)
	}
	d := b.start("--browser", "none", "--size", "320x240", "--fps", "10")
	if a := b.call("clip", d.RecordingID); a.exit != 2 || a.env.Error.Code != "invalid_state" {
		t.Errorf("while it runs: exit %d: %s", a.exit, a.stderr)
	}
	b.must("stop")
	if err := os.WriteFile(b.path(d.RecordingID, "film.mp4"), []byte("rotten"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := b.call("clip", d.RecordingID, "--out", t.TempDir()); a.exit != 4 || a.env.Error.Code != "clip_failed" {
		t.Errorf("of a rotten film: exit %d: %s", a.exit, a.stderr)
	}
	if a := b.call("stop", "--clip", d.RecordingID); a.exit != 4 || !strings.Contains(a.env.Error.Message, "the recording has ended") {
		t.Errorf("stop: exit %d: %s", a.exit, a.stderr)
	}
	if a := b.call("clip", d.RecordingID, "--out", fmt.Sprintf("/proc/self/%d", time.Now().Unix())); a.exit != 4 {
		t.Errorf("a folder that can't be: exit %d: %s", a.exit, a.stderr)
	}
}
