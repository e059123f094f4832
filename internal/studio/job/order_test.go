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
		// What writing needs, where it needs it.
		"a family":                 {"a film about \U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466", true},
		"a tone of skin":           {"abc \U0001F469\U0001F3FD\u200D\U0001F4BB", true},
		"a rainbow flag":           {"abc \U0001F3F3\uFE0F\u200D\U0001F308", true},
		"a heart on fire":          {"abc \u2764\uFE0F\u200D\U0001F525", true},
		"a woman who runs":         {"abc \U0001F3C3\u200D\u2640\uFE0F\u200D\u27A1\uFE0F", true},
		"a flag of a country":      {"abc \U0001F1E9\U0001F1EA", true},
		"a keycap":                 {"abc 1\uFE0F\u20E3 and #\uFE0F\u20E3", true},
		"signs in colour":          {"abc \u2194\uFE0F \u00A9\uFE0F \u2139\uFE0F \u203C\uFE0F \u3030\uFE0F \u25FE\uFE0F", true},
		"a sign as text":           {"abc \u2600\uFE0E", true},
		"Persian":                  {"\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", true},
		"Hindi":                    {"\u0915\u094D\u200D\u0937 \u0915\u094D\u200C\u0937", true},
		"Sinhala":                  {"\u0DC1\u0DCA\u200D\u0DBB\u0DD3", true},
		"a sign of Arabic numbers": {"abc \u0600\u0661\u0662", true},
		"accents by marks":         {"abc e\u0301", true},
		// And where it does not.
		"zero width space":          {"abc\u200Bdef", false},
		"non-joiner in Latin":       {"abc\u200Cdef", false},
		"joiner in Latin":           {"abc\u200Ddef", false},
		"joiner after an emoji":     {"abc \U0001F469\u200D", false},
		"joiner before an emoji":    {"abc\u200D\U0001F469", false},
		"two joiners":               {"abc \U0001F469\u200D\u200D\U0001F4BB", false},
		"two joiners in Persian":    {"\u0645\u06CC\u200C\u200C\u062E", false},
		"mixed joiners in Persian":  {"\u0645\u06CC\u200C\u200D\u062E", false},
		"selectors in a row":        {"abc \u2764\uFE0F\uFE0F", false},
		"selector after a letter":   {"abc\uFE0F", false},
		"selector after a digit":    {"abc 1\uFE0F", false},
		"another selector":          {"abc \U0001F600\uFE00", false},
		"selector of an ideograph":  {"\u8FBA\U000E0100bc", false},
		"a flag of a region":        {"abc \U0001F3F4\U000E0067\U000E0062\U000E007F", false},
		"mark of direction":         {"abc\u200Edef", false},
		"the other mark":            {"abc\u200Fdef", false},
		"Arabic letter mark":        {"abc\u061Cdef", false},
		"word joiner":               {"abc\u2060def", false},
		"invisible times":           {"abc\u2062def", false},
		"invisible separator":       {"abc\u2063def", false},
		"invisible plus":            {"abc\u2064def", false},
		"old format character":      {"abc\u206Adef", false},
		"soft hyphen":               {"abc\u00ADdef", false},
		"byte order mark inside":    {"abc\uFEFFdef", false},
		"grapheme joiner":           {"abc\u034Fdef", false},
		"Hangul filler":             {"abc\u3164def", false},
		"Mongolian vowel separator": {"abc\u180Edef", false},
		"annotation":                {"abc\uFFF9def", false},
		"notes' beam":               {"abc\U0001D173def", false},
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
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, steps); diff != "" {
		t.Error(diff)
	}
}
