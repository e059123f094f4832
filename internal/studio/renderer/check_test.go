package renderer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

func codes(list []Finding) string {
	var all []string
	for _, f := range list {
		all = append(all, f.Code)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// A check must find what would spoil a film, and nothing where nothing is wrong.
func TestCheck(t *testing.T) {
	paint := func(body string) string {
		return small("duration: 2") + "let seen = 0;\nexport function draw(ctx, t, frame, env) {\n  ctx.fillStyle = '#123';\n  ctx.fillRect(0, 0, 320, 180);\n  ctx.fillStyle = '#eee';\n  " + body + "\n}"
	}
	for name, c := range map[string]struct {
		code             string
		errors, warnings string
		place            int // line of the first error
		text             string
	}{
		"a good one":         {code: paint("ctx.fillRect(frame, 20, 30, 30);")},
		"keeps state":        {code: paint("seen++; ctx.fillRect(seen, 20, 30, 30);"), errors: "scene_impure", text: "differs when it is drawn alone"},
		"throws":             {code: paint("if (frame > 3) throw new Error('bad');"), errors: "scene_threw", place: 7, text: "bad"},
		"draws nothing":      {code: small("duration: 2") + "export function draw() {}", errors: "scene_empty"},
		"never moves":        {code: paint("ctx.fillRect(9, 9, 9, 9);"), warnings: "frozen"},
		"is uniform at ends": {code: paint("if (frame > 0 && frame < 59) ctx.fillRect(frame, 20, 30, 30);"), warnings: "uniform_frames"},
		"syntax":             {code: small("duration: 2") + "export function draw( {", errors: "scene_syntax", place: 2},
		"text that is small": {code: paint("ctx.font = '3px Inter'; ctx.fillText('tiny', 20 + frame, 90);"), warnings: "text_small"},
		"text that is faint": {code: paint("ctx.font = '20px Inter'; ctx.fillStyle = '#246'; ctx.fillText('shy', 20 + frame, 90);"), warnings: "text_faint"},
		"text outside":       {code: paint("ctx.font = '20px Inter'; ctx.fillText('a line that is much longer than the frame is wide', 20 + frame, 90);"), warnings: "text_outside"},
		"text that comes in": {code: paint("ctx.font = '20px Inter'; ctx.fillText('hello', -30 + frame * 3, 90);")},
		"asks the network":   {code: small("duration: 2") + "export async function setup() { await fetch('https://example.org/'); }\nexport function draw() {}", errors: "scene_network", place: 2},
		"loops":              {code: paint("if (frame === 59) for (;;) {}"), errors: "scene_hung", place: 7, text: ""},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := newStudio(t).Check(t.Context(), CheckOptions{Source: Source{Scene: writeScene(t, c.code), FrameTimeout: 5 * time.Second}, Frames: 6})
			if err != nil {
				t.Fatal(err)
			}
			if codes(res.Errors) != c.errors || res.OK != (c.errors == "") {
				t.Errorf("errors %+v, ok %v; want %q", res.Errors, res.OK, c.errors)
			}
			if c.errors == "" && codes(res.Warnings) != c.warnings {
				t.Errorf("warnings %+v, want %q", res.Warnings, c.warnings)
			}
			if c.errors == "" || len(res.Errors) == 0 {
				return
			}
			if first := res.Errors[0]; c.place > 0 && first.Place.Line != c.place || !strings.Contains(first.Text, c.text) {
				t.Errorf("the first error is %+v", first)
			}
		})
	}
}

// Slowness is told from the times, of which a test has no say.
func TestJudge(t *testing.T) {
	e := &examination{order: []int{0, 5, 9}, seen: map[int]look{
		0: {took: 20 * time.Millisecond}, 5: {took: 150 * time.Millisecond}, 9: {took: 30 * time.Millisecond, same: true},
	}}
	var r CheckResult
	r.judge(e)
	if !r.OK || codes(r.Warnings) != "frozen slow_frames" || r.Slowest != 5 || r.SlowMS != 150 || r.FrameMS != 30 {
		t.Errorf("%+v", r)
	}
	e.impure = []int{5, 9}
	r = CheckResult{}
	r.judge(e)
	if r.OK || len(r.Errors) != 2 || r.Errors[1].Frame != 9 {
		t.Errorf("%+v", r.Errors)
	}
}

// The frames that are checked are the first, the last and others, each once,
// the same for the same scene.
func TestChosen(t *testing.T) {
	list := chosen("seed", 12, 150)
	if len(list) != 12 || list[0] != 0 || list[11] != 149 || len(slices.Compact(slices.Clone(list))) != 12 {
		t.Errorf("chosen %v", list)
	}
	if again := chosen("seed", 12, 150); !slices.Equal(list, again) {
		t.Errorf("chosen %v, then %v", list, again)
	}
	if other := chosen("other", 12, 150); slices.Equal(list, other) {
		t.Error("another scene has the same frames")
	}
	if few := chosen("seed", 12, 3); !slices.Equal(few, []int{0, 1, 2}) {
		t.Errorf("of three frames %v are chosen", few)
	}
}

// Every beginning that scene new makes must be a good scene in every style.
func TestBeginnings(t *testing.T) {
	kinds := []scene.Kind{scene.Kind2D, scene.KindWebGL, scene.KindDOM}
	for i, style := range scene.StyleNames() {
		kind := kinds[i%len(kinds)]
		t.Run(style+" "+string(kind), func(t *testing.T) {
			t.Chdir(t.TempDir())
			const name = "Lau\"nch\n<i>$ & x"
			s := newStudio(t)
			made, err := s.New(NewOptions{Name: name, Style: style, Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.New(NewOptions{Name: name, Style: style, Kind: kind}); err == nil {
				t.Error("a scene that is there was replaced")
			}
			res, err := s.Check(t.Context(), CheckOptions{Source: Source{Scene: made.Scene}, Frames: 6})
			if err != nil || !res.OK {
				t.Errorf("%+v, %v", res.Errors, err)
			}
		})
	}
}
