package mcpserver

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolName is the name of the one tool.
const toolName = "box_record"

// instructions is what a client's model is told before it sees the tool.
const instructions = "Proofreel films what you do on a screen and gives one verified film as proof. " +
	"Use box_record: start, then step before and result after each thing that is to be shown, then stop. " +
	"Recordings that you started end when you disconnect."

// tool describes the tool to the client.
func (s *session) tool() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name:        toolName,
		Title:       "Film the screen",
		Description: s.description(),
		InputSchema: schema(s.args),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no},
	}
}

func (s *session) description() string {
	d := `Films a screen of this machine while you work, and gives one verified film as proof.

In order:
1. action start, with url to open a page on a screen of its own, or with display to film one that is there. The answer holds recordingId and, with agent-browser, agentBrowserCommand: put these arguments before every browser action.
2. action step with text, before each thing that is to be shown.
3. action result with pass and text, after it: what was seen.
4. action stop. `
	if s.Clipper == nil {
		d += `The answer holds the film's path, its verdict, links, and a Markdown line that shows it.`
	} else {
		d += `The answer holds the film's path, its verdict, links to the film and its clip, a Markdown line that shows the clip, and a contact sheet as an image, for you to check what was filmed.`
	}
	return d + `

action status says how a recording does, action list names all of this machine. Stop may be repeated: the answer is the same. Without recordingId the recording that you started is meant. A recording that you don't stop ends, to its film, at maxDuration or when you disconnect. box is local: this version films no other machine. Unknown arguments, and those that the action does not take, are errors that change nothing.`
}

// property is an argument as JSON Schema says it.
type property struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	Enum        []any  `json:"enum,omitempty"`
	Minimum     int    `json:"minimum,omitempty"`
	Maximum     int    `json:"maximum,omitempty"`
	MinLength   int    `json:"minLength,omitempty"`
	MaxLength   int    `json:"maxLength,omitempty"`
}

// schema is the tool's JSON Schema. It stays flat, for there are clients that
// understand no conditions; which action takes what stands in the words, and
// is checked in a call. It names no defaults: clients would send them all, to
// actions that don't take them.
func schema(args []argument) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","additionalProperties":false,"required":["action"],"properties":{`)
	for i, a := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(a.name))
		b.WriteByte(':')
		b.Write(encode(a.property()))
	}
	b.WriteString(`}}`)
	return b.Bytes()
}

func (a argument) property() property {
	p := property{Type: a.kind, Description: a.summary}
	if len(a.actions) == 1 {
		p.Description = "For action " + a.actions[0] + ". " + p.Description
	}
	for _, v := range a.allowed {
		p.Enum = append(p.Enum, a.typed(v))
	}
	if a.kind == "integer" {
		p.Minimum, p.Maximum = a.least, a.most
	} else if a.most > 0 {
		p.MinLength, p.MaxLength = 1, a.most
	}
	return p
}

// typed gives a value as its JSON type.
func (a argument) typed(v string) any {
	if n, err := strconv.Atoi(v); err == nil && a.kind == "integer" {
		return n
	}
	return v
}

// encode gives JSON with <, > and & as they are. What it is given are texts
// and numbers, and the answers' own types: all can be JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("an answer that can't be JSON: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}
