package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// desktop is a terminal on a recording's display, and the hands before it.
type desktop struct {
	t   *testing.T
	env []string
}

func newDesktop(t *testing.T, d startData) *desktop {
	t.Helper()
	for tool, pkg := range map[string]string{"xterm": "xterm", "xdotool": "xdotool"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is missing: apt-get install %s", tool, pkg)
		}
	}
	k := &desktop{t, append(os.Environ(), "DISPLAY="+d.Display, "XAUTHORITY="+d.Xauthority)}
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	xterm, err := exec.LookPath("xterm")
	if err != nil {
		t.Fatal(err)
	}
	term, err := spawn.Start(proc.Command{
		Role: "xterm", Path: xterm, Env: k.env,
		// cat echoes what is typed, and runs nothing of it.
		Args: []string{"-geometry", "60x12+40+40", "-bg", "white", "-fg", "black", "-e", "cat"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Kill)
	k.do("search", "--sync", "--onlyvisible", "--class", "xterm")
	return k
}

func (k *desktop) do(args ...string) {
	k.t.Helper()
	cmd := exec.Command("xdotool", args...)
	cmd.Env = k.env
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("xdotool %v: %v: %s", args, err, out)
	}
}

// mentions lists the files below folders that hold a text.
func mentions(t *testing.T, text string, folders ...string) (found []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if bytes.Contains(bytes.ToLower(raw), []byte(text)) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// darkAt says how dark the darkest pixel of a place is at a second of a video,
// 16 to 235.
func darkAt(t *testing.T, path, second, crop string) byte {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-ss", second, "-i", path, "-frames:v", "1", "-vf", "crop="+crop+",extractplanes=y", "-f", "rawvideo", "-").Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("%s at %s s: %v, %d bytes", path, second, err, len(out))
	}
	least := out[0]
	for _, v := range out {
		least = min(least, v)
	}
	return least
}

// Somebody points, clicks and types: the film has no pointer and the clip has
// it where it was; and what was typed is in no file, with --keys or without.
func TestInputIsLoggedAndDrawn(t *testing.T) {
	const secret = "zqxjkvw"
	for _, flags := range [][]string{nil, {"--keys"}} {
		t.Run(strings.Join(append([]string{"start"}, flags...), " "), func(t *testing.T) {
			out := t.TempDir()
			b := newBox(t, "PROOFREEL_OUT="+out)
			d := b.start(append([]string{"--browser", "none", "--size", "640x480", "--fps", "30"}, flags...)...)
			k := newDesktop(t, d)
			k.do("mousemove", "300", "130", "click", "1", "sleep", "1")
			k.do("type", "--delay", "15", secret)
			k.do("key", "BackSpace", "key", "Return", "key", "ctrl+l")
			// Far from the terminal: whatever is dark there is a pointer.
			k.do("mousemove", "560", "400", "click", "1", "sleep", "2")
			var stop stopData
			b.must("stop").get(t, &stop)

			log, err := os.ReadFile(b.path(d.RecordingID, "input.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			wants := []string{`"k":"down","x":300,"y":130,"b":1`, `"k":"down","x":560,"y":400,"b":1`, `"c":"text"}`, `"c":"enter"`, `"c":"combo"`}
			if flags != nil {
				wants = append(wants, `"c":"combo","n":"L","m":["Ctrl"]`, `"n":"Enter"`)
			}
			for _, want := range wants {
				if !strings.Contains(string(log), want) {
					t.Errorf("the log lacks %s:\n%s", want, log)
				}
			}
			if named := strings.Contains(string(log), `"n":`); named != (flags != nil) {
				t.Errorf("names in the log: %v:\n%s", named, log)
			}

			var c clipData
			b.must("clip", d.RecordingID, "--pointer", "--keys", "--stills", "keep").get(t, &c)
			c.Sheet, c.Notes = c.Transcript, nil // without steps there is no sheet
			c.files(t)
			second := fmt.Sprintf("%.2f", c.DurationSeconds-0.5) // all has been done
			const place = "14:18:559:399"
			if v := darkAt(t, stop.Path, second, place); v < 100 {
				t.Errorf("the film has something of luma %d where the pointer was", v)
			}
			if v := darkAt(t, c.Path, second, place); v > 60 {
				t.Errorf("the clip has no pointer where it was: luma %d", v)
			}
			if found := mentions(t, secret, b.home, out); len(found) > 0 {
				t.Errorf("what was typed is in %v", found)
			}
			if n := strings.Count(string(log), `"c":"text"`); n > len(secret)/2 {
				t.Errorf("%d entries tell of %d characters", n, len(secret))
			}
			b.clean(d.RecordingID, d.Display)
		})
	}
}
