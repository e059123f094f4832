package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/job"
)

// A prompt that gets past these rules is shown to models and to people: what
// can't be seen, or reads otherwise than it is, must not be in it.
func TestCheckPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		ok     bool
	}{
		"a sentence":             {"A launch film for a database called Lumen", true},
		"lines and tabs":         {"Title: Lumen\n\tfast\n\tsmall", true},
		"other scripts":          {"グラフの短いアニメーション — Ünïcödé 🚀", true},
		"joined emoji":           {"a film about 👩‍💻 work", true},
		"right to left, plain":   {"فيلم قصير عن المدينة", true},
		"the shortest":           {"abc", true},
		"the longest":            {strings.Repeat("ü", job.MaxPrompt), true},
		"too short":              {"ab", false},
		"empty":                  {"", false},
		"blank":                  {" \n\t ", false},
		"one too long":           {strings.Repeat("ü", job.MaxPrompt+1), false},
		"broken UTF-8":           {"abc\xff", false},
		"a surrogate's bytes":    {"abc\xed\xa0\x80", false},
		"NUL":                    {"abc\x00", false},
		"escape":                 {"abc\x1b[2J", false},
		"carriage return":        {"abc\rdef", false},
		"C1":                     {"abc\u0085", false},
		"line separator":         {"abc\u2028def", false},
		"bidirectional override": {"abc\u202Edef", false},
		"isolate":                {"abc\u2066def", false},
		"tag characters":         {"abc\U000E0041\U000E0042", false},
		"private use":            {"abc\uE000", false},
		"byte order mark":        {"\uFEFFabc", false},
		"no character":           {"abc\uFFFF", false},
	} {
		err := job.CheckPrompt(c.prompt)
		var f *fault.Error
		switch {
		case c.ok && err != nil:
			t.Errorf("%s: %v", name, err)
		case !c.ok && (!errors.As(err, &f) || f.Code != fault.PromptInvalid):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error of a refused prompt is shown and logged: it holds nothing of it.
func TestErrorHoldsNothingOfThePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-z]{12}`).Draw(t, "secret")
		err := job.CheckPrompt(secret + "\x1b" + secret)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Fatalf("%v", err)
		}
	})
}

func TestOrderCheck(t *testing.T) {
	good := job.Order{Prompt: "A film", Seconds: 15, Aspect: job.Wide}
	for name, c := range map[string]struct {
		change func(*job.Order)
		want   fault.Code
	}{
		"good":       {func(*job.Order) {}, ""},
		"with style": {func(o *job.Order) { o.Style = "swiss" }, ""},
		"no style":   {func(o *job.Order) { o.Style = "nosuch" }, fault.InvalidValue},
		"a path":     {func(o *job.Order) { o.Style = "../swiss" }, fault.InvalidValue},
		"too short":  {func(o *job.Order) { o.Seconds = 4 }, fault.InvalidValue},
		"too long":   {func(o *job.Order) { o.Seconds = 61 }, fault.InvalidValue},
		"shape":      {func(o *job.Order) { o.Aspect = "4:3" }, fault.InvalidValue},
		"no shape":   {func(o *job.Order) { o.Aspect = "" }, fault.InvalidValue},
		"bad prompt": {func(o *job.Order) { o.Prompt = "\x00\x00\x00" }, fault.PromptInvalid},
	} {
		o := good
		c.change(&o)
		err := o.Check()
		var got fault.Code
		if err != nil {
			got = fault.As(err).Code
		}
		if got != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Progress bars count by Step: a phase that is in no list would stand at the end.
func TestPhases(t *testing.T) {
	var steps []int
	for _, p := range job.Phases() {
		steps = append(steps, p.Step())
		if p.Ended() != (p.Step() == job.Steps) {
			t.Errorf("%s: step %d, ended %v", p, p.Step(), p.Ended())
		}
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, steps); diff != "" {
		t.Error(diff)
	}
}
