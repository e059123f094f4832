package timeline

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/recording"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func step(at float64, n int, text string) recording.Event {
	return recording.Event{At: sec(at), Kind: recording.EventStep, Step: n, Text: text}
}

func result(at float64, n int, pass bool, text string) recording.Event {
	return recording.Event{At: sec(at), Kind: recording.EventResult, Step: n, Text: text, Pass: &pass}
}

func defaults() Options { return Options{Stills: StillsCut, Speed: 1, Position: Top, FPS: 15} }

func mustBuild(t *testing.T, in Input, o Options) *Plan {
	t.Helper()
	if in.Start.IsZero() {
		in.Start = start
	}
	if in.FPS == 0 {
		in.FPS = 30
	}
	p, err := Build(in, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shop is a session: two steps with results, and 30 s of stillness.
func shop() Input {
	return Input{
		Length: sec(50),
		Still:  []Span{{0, sec(2.4)}, {sec(4), sec(34)}, {sec(36), sec(36.8)}, {sec(37), sec(50)}},
		Events: []recording.Event{
			step(2, 1, "Open the shop"), result(5, 1, true, "It opens"),
			step(33.5, 2, "Pay with an expired card"), result(37.5, 2, false, "No error is shown"),
		},
	}
}

// The whole plan of a few recordings, to see what a change of the rules does.
func TestGolden(t *testing.T) {
	fast, keep := defaults(), defaults()
	fast.Speed, fast.Position = 4, Bottom
	keep.Stills = StillsKeep
	gap := shop()
	gap.Gaps = []Span{{sec(10), sec(20)}}
	for name, p := range map[string]*Plan{
		"shop":      mustBuild(t, shop(), defaults()),
		"shop-4x":   mustBuild(t, shop(), fast),
		"shop-keep": mustBuild(t, shop(), keep),
		"shop-gap":  mustBuild(t, gap, defaults()),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(p, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (make it with -update)", err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// pillTimes says when pills are up, in clip frames.
func pillTimes(p *Plan) []string {
	var out []string
	for _, pill := range p.Pills {
		out = append(out, fmt.Sprintf("%s %d: %d-%d", pill.Kind, pill.Step, pill.In, pill.Out))
	}
	return out
}

// Where captions come and go: each row is one rule, at 15 frames a second and
// with nothing cut. A short caption needs 30 frames.
func TestCaptions(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []recording.Event
		want   []string
		frames int64
	}{
		{"none", nil, nil, 150},
		{"a step alone", []recording.Event{step(2, 1, "Open")}, []string{"step 1: 30-150"}, 150},
		{
			"the next step replaces both",
			[]recording.Event{step(0, 1, "a"), result(2, 1, true, ""), step(6, 2, "b")},
			[]string{"step 1: 0-90", "result 1: 30-90", "step 2: 90-150"},
			150,
		},
		{
			"steps that follow at once",
			[]recording.Event{step(0, 1, "a"), step(0.2, 2, "b")},
			[]string{"step 1: 0-30", "step 2: 30-177"},
			177,
		}, // 27 frames of hold
		{
			"a result needs its time too",
			[]recording.Event{step(0, 1, "a"), result(3, 1, true, ""), step(3.2, 2, "b")},
			[]string{"step 1: 0-75", "result 1: 45-75", "step 2: 75-177"},
			177,
		},
		{
			"a longer text holds longer",
			[]recording.Event{step(0, 1, "one two three four five six seven eight"), step(1, 2, "b")},
			[]string{"step 1: 0-50", "step 2: 50-185"},
			185,
		}, // 1 s + 8 * 0.29 s
		{"the last caption at the end", []recording.Event{step(9.9, 1, "a")}, []string{"step 1: 149-179"}, 179},
		{
			"a second result replaces the first",
			[]recording.Event{step(0, 1, "a"), result(1, 1, false, ""), result(2, 1, true, "")},
			[]string{"step 1: 0-165", "result 1: 15-45", "result 1: 45-165"},
			165,
		},
		{
			"at the same moment",
			[]recording.Event{step(1, 1, "a"), step(1, 2, "b"), step(1, 3, "c")},
			[]string{"step 1: 15-45", "step 2: 45-75", "step 3: 75-210"},
			210,
		},
		{
			"out of order",
			[]recording.Event{step(6, 2, "b"), result(2, 1, true, ""), step(0, 1, "a")},
			[]string{"step 1: 0-90", "result 1: 30-90", "step 2: 90-150"},
			150,
		},
		{
			"exact duplicates",
			[]recording.Event{step(0, 1, "a"), step(0, 1, "a"), result(2, 1, true, "x"), result(2, 1, true, "x")},
			[]string{"step 1: 0-150", "result 1: 30-150"},
			150,
		},
		{
			"before the film and after it",
			[]recording.Event{step(-5, 1, "a"), step(99, 2, "b")},
			[]string{"step 1: 0-150", "step 2: 150-180"},
			180,
		},
		{
			"a result of no step",
			[]recording.Event{result(1, 7, true, ""), step(5, 1, "a")},
			[]string{"result 7: 15-75", "step 1: 75-150"},
			150,
		},
		{
			"a result that names no step has the one that is up",
			[]recording.Event{step(0, 1, "a"), step(3, 2, "b"), result(5, 9, true, "")},
			[]string{"step 1: 0-45", "step 2: 45-150", "result 2: 75-150"},
			150,
		},
		{
			"a result before its step comes with it",
			[]recording.Event{step(0, 1, "a"), result(2.9, 2, true, ""), step(3, 2, "b")},
			[]string{"step 1: 0-45", "step 2: 45-150", "result 2: 45-150"},
			150,
		},
		{
			"a result after the next step comes before that",
			[]recording.Event{step(0, 1, "a"), step(3, 2, "b"), result(3.1, 1, true, "")},
			[]string{"step 1: 0-75", "result 1: 45-75", "step 2: 75-180"},
			180,
		},
		{"an unknown kind", []recording.Event{{At: sec(1), Kind: "note", Text: "a"}}, nil, 150},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := mustBuild(t, Input{Length: sec(10), Events: tc.events}, defaults())
			if diff := cmp.Diff(tc.want, pillTimes(p)); diff != "" {
				t.Errorf("pills (-want +got):\n%s", diff)
			}
			if p.Frames != tc.frames {
				t.Errorf("%d frames, want %d", p.Frames, tc.frames)
			}
		})
	}
}

// What is cut, in seconds: the first half second stays, and what an event
// points at.
func TestCuts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    Input
		want  string
		marks string
	}{
		{"all still", Input{Still: []Span{{0, sec(10)}}}, "0.5-10", ""},
		{"one second stays", Input{Still: []Span{{0, sec(1)}, {sec(1), sec(2)}}}, "", ""},
		{"a little more does not", Input{Still: []Span{{0, sec(1.1)}}}, "0.5-1.1", ""},
		{"two stretches that meet", Input{Still: []Span{{0, sec(4)}, {sec(4), sec(8)}}}, "0.5-4 4.5-8", "4 s later 4 s later"},
		{"an event inside", Input{Still: []Span{{0, sec(8)}}, Events: []recording.Event{step(6, 1, "a")}}, "0.5-6 6.5-8", "6 s later"},
		{
			"a result away from its step",
			Input{Still: []Span{{0, sec(10)}}, Events: []recording.Event{step(0, 1, "a"), step(3, 2, "b"), result(7, 1, true, "")}},
			"0.5-3 3.5-7 7.5-10", "4 s later",
		}, // its own moment is shown, too
		{"overlapping stretches", Input{Still: []Span{{sec(2), sec(8)}, {0, sec(5)}}}, "0.5-5 5.5-8", "5 s later"},
		{"stretches beyond the film", Input{Still: []Span{{-sec(4), sec(3)}, {sec(8), sec(99)}}}, "0.5-3 8.5-10", ""},
		{"a span that ends before it begins", Input{Still: []Span{{sec(8), sec(3)}}}, "", ""},
		{"times off the grid", Input{Still: []Span{{sec(1.01), sec(5.99)}}}, "1.533-5.967", "4 s later"},
		{"a gap", Input{Gaps: []Span{{sec(2), sec(8)}}}, "2.5-8", "6 s not recorded"},
		{"a gap in a still stretch", Input{Still: []Span{{0, sec(10)}}, Gaps: []Span{{sec(4), sec(8)}}}, "0.5-4 4.5-8 8.5-10", "4 s later 4 s not recorded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.in.Length = sec(10)
			p := mustBuild(t, tc.in, defaults())
			var cuts, marks []string
			for _, c := range p.Cuts {
				cuts = append(cuts, fmt.Sprintf("%.4g-%.4g", c.From.Seconds(), c.To.Seconds()))
			}
			for _, m := range p.Marks {
				marks = append(marks, m.Text)
			}
			if got := strings.Join(cuts, " "); got != tc.want {
				t.Errorf("cuts %q, want %q", got, tc.want)
			}
			if got := strings.Join(marks, " "); got != tc.marks {
				t.Errorf("marks %q, want %q", got, tc.marks)
			}
		})
	}
}

