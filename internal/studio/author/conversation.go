package author

import (
	"errors"
	"strings"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// conversation is what of a request matters here.
type conversation struct {
	model, system string
	stream        bool
	said          string // what the other side has said in texts, in order
	tools         map[string]int
	failed        bool // the newest result is an error
}

func parseConversation(v strictjson.Value) (conversation, error) {
	messages, ok := v.Get("messages")
	if v.Kind != strictjson.Object || !ok || messages.Kind != strictjson.Array || len(messages.Elems) == 0 {
		return conversation{}, errors.New("messages: it must be a list of at least one")
	}
	stream, _ := v.Get("stream")
	system, _ := v.Get("system")
	c := conversation{model: v.Str("model"), stream: stream.True, system: texts(system), tools: map[string]int{}}
	var said []string
	for _, m := range messages.Elems {
		content, _ := m.Get("content")
		switch m.Str("role") {
		case "user":
			said = append(said, texts(content))
			c.results(content)
		case "assistant":
			c.uses(content)
		default:
			return conversation{}, errors.New("messages: a role is user or assistant")
		}
	}
	c.said = strings.Join(said, "\n")
	return c, nil
}

// results notes how the tools of one message went.
func (c *conversation) results(content strictjson.Value) {
	for _, b := range content.Elems {
		if b.Str("type") == "tool_result" {
			wrong, _ := b.Get("is_error")
			c.failed = wrong.True
		}
	}
}

func (c *conversation) uses(content strictjson.Value) {
	for _, b := range content.Elems {
		if b.Str("type") == "tool_use" {
			c.tools[b.Str("name")]++
		}
	}
}

// texts joins the texts of a content: a string, or blocks.
func texts(content strictjson.Value) string {
	if content.Kind == strictjson.String {
		return string(content.Text)
	}
	var all []string
	for _, b := range content.Elems {
		if b.Str("type") == "text" {
			all = append(all, b.Str("text"))
		}
	}
	return strings.Join(all, "\n")
}

// between gives what stands between two lines that begin so and end with one
// marker; false when there is no such block.
func between(text, begin, end string) (string, bool) {
	_, rest, ok := strings.Cut("\n"+text, "\n"+begin)
	if !ok {
		return "", false
	}
	mark, rest, ok := strings.Cut(rest, "\n")
	if !ok || mark == "" {
		return "", false
	}
	inside, _, ok := strings.Cut("\n"+rest, "\n"+end+mark)
	return strings.TrimPrefix(inside, "\n"), ok
}
