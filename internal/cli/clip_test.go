package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/fault"
)

// Every flag must reach the clip; one that is lost would be a flag that does
// nothing.
func TestClipOptions(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		want clip.Options
	}{
		{"defaults", nil, nil, clip.Options{Out: "recordings", Width: 1280, FPS: 15, Format: "mp4"}},
		{"all", []string{
			testID, "--out", "/o", "--stills", "keep", "--speed", "4", "--position", "bottom", "--width", "640", "--fps", "10",
			"--crf", "0", "--max-size", "10MB", "--format", "webm", "--name", "n", "--pointer", "--keys", "--zoom", "--frame",
		}, nil, clip.Options{
			Out: "/o", Stills: "keep", Speed: 4, Position: "bottom", Width: 640, FPS: 10, CRF: &zero,
			MaxSize: 10_000_000, Format: "webm", Name: "n", Pointer: true, Keys: true, Zoom: true, Frame: true,
		}},
		{"environment", nil, map[string]string{"PROOFREEL_OUT": "/e", "PROOFREEL_RECORDING": testID}, clip.Options{Out: "/e", Width: 1280, FPS: 15, Format: "mp4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			b.env = c.env
			if o := b.run(append([]string{"clip"}, c.args...)...); o.code != fault.ExitOK {
				t.Fatal(o.err)
			}
			if d := cmp.Diff(c.want, b.clip); d != "" {
				t.Error(d)
			}
			if want := c.env["PROOFREEL_RECORDING"]; want != "" && b.id != want {
				t.Errorf("recording %q, want %q", b.id, want)
			}
		})
	}
}

// Values that are no clip must be refused before anything is done.
func TestClipRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--width", "63"},
		{"--width", "1281"},
		{"--fps", "0"},
		{"--fps", "61"},
		{"--fps", "auto"},
		{"--crf", "52"},
		{"--crf", "-1"},
		{"--speed", "3"},
		{"--stills", "some"},
		{"--position", "left"},
		{"--format", "avi"},
		{"--max-size", "9kB"},
		{"--max-size", "10"},
		{"--name", "../x"},
		{"--out", ""},
		{"--format", "gif", "--crf", "20"},
		{"../x"},
		{testID, otherID},
	} {
		b := newBench()
		if o := b.run(append([]string{"clip"}, args...)...); o.code != fault.ExitUsage || len(b.calls) > 0 {
			t.Errorf("%q: exit %d, calls %v: %s", args, o.code, b.calls, o.err)
		}
	}
}

// stop's own answer stays as it is, byte for byte, with a clip and without.
func TestStopWithClip(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		there bool
		clip  bool
	}{
		{"own display", nil, false, false},
		{"own display, asked", []string{"--clip"}, false, true},
		{"display that was there", nil, true, true},
		{"display that was there, not wanted", []string{"--no-clip"}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			b.there = c.there
			b.raw = []byte(`{"recordingId": "x",  "odd":  "spacing <&>"}`)
			o := b.run(append([]string{"stop", "--output", "json"}, c.args...)...)
			own := `"data":` + strings.TrimSuffix(string(b.raw), "}")
			if o.code != fault.ExitOK || !strings.Contains(o.out, own) {
				t.Fatalf("exit %d, %s%s", o.code, o.out, o.err)
			}
			data, _ := oneObject(t, o.out)["data"].(map[string]any)
			if _, got := data["clip"]; got != c.clip {
				t.Errorf("clip in the answer: %v, want %v", got, c.clip)
			}
		})
	}
	b := newBench()
	if o := b.run("stop", "--clip", "--no-clip"); o.code != fault.ExitUsage || len(b.calls) > 0 {
		t.Errorf("--clip --no-clip: exit %d, calls %v", o.code, b.calls)
	}
}