// At 1x, 2x and 4x the reading time is the same, and the rest is shorter.
func TestSpeeds(t *testing.T) {
	for speed, want := range map[int]int64{1: 150 + 15, 2: 75 + 30 - 8, 4: 38 + 30 - 4} {
		o := defaults()
		o.Speed = speed
		p := mustBuild(t, Input{Length: sec(10), Events: []recording.Event{step(0, 1, "a"), step(1, 2, "b")}}, o)
		if p.Frames != want {
			t.Errorf("%dx: %d frames, want %d; runs %v", speed, p.Frames, want, p.Runs)
		}
		if first := p.Pills[0]; first.Out-first.In != 30 {
			t.Errorf("%dx: the first caption is up for %d frames", speed, first.Out-first.In)
		}
	}
}

// A thousand steps in a moment, and a thousand over an hour with as many cuts.
func TestManySteps(t *testing.T) {
	var burst, hour Input
	burst.Length, hour.Length = sec(2), sec(4000)
	for i := range 1000 {
		burst.Events = append(burst.Events, step(1+float64(i)/10000, i+1, "Step by step"))
		hour.Events = append(hour.Events, step(float64(4*i), i+1, "Step by step"), result(float64(4*i)+3.5, i+1, i%2 == 0, "ok"))
		hour.Still = append(hour.Still, Span{sec(float64(4*i) + 0.5), sec(float64(4*i) + 3)})
	}
	for name, in := range map[string]Input{"burst": burst, "hour": hour} {
		p := mustBuild(t, in, defaults())
		if len(p.Chapters) != 1000 || p.Length() < 2000*time.Second {
			t.Errorf("%s: %d chapters in %v", name, len(p.Chapters), p.Length())
		}
		if at := p.TickAt(p.Frames - 1); at != p.LastTick {
			t.Errorf("%s: the last frame shows tick %d of %d", name, at, p.LastTick)
		}
	}
}

