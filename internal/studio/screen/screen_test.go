package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/fault"
)

// How the whole fails closed is tested in workflow, behind a real gateway.

// An answer that the author writes must be one that is read, and only the one
// of all that is a pass.
func TestAnswers(t *testing.T) {
	for _, brief := range []bool{false, true} {
		for _, disallowed := range []bool{false, true} {
			for _, category := range categories() {
				a := Answer{brief, disallowed, category}
				got, err := parseAnswer(a.JSON())
				if err != nil || got != a {
					t.Errorf("%s: %+v, %v", a.JSON(), got, err)
				}
				v, _ := judge(a.JSON())
				if pass := brief && !disallowed && category == None; (v == Pass) != pass {
					t.Errorf("%s: %s", a.JSON(), v)
				}
			}
		}
	}
}

// Three messages, and no fourth.
func TestMessagesAreFixed(t *testing.T) {
	got := map[string]bool{}
	for _, v := range []Verdict{Pass, NotBrief, NotAllowed, Unchecked, "anything else"} {
		err := v.Fault()
		if err == nil {
			continue
		}
		f := fault.As(err)
		if f.Code != fault.PromptRefused && f.Code != fault.PromptUnchecked {
			t.Errorf("%s: %v", v, err)
		}
		got[f.Message] = true
	}
	if len(got) != 3 || Pass.Fault() != nil {
		t.Errorf("%v", got)
	}
}

// Whatever a prompt holds, the marker is not in it, and the question is one
// JSON object in which the prompt is text.
func TestQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		raw, err := question(Config{Model: "m"}, prompt)
		if err != nil {
			t.Fatal(err)
		}
		var q struct {
			Model, System string
			MaxTokens     int `json:"max_tokens"`
			Messages      []struct{ Role, Content string }
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil || d.More() || len(q.Messages) != 1 || q.System != System || q.Model != "m" {
			t.Fatalf("%v: %s", err, raw)
		}
		text := q.Messages[0].Content
		mark, rest, _ := strings.Cut(strings.TrimPrefix(text, Begin), "\n")
		if want := Begin + mark + "\n" + prompt + "\n" + End + mark; text != want || len(mark) != 32 || strings.Contains(prompt, mark) {
			t.Fatal(cmp.Diff(want, text), rest)
		}
	})
}

// A marker that the prompt happens to hold is drawn again.
func TestMarkerIsDrawnAgain(t *testing.T) {
	random := bytes.NewReader(append(make([]byte, 16), bytes.Repeat([]byte{1}, 16)...))
	m, err := marker("x "+strings.Repeat("0", 32), random)
	if err != nil || m != strings.Repeat("01", 16) {
		t.Errorf("%s, %v", m, err)
	}
	if _, err := marker("x", bytes.NewReader(nil)); err == nil {
		t.Error("a marker of no chance")
	}
}

// FuzzVerdict holds the reading of a model's message to its rule: nothing but
// the one well-formed pass is a pass, and no word of the model's gets out.
func FuzzVerdict(f *testing.F) {
	pass := string(Answer{Brief: true, Category: None}.JSON())
	wrap := func(s string) []byte {
		text, _ := json.Marshal(s)
		return []byte(`{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":` + string(text) + `}]}`)
	}
	for _, s := range []string{pass, "", "{}", pass + pass, `{"brief":true,"brief":true,"disallowed":false,"category":"none"}`, "[1]", "\xff"} {
		f.Add(wrap(s))
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := message(raw)
		if err != nil {
			if !errors.Is(err, errAnswer) {
				t.Fatal(err)
			}
			return
		}
		v, err := judge(text)
		if (err != nil) != (v == Unchecked) {
			t.Fatalf("%s with %v", v, err)
		}
		if err != nil && len(text) > 12 && strings.Contains(err.Error(), string(text)) {
			t.Fatalf("%v tells what the model said", err)
		}
		var want struct {
			Brief, Disallowed bool
			Category          string
		}
		if v == Pass && (json.Unmarshal(text, &want) != nil || !want.Brief || want.Disallowed || want.Category != "none") {
			t.Fatalf("%q passes", text)
		}
	})
}
