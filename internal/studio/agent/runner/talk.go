package runner

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/agent/toolinput"
)

// talk is the conversation. Everything in it was written by us, also the
// model's messages: what came is taken apart and put together anew, so that a
// strange answer can't make the next request one that is refused.
type talk struct {
	system   string
	tools    []anthropic.ToolUnionParam
	messages []message
	seen     map[string]bool // ids of tool uses
}

// message is one side's turn.
type message struct {
	assistant bool
	content   []anthropic.ContentBlockParamUnion
}

// use is a tool call that the model asks for.
type use struct {
	id, name string
	input    json.RawMessage
	bad      string // why it can't be done; empty: it can
}

func newTalk(system string, tools []tool, job string) *talk {
	t := &talk{system: system, seen: map[string]bool{}}
	for _, tool := range tools {
		p := anthropic.ToolParam{
			Name: tool.name, Description: anthropic.String(tool.about),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: tool.properties, Required: tool.required},
		}
		t.tools = append(t.tools, anthropic.ToolUnionParam{OfTool: &p})
	}
	t.say(job)
	return t
}

// params is the next request. The prompt's fixed part and all that was said
// until now are put into the provider's cache.
func (t *talk) params(o agent.Order) anthropic.MessageNewParams {
	var all []anthropic.MessageParam
	for i, m := range t.messages {
		for j := range m.content {
			mark(&m.content[j], i == len(t.messages)-1 && j == len(m.content)-1)
		}
		if m.assistant {
			all = append(all, anthropic.NewAssistantMessage(m.content...))
		} else {
			all = append(all, anthropic.NewUserMessage(m.content...))
		}
	}
	p := anthropic.MessageNewParams{
		Model: o.Model, MaxTokens: o.MaxTokens, Messages: all, Tools: t.tools,
		System: []anthropic.TextBlockParam{{Text: t.system, CacheControl: anthropic.NewCacheControlEphemeralParam()}},
	}
	if o.Thinking {
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
	}
	return p
}

func mark(b *anthropic.ContentBlockParamUnion, cached bool) {
	var c anthropic.CacheControlEphemeralParam
	if cached {
		c = anthropic.NewCacheControlEphemeralParam()
	}
	switch {
	case b.OfText != nil:
		b.OfText.CacheControl = c
	case b.OfToolResult != nil:
		b.OfToolResult.CacheControl = c
	}
}

// say adds a message of ours.
func (t *talk) say(text string) {
	t.messages = append(t.messages, message{content: []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(valid(text))}})
}

// deny tells the model, behind our last message, that the call was refused.
func (t *talk) deny(text string) {
	last := &t.messages[len(t.messages)-1]
	last.content = append(last.content, anthropic.NewTextBlock(valid(
		"The gateway refused the last request, so older pictures and outputs were dropped. It said: "+text)))
}

// hear takes the model's message in, and gives what it asks for.
func (t *talk) hear(m *anthropic.Message) []use {
	var blocks []anthropic.ContentBlockParamUnion
	var uses []use
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			if text := valid(b.Text); strings.TrimSpace(text) != "" {
				blocks = append(blocks, anthropic.NewTextBlock(text))
			}
		case "thinking":
			if b.Signature != "" && utf8.ValidString(b.Thinking) && utf8.ValidString(b.Signature) {
				blocks = append(blocks, anthropic.NewThinkingBlock(b.Signature, b.Thinking))
			}
		case "redacted_thinking":
			if b.Data != "" && utf8.ValidString(b.Data) {
				blocks = append(blocks, anthropic.NewRedactedThinkingBlock(b.Data))
			}
		case "tool_use":
			u := t.use(b, m.StopReason == anthropic.StopReasonMaxTokens)
			uses = append(uses, u)
			blocks = append(blocks, anthropic.NewToolUseBlock(u.id, u.input, u.name))
		}
	}
	if len(blocks) == 0 {
		blocks = append(blocks, anthropic.NewTextBlock("(nothing)"))
	}
	t.messages = append(t.messages, message{assistant: true, content: blocks})
	return uses
}

// use makes a call of a block. Whatever is wrong with it, what comes out can
// be sent back.
func (t *talk) use(b anthropic.ContentBlockUnion, cut bool) use {
	word := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	u := use{id: b.ID, name: b.Name}
	if !word.MatchString(u.id) || t.seen[u.id] {
		u.id = fmt.Sprintf("toolu_own_%d", len(t.seen))
	}
	t.seen[u.id] = true
	if !word.MatchString(u.name) {
		u.name, u.bad = "unknown", "there is no tool of this name"
	}
	input, err := toolinput.Parse(b.Input)
	if err != nil && cut {
		err = fmt.Errorf("the call was cut off by the limit of a message; write the file in smaller pieces: %w", err)
	}
	if err != nil {
		u.bad = err.Error()
	}
	u.input = input
	return u
}

// answered is what came of a call: see result.
type answered struct {
	id string
	result
}

// answer adds the results of calls, in their order.
func (t *talk) answer(results []answered) {
	var blocks []anthropic.ContentBlockParamUnion
	for _, r := range results {
		b := anthropic.ToolResultBlockParam{ToolUseID: r.id, IsError: anthropic.Bool(r.failed)}
		text := valid(r.text)
		if text == "" {
			text = "(no output)"
		}
		b.Content = append(b.Content, anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: text}})
		for _, jpeg := range r.pictures {
			b.Content = append(b.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: &anthropic.ImageBlockParam{
				Source: anthropic.ImageBlockParamSourceUnion{OfBase64: &anthropic.Base64ImageSourceParam{
					MediaType: anthropic.Base64ImageSourceMediaTypeImageJPEG, Data: base64.StdEncoding.EncodeToString(jpeg),
				}},
			}})
		}
		blocks = append(blocks, anthropic.ContentBlockParamUnion{OfToolResult: &b})
	}
	t.messages = append(t.messages, message{content: blocks})
}

// valid makes valid UTF-8 of a text.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip gives the first n bytes of a text, at most.
func clip(s string, n int) string {
	if len(s) <= n {
		return valid(s)
	}
	return valid(s[:n]) + "…"
}