// Events are the caller's.
func TestBuildKeepsItsInput(t *testing.T) {
	in := Input{Length: sec(5), Events: []recording.Event{step(3, 2, "b"), step(1, 1, "a"), step(1, 1, "a")}, Still: []Span{{sec(2), sec(4)}, {0, sec(2)}}}
	before, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	mustBuild(t, in, defaults())
	after, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
}

// What makes no clip is one clear error.
func TestBuildErrors(t *testing.T) {
	in := Input{Length: sec(1), FPS: 30}
	alter := func(f func(*Input, *Options)) (Input, Options) {
		i, o := in, defaults()
		f(&i, &o)
		return i, o
	}
	for _, tc := range []struct {
		name  string
		alter func(*Input, *Options)
		want  error
	}{
		{"whole", func(*Input, *Options) {}, nil},
		{"empty", func(i *Input, _ *Options) { i.Length = 0 }, ErrEmpty},
		{"negative", func(i *Input, _ *Options) { i.Length = -5 }, ErrEmpty},
		{"less than a frame", func(i *Input, _ *Options) { i.Length = sec(0.01) }, ErrEmpty},
		{"one frame", func(i *Input, _ *Options) { i.Length = sec(1. / 30) }, nil},
		{"stills", func(_ *Input, o *Options) { o.Stills = "" }, ErrOptions},
		{"speed", func(_ *Input, o *Options) { o.Speed = 3 }, ErrOptions},
		{"position", func(_ *Input, o *Options) { o.Position = "left" }, ErrOptions},
		{"clip's rate", func(_ *Input, o *Options) { o.FPS = 0 }, ErrOptions},
		{"recording's rate", func(i *Input, _ *Options) { i.FPS = 0 }, ErrOptions},
	} {
		if _, err := Build(alter(tc.alter)); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

func TestReadingTime(t *testing.T) {
	for text, want := range map[string]float64{
		"":                           2,
		"Open":                       2,
		"one two three four":         2.16,
		"one  two\tthree\nfour ":     2.16,
		strings.Repeat("word ", 100): 6,
		"保存して一覧に戻る":                  2.45, // 9 characters: 5 words
		"设置 API 密钥":                  2,    // 1 + 1 + 1
		"เปิดหน้าตั้งค่าบัญชีผู้ใช้":                        3.03, // 26 characters with their marks: 7 words
		"открой страницу настроек профиля":                  2.16,
		"/usr/share/doc/some/very/long/path/to/a/file.html": 2.16,
	} {
		if got := ReadingTime(text); got != sec(want) {
			t.Errorf("%q: %v, want %v s", text, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[float64]string{
		3: "3 s", 17.6: "18 s", 59.4: "59 s", 59.5: "1 min", 60: "1 min", 65: "1 min 5 s", 600: "10 min",
		3599: "59 min 59 s", 3599.5: "1 h", 3600: "1 h", 4830: "1 h 21 min", 7200: "2 h", 90000: "25 h",
	} {
		if got := Duration(sec(d)); got != want {
			t.Errorf("%v s: %q, want %q", d, got, want)
		}
	}
}

// The map as a list says the same as the functions.
func TestMapList(t *testing.T) {
	p := mustBuild(t, shop(), defaults())
	list := p.Map()
	if len(list) != len(p.Runs) || list[len(list)-1].ClipTo != p.Length() {
		t.Fatalf("%d segments until %v", len(list), list[len(list)-1].ClipTo)
	}
	for _, s := range list {
		if p.ToRecording(s.ClipFrom) != s.RecordingFrom || !s.UTC.Equal(p.UTC(s.ClipFrom)) {
			t.Errorf("%+v: %v, %v", s, p.ToRecording(s.ClipFrom), p.UTC(s.ClipFrom))
		}
	}
}
