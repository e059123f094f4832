package runner

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"
)

// How large the conversation may grow. It is cut rarely and then a lot: each
// cut makes the provider's cache worthless. The model's window and the
// gateway's bounds lie above.
const (
	mostPictures = 16
	keptPictures = 6
	mostText     = 360 << 10 // bytes
	keptMessages = 6         // at the end, of which nothing is cut
	keptText     = 400       // bytes of each text that is cut
)

// fit cuts the conversation when it is too large.
func (t *talk) fit() {
	pictures, text := t.size()
	if pictures > mostPictures {
		t.dropPictures(keptPictures)
	}
	if text > mostText {
		t.cutTexts(keptMessages)
	}
}

// shrink makes it as small as can be, for a call that was refused.
func (t *talk) shrink() {
	t.dropPictures(0)
	t.cutTexts(2)
}

func (t *talk) size() (pictures, text int) {
	for _, m := range t.messages {
		for _, b := range m.content {
			switch {
			case b.OfText != nil:
				text += len(b.OfText.Text)
			case b.OfThinking != nil:
				text += len(b.OfThinking.Thinking) + len(b.OfThinking.Signature)
			case b.OfRedactedThinking != nil:
				text += len(b.OfRedactedThinking.Data)
			case b.OfToolUse != nil:
				if raw, ok := b.OfToolUse.Input.(json.RawMessage); ok {
					text += len(raw)
				}
			case b.OfToolResult != nil:
				for _, c := range b.OfToolResult.Content {
					if c.OfImage != nil {
						pictures++
					} else if c.OfText != nil {
						text += len(c.OfText.Text)
					}
				}
			}
		}
	}
	return pictures, text
}

// dropPictures leaves the newest ones.
func (t *talk) dropPictures(keep int) {
	for i := len(t.messages) - 1; i >= 0; i-- {
		for j := len(t.messages[i].content) - 1; j >= 0; j-- {
			r := t.messages[i].content[j].OfToolResult
			if r == nil {
				continue
			}
			for k := len(r.Content) - 1; k >= 0; k-- {
				if r.Content[k].OfImage == nil {
					continue
				}
				if keep--; keep < 0 {
					r.Content[k] = anthropic.ToolResultBlockParamContentUnion{OfText: &anthropic.TextBlockParam{Text: "[an older picture, dropped]"}}
				}
			}
		}
	}
}

// cutTexts cuts what is long in all messages but the first, which is the job,
// and the last ones. Thinking goes as a whole: a part of it is refused.
func (t *talk) cutTexts(last int) {
	for i := 1; i < len(t.messages)-last; i++ {
		m := &t.messages[i]
		kept := m.content[:0]
		for _, b := range m.content {
			switch {
			case b.OfThinking != nil, b.OfRedactedThinking != nil:
				continue
			case b.OfText != nil:
				b.OfText.Text = shorter(b.OfText.Text)
			case b.OfToolUse != nil:
				if raw, ok := b.OfToolUse.Input.(json.RawMessage); ok {
					b.OfToolUse.Input = shorterInput(raw)
				}
			case b.OfToolResult != nil:
				for _, c := range b.OfToolResult.Content {
					if c.OfText != nil {
						c.OfText.Text = shorter(c.OfText.Text)
					}
				}
			}
			kept = append(kept, b)
		}
		if m.content = kept; len(kept) == 0 {
			m.content = append(m.content, anthropic.NewTextBlock("(nothing)"))
		}
	}
}

func shorter(s string) string {
	if len(s) <= keptText+64 {
		return s
	}
	return clip(s, keptText) + " [cut]"
}

// shorterInput cuts the texts of a call's input: files that were written.
func shorterInput(raw json.RawMessage) json.RawMessage {
	if len(raw) <= keptText {
		return raw
	}
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	for k, e := range v {
		if s, ok := e.(string); ok {
			v[k] = shorter(s)
		} else if len(raw) > 4*keptText {
			v[k] = "[cut]"
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
