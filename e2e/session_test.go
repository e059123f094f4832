package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// quiet is how long nothing happens in the middle of a session.
const quiet = 30 * time.Second

// Sessions of a minute and a half, as agents have them: on a page and on a
// desktop with a terminal and an editor, with steps, a pass, a fail and half a
// minute of stillness in the middle. What a person gets is short, small, says
// how long was cut, and can be sought in by its chapters.
func TestSessionsOfNinetySeconds(t *testing.T) {
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, "PROOFREEL_OUT="+t.TempDir())
		d := b.start("--url", serveRig(t), "--size", "1280x720", "--fps", "30", "--name", "page")
		session(t, b, func(n int) { act(t, d, "click", "#t"+strconv.Itoa(n%8+1)) })
	})
	t.Run("desktop", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, "PROOFREEL_OUT="+t.TempDir())
		d := b.start("--browser", "none", "--size", "1280x720", "--fps", "30", "--name", "desktop")
		env := append(os.Environ(), "DISPLAY="+d.Display, "XAUTHORITY="+d.Xauthority, "NO_AT_BRIDGE=1")
		for _, program := range [][]string{{"l3afpad"}, {"xterm", "-geometry", "80x24+40+40"}} {
			cmd := exec.Command(program[0], program[1:]...)
			cmd.Env = env
			if err := cmd.Start(); err != nil {
				t.Fatalf("%v (run make install-test-deps)", err)
			}
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			time.Sleep(2 * time.Second)
		}
		session(t, b, func(n int) {
			cmd := exec.Command("xdotool", "type", "--delay", "20", fmt.Sprintf("step %d ", n))
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("xdotool (apt-get install xdotool): %v: %s", err, out)
			}
		})
	})
}

// session works for 30 s, rests for 30 s, works for 30 s, and looks at the clip.
func session(t *testing.T, b *box, work func(n int)) {
	t.Helper()
	n := 0
	for half, outcome := range []string{"pass", "fail"} {
		for part := range 2 {
			b.must("step", fmt.Sprintf("Step %d of the session", 2*half+part+1))
			for range 5 {
				work(n)
				n++
				time.Sleep(2700 * time.Millisecond)
			}
		}
		b.must("result", outcome, "This half ended with a "+outcome)
		if half == 0 {
			time.Sleep(quiet)
		}
	}
	var stop struct {
		stopData
		Clip clipData
	}
	b.must("stop", "--clip").get(t, &stop)
	c := stop.Clip
	c.files(t)
	p := videoOf(t, c.Path)
	if p.Width != 1280 || c.Bytes > 300_000 || math.Abs(p.Seconds-c.DurationSeconds) > 0.07 {
		t.Errorf("%d wide, %d bytes, %.2f s; the answer says %.2f s", p.Width, c.Bytes, p.Seconds, c.DurationSeconds)
	}
	if c.CutSeconds < quiet.Seconds()-2 || len(c.Steps) != 4 || c.Steps[1].Result != "pass" || c.Steps[3].Result != "fail" {
		t.Errorf("%.1f s cut, steps %+v", c.CutSeconds, c.Steps)
	}
	chaptersSeek(t, c)
	t.Logf("%.1f s of %.1f s in %d kB, %.1f s cut, %s %v", c.DurationSeconds, c.RecordingSeconds, c.Bytes/1000, c.CutSeconds, c.Verdict, c.Notes)
}

// chaptersSeek wants a chapter at each step, and a keyframe within one group of
// pictures before it.
func chaptersSeek(t *testing.T, c clipData) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-show_chapters", "-of", "json", c.Path).Output()
	var chapters struct {
		Chapters []struct {
			Start string            `json:"start_time"`
			Tags  map[string]string `json:"tags"`
		}
	}
	if err == nil {
		err = json.Unmarshal(out, &chapters)
	}
	if err != nil {
		t.Fatal(err)
	}
	keys, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-skip_frame", "nokey", "-show_entries", "frame=pts_time", "-of", "csv=p=0", c.Path).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, ch := range chapters.Chapters {
		at, err := strconv.ParseFloat(ch.Start, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Steps {
			if math.Abs(s.Second-at) < 0.07 && strings.Contains(ch.Tags["title"], s.Text) {
				found++
			}
		}
		near := math.Inf(1)
		for _, line := range strings.Fields(string(keys)) {
			if k, err := strconv.ParseFloat(strings.Trim(line, ","), 64); err == nil && k <= at+0.01 {
				near = math.Min(near, at-k)
			}
		}
		if near > 17 { // the encoder's longest group of pictures: 250 frames at 15 a second
			t.Errorf("chapter %q at %.2f s: the keyframe before lies %.2f s back", ch.Tags["title"], at, near)
		}
	}
	if found != len(c.Steps) {
		t.Errorf("chapters %+v for steps %+v", chapters.Chapters, c.Steps)
	}
}
