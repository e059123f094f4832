package author

import (
	"fmt"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/screen"
)

// notModel stands in front of all that the author says.
const notModel = "I am Proofreel's template author, not a model. "

// answer says what comes next in a conversation.
func (a *Author) answer(c conversation) message {
	if c.system == screen.System {
		return screening(c)
	}
	order, err := parseOrder(c.said)
	if err != nil {
		return message{text: notModel + "I know one thing only, to make a film of a JOB.md, and there is none: " + err.Error() + "."}
	}
	return a.next(c, order)
}

// next is the next step of the way to a film. What was done is read off the
// conversation: nothing is kept between two calls.
func (a *Author) next(c conversation, o order) message {
	switch {
	case c.tools["edit"] == 0:
		f := a.film(o)
		return use("edit", editInput(f.source()), notModel+fmt.Sprintf(
			"I set the words of the brief in the template %q, in the style %q.", f.look, f.style))
	case c.tools["check"] == 0:
		return use("check", "{}", "Is anything wrong with it?")
	case c.tools["still"] == 0:
		return use("still", fmt.Sprintf(`{"at":[%.2f,%.2f,%.2f]}`, o.seconds*0.2, o.seconds*0.5, o.seconds*0.9), "Three moments of it.")
	case c.tools["sheet"] == 0:
		return use("sheet", "{}", "The whole of it.")
	case c.tools["render"] == 0, c.tools["render"] == 1 && c.failed:
		return use("render", "{}", "Now the film.")
	case c.failed:
		return message{text: notModel + "The film could not be rendered."}
	default:
		return message{text: notModel + "The film is rendered."}
	}
}

// screening answers the screen's question by a list of words: it keeps the
// path alive and judges nothing.
func screening(c conversation) message {
	a := screen.Answer{Brief: true, Category: screen.None}
	prompt, ok := between(c.said, screen.Begin, screen.End)
	if !ok {
		return message{text: notModel + "There is no order."}
	}
	if len(words(prompt)) < 2 && len([]rune(strings.TrimSpace(prompt))) < 6 {
		a.Brief = false
	}
	if category := disallowed(prompt); category != screen.None {
		a.Disallowed, a.Category = true, category
	}
	return message{text: string(a.JSON())}
}

// disallowed looks for words. A model understands; this does not, and says so
// in the docs.
func disallowed(prompt string) screen.Category {
	text := " " + strings.Join(words(strings.ToLower(prompt)), " ") + " "
	for _, rule := range []struct {
		category screen.Category
		phrases  []string
	}{
		{"attack", []string{
			"ignore all previous", "ignore previous instructions", "ignore your instructions", "disregard your instructions", "system prompt",
			"api key", "private key", "etc passwd", "reverse shell", "environment variables", "exfiltrate",
		}},
		{"sexual", []string{"porn", "pornographic", "hentai"}},
		{"violence", []string{"beheading", "gore film", "snuff"}},
		{"crime", []string{"how to build a bomb", "how to make a bomb", "launder money", "cook meth"}},
		{"self_harm", []string{"kill yourself", "how to commit suicide"}},
		{"deception", []string{"phishing", "deepfake", "fake news report"}},
	} {
		for _, p := range rule.phrases {
			if strings.Contains(text, " "+p+" ") {
				return rule.category
			}
		}
	}
	return screen.None
}
