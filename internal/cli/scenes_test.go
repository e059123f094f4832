package cli

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// Every flag must reach the renderer; one that is lost would do nothing.
func TestSceneOptions(t *testing.T) {
	plain := renderer.Source{Scene: "s.js", FrameTimeout: 10 * time.Second}
	full := renderer.Source{Scene: "s.js", Style: "swiss", FrameTimeout: 2 * time.Second, Memory: 1 << 30}
	flags := []string{"--style", "swiss", "--timeout-frame", "2s", "--memory", "1GiB"}
	with := func(args ...string) []string { return append(args, flags...) }
	workers := full
	workers.Workers = 3
	for _, c := range []struct {
		args []string
		want any
	}{
		{[]string{"render", "s.js"}, renderer.RenderOptions{Source: plain, Quality: "standard", Timeout: 30 * time.Minute}},
		{
			with("render", "s.js", "-o", "f.mp4", "--quality", "high", "--poster", "p.jpg", "--workers", "3", "--timeout", "5m"),
			renderer.RenderOptions{Source: workers, Out: "f.mp4", Poster: "p.jpg", Quality: "high", Timeout: 5 * time.Minute},
		},
		{[]string{"still", "s.js", "--at", "1.5"}, renderer.StillOptions{Source: plain, At: []float64{1.5}, Out: "stills"}},
		{with("still", "s.js", "--at=0, 2.25,3", "--out=a.png"), renderer.StillOptions{Source: full, At: []float64{0, 2.25, 3}, Out: "a.png"}},
		{[]string{"sheet", "s.js"}, renderer.SheetOptions{Source: plain, Columns: 4, Rows: 3}},
		{with("sheet", "s.js", "-o", "x.jpg", "--columns", "2", "--rows", "1"), renderer.SheetOptions{Source: full, Out: "x.jpg", Columns: 2, Rows: 1}},
		{[]string{"scene", "check", "s.js"}, renderer.CheckOptions{Source: plain, Frames: 12}},
		{with("scene", "check", "s.js", "--frames", "40"), renderer.CheckOptions{Source: full, Frames: 40}},
		{[]string{"scene", "preview", "s.js"}, renderer.PreviewOptions{Source: plain}},
		{with("scene", "preview", "s.js", "--port", "4000"), renderer.PreviewOptions{Source: full, Port: 4000}},
		{[]string{"scene", "new", "launch"}, renderer.NewOptions{Name: "launch", Style: "midnight", Kind: "2d"}},
		{[]string{"scene", "new", "launch", "--style", "ink", "--kind", "dom"}, renderer.NewOptions{Name: "launch", Style: "ink", Kind: "dom"}},
	} {
		b := newBench()
		if o := b.run(c.args...); o.code != fault.ExitOK {
			t.Errorf("%q: %s", c.args, o.err)
			continue
		}
		if d := cmp.Diff(c.want, b.scene); d != "" {
			t.Errorf("%q: %s", c.args, d)
		}
	}
}

// What is no scene, no time, no style must be refused before anything is done.
func TestSceneRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"render"},
		{"render", "s.js", "--quality", "best"},
		{"render", "s.js", "--workers", "0"},
		{"render", "s.js", "--style", "ugly"},
		{"render", "s.js", "--memory", "1MB"},
		{"render", "s.js", "--timeout-frame", "0s"},
		{"still", "s.js"},
		{"still", "s.js", "--at", "-1"},
		{"still", "s.js", "--at", "1,,2"},
		{"still", "s.js", "--at", "NaN"},
		{"still", "s.js", "--at", "601"},
		{"sheet", "s.js", "--columns", "13"},
		{"scene", "check"},
		{"scene", "check", "s.js", "--frames", "1"},
		{"scene", "preview", "s.js", "--port", "80"},
		{"scene", "new", "../x"},
		{"scene", "new", "x", "--kind", "3d"},
		{"scene", "styles", "ugly"},
		{"scene", "libraries", "three"},
		{"scene", "paint"},
	} {
		b := newBench()
		if o := b.run(args...); o.code != fault.ExitUsage || len(b.calls) > 0 {
			t.Errorf("%q: exit %d, calls %v: %s", args, o.code, b.calls, o.err)
		}
	}
}

// A scene that is wrong must fail the command: scripts look at the exit code.
func TestCheckFails(t *testing.T) {
	b := newBench()
	r := checkResult()
	r.OK = false
	r.Errors = []renderer.Finding{{Code: "scene_impure", Text: "frame 3 differs"}}
	b.check = &r
	o := b.run("scene", "check", "s.js", "--output", "json")
	if o.code != fault.ExitUsage || o.out != "" {
		t.Fatalf("exit %d, %s", o.code, o.out)
	}
	e, _ := oneObject(t, o.err)["error"].(map[string]any)
	if e["code"] != "scene_impure" {
		t.Errorf("error %v", e)
	}
}

// A scene can be begun where there is nothing to draw it with yet.
func TestSceneNewNeedsNoTools(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", "")
	t.Setenv("PROOFREEL_FFMPEG", "none")
	t.Setenv("PROOFREEL_CHROMIUM", "none")
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"scene", "new", "launch"}, realDeps("1"), Stdio{Out: &out, Err: &errs})
	if _, err := os.Stat("launch/scene.js"); code != fault.ExitOK || err != nil {
		t.Errorf("exit %d, %v: %s", code, err, &errs)
	}
}

// The lists come from the binary itself, in both forms.
func TestSceneLists(t *testing.T) {
	for _, args := range [][]string{{"scene", "styles"}, {"scene", "styles", "midnight"}, {"scene", "libraries"}} {
		for _, mode := range []string{"json", "text"} {
			o := newBench().run(append(args, "--output", mode)...)
			if o.code != fault.ExitOK || len(o.out) < 100 {
				t.Errorf("%q %s: exit %d, %q, %s", args, mode, o.code, o.out, o.err)
			}
		}
	}
}
