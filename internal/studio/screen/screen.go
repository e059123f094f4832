// Package screen asks a small model, before anything else is done with a
// prompt, whether it is a brief for a film and whether it is allowed. It fails
// closed: whatever is not a well-formed pass refuses.
//
// The question, the reading of the answer and the three messages live here.
// The model is reached through a door of the gateway, as an agent reaches its
// own; whose money that is, is not known here. Nothing of what the model says
// reaches anybody.
package screen

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/proofreel/proofreel/internal/fault"
)

// Config says which model is asked, and how it is reached.
type Config struct {
	Client *http.Client // whose connections end at the door
	Base   string       // such as http://llm.internal
	Token  string       // the door's
	Model  string
}

// Verdict is what came of it.
type Verdict string

// The verdicts. Only Pass lets a job go on.
const (
	Pass       Verdict = "pass"
	NotBrief   Verdict = "not_a_brief"
	NotAllowed Verdict = "not_allowed"
	Unchecked  Verdict = "could_not_check"
)

// Fault is what the one who ordered is told: one of three fixed messages. It
// is nil for Pass.
func (v Verdict) Fault() error {
	switch v {
	case Pass:
		return nil
	case NotBrief:
		return fault.New(fault.PromptRefused, "Describe what the film shows: its subject, its texts, its mood.", "this is not a brief for a film")
	case NotAllowed:
		return fault.New(fault.PromptRefused, "Order another film.", "this film is not allowed")
	default:
		return fault.New(fault.PromptUnchecked, "Try again later, or say it in other words.", "it could not be checked whether this is a brief for a film that is allowed")
	}
}

// errAnswer says that the model's answer is not one of those that are asked for.
var errAnswer = errors.New("the screen's answer is none")

// Check asks about a prompt. The verdict is Unchecked whenever the error is
// not nil: the error is for the operator's log and holds nothing of the
// prompt's or the model's words.
func Check(ctx context.Context, c Config, prompt string) (Verdict, error) {
	text, err := question(c, prompt)
	if err != nil {
		return Unchecked, err
	}
	answer, err := ask(ctx, c, text)
	if err != nil {
		return Unchecked, err
	}
	return judge(answer)
}

// judge reads the model's answer.
func judge(answer []byte) (Verdict, error) {
	a, err := parseAnswer(answer)
	switch {
	case err != nil:
		return Unchecked, err
	case a.Disallowed != (a.Category != None):
		return Unchecked, fmt.Errorf("%w: it contradicts itself", errAnswer)
	case a.Disallowed:
		return NotAllowed, nil
	case !a.Brief:
		return NotBrief, nil
	}
	return Pass, nil
}
