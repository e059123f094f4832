package policy

import (
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// What of the top level is decided later is taken out here.

func bindModel(w *walk, _ *shape, v strictjson.Value) error {
	if v.Kind != strictjson.String {
		return refuse("field_type", "it should be a string")
	}
	if name := string(v.Text); name != w.req.Pins.Model {
		return refuse("model", "this job's model is %s, not %q", w.req.Pins.Model, clip(name))
	}
	return nil
}

func bindMaxTokens(w *walk, s *shape, v strictjson.Value) error {
	n, r := wholeNumber(s, v)
	if r != nil {
		return r
	}
	w.req.MaxTokens = n
	return nil
}

func bindStream(w *walk, _ *shape, v strictjson.Value) error {
	if v.Kind != strictjson.Bool {
		return refuse("field_type", "it should be true or false")
	}
	w.req.Stream = v.True
	return nil
}

// bindThinking checks by the table and then keeps the values.
func bindThinking(w *walk, s *shape, v strictjson.Value) error {
	from := len(w.out)
	if _, r := w.value(s, v); r != nil {
		return r
	}
	w.out = w.out[:from]
	budget, _ := v.Get("budget_tokens")
	n, _ := budget.Int()
	w.req.Thinking = Thinking{Type: v.Str("type"), Display: v.Str("display"), Budget: n}
	return nil
}

// bindToolChoice keeps the value until all tools are known.
func bindToolChoice(w *walk, s *shape, v strictjson.Value) error {
	w.choice, w.choiceOf = &v, s
	return nil
}

func noteTool(w *walk, v strictjson.Value, kept bool) {
	if kept {
		w.tools[v.Str("name")] = true
		w.req.Tools++
	}
}

func (w *walk) toolChoice() *RefusalError {
	if w.choice == nil {
		return nil
	}
	typ := w.choice.Str("type")
	if name := w.choice.Str("name"); typ == "tool" && !w.tools[name] {
		return refuse("tool_choice", "there is no tool %q, or it was dropped", clip(name)).in("tool_choice")
	}
	if len(w.tools) == 0 {
		if typ == "any" {
			return refuse("tool_choice", "there are no tools, or all were dropped").in("tool_choice")
		}
		w.req.Dropped["tool_choice"]++
	}
	f := field{name: "tool_choice", shape: w.choiceOf, count: true}
	from, members := len(w.out), len(w.req.members)
	r := w.member(&f, *w.choice)
	if r == nil && len(w.tools) == 0 {
		w.out, w.req.members = w.out[:from], w.req.members[:members] // it was checked all the same
	}
	return r
}
