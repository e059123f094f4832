package job

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// Bounds of an order.
const (
	MinPrompt  = 3    // Unicode scalar values
	MaxPrompt  = 2000 // the same
	MinSeconds = 5
	MaxSeconds = 60
)

// Aspect is a frame's shape, and its size with it.
type Aspect string

// The shapes.
const (
	Wide   Aspect = "16:9"
	Tall   Aspect = "9:16"
	Square Aspect = "1:1"
)

// Size gives the frame in pixels; false when there is no such shape.
func (a Aspect) Size() (width, height int, ok bool) {
	switch a {
	case Wide:
		return 1920, 1080, true
	case Tall:
		return 1080, 1920, true
	case Square:
		return 1080, 1080, true
	default:
		return 0, 0, false
	}
}

// Order is what a stranger asks for.
type Order struct {
	Prompt  string
	Seconds int
	Style   string // a name of scene.StyleNames; empty: the author's choice
	Aspect  Aspect
}

// Check says what is wrong with an order: a fault of code prompt_invalid or
// invalid_value. Nothing of the prompt stands in it.
func (o Order) Check() error {
	if err := CheckPrompt(o.Prompt); err != nil {
		return err
	}
	if o.Seconds < MinSeconds || o.Seconds > MaxSeconds {
		return fault.New(fault.InvalidValue, fmt.Sprintf("Ask for %d to %d seconds.", MinSeconds, MaxSeconds), "a film of %d seconds can't be ordered", o.Seconds)
	}
	if _, _, ok := o.Aspect.Size(); !ok {
		return fault.New(fault.InvalidValue, "Use 16:9, 9:16 or 1:1.", "there is no such frame shape")
	}
	if o.Style == "" {
		return nil
	}
	if _, err := scene.StyleNamed(o.Style); err != nil {
		return fault.New(fault.InvalidValue, "Use one of: "+strings.Join(scene.StyleNames(), ", ")+".", "there is no such style")
	}
	return nil
}

// CheckPrompt says what is wrong with a prompt's characters: a fault of code
// prompt_invalid that holds nothing of it.
func CheckPrompt(s string) error {
	if !utf8.ValidString(s) {
		return invalid("Send UTF-8.", "the prompt is not valid UTF-8")
	}
	n := utf8.RuneCountInString(s)
	if n < MinPrompt || n > MaxPrompt {
		return invalid(fmt.Sprintf("Describe the film in %d to %d characters.", MinPrompt, MaxPrompt), "the prompt has %d characters", n)
	}
	if strings.TrimSpace(s) == "" {
		return invalid("Describe the film.", "the prompt is blank")
	}
	return checkCharacters([]rune(s))
}

// checkCharacters looks at each character, with those around it.
func checkCharacters(all []rune) error {
	for i, r := range all {
		at := i + 1
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return invalid("Leave it out; newlines and tabs are fine.", "character %d of the prompt is a control character, U+%04X", at, r)
		case bidi(r):
			return invalid("Leave it out: right-to-left text needs none.", "character %d of the prompt changes the direction of text, U+%04X", at, r)
		case hidden(r) && !joins(all, i):
			return invalid("Leave it out.", "character %d of the prompt can't be seen, U+%04X", at, r)
		}
	}
	return nil
}

func invalid(hint, format string, args ...any) error {
	return fault.New(fault.PromptInvalid, hint, format, args...)
}
