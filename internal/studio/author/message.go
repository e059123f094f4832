package author

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// message is one of ours: a text, and a call of a tool or none.
type message struct {
	text  string
	tool  string // empty: the last message
	input string // JSON
	model string
	read  int // tokens of the request
}

func use(tool, input, text string) message { return message{text: text, tool: tool, input: input} }

func editInput(source string) string {
	b := strictjson.AppendString([]byte(`{"action":"create","path":"scene.js","text":`), source)
	return string(append(b, '}'))
}

func (m message) stop() string {
	if m.tool == "" {
		return "end_turn"
	}
	return "tool_use"
}

func (m message) wrote() int { return tokens(len(m.text) + len(m.input)) }

func id(prefix string) string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	return prefix + hex.EncodeToString(b[:])
}

// head is the message without its content.
func (m message) head(content, stop []byte, out int) []byte {
	b := fmt.Appendf(nil, `{"id":%q,"type":"message","role":"assistant","model":`, id("msg_"))
	b = strictjson.AppendString(b, m.model)
	return fmt.Appendf(b, `,"content":%s,"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d}}`,
		content, stop, m.read, out)
}

// json is the answer in one piece.
func (m message) json() []byte {
	b := strictjson.AppendString([]byte(`[{"type":"text","text":`), m.text)
	b = append(b, '}')
	if m.tool != "" {
		b = fmt.Appendf(b, `,{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id("toolu_"), m.tool, m.input)
	}
	return m.head(append(b, ']'), fmt.Appendf(nil, "%q", m.stop()), m.wrote())
}

// stream is the answer as events, in the order of the API's.
func (m message) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name string, data []byte) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
	}
	start := append([]byte(`{"type":"message_start","message":`), m.head([]byte("[]"), []byte("null"), 1)...)
	event("message_start", append(start, '}'))
	event("content_block_start", []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`))
	for _, piece := range pieces(m.text) {
		b := strictjson.AppendString([]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`), piece)
		event("content_block_delta", append(b, "}}"...))
	}
	event("content_block_stop", []byte(`{"type":"content_block_stop","index":0}`))
	if m.tool != "" {
		event("content_block_start", fmt.Appendf(nil, `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, id("toolu_"), m.tool))
		for _, piece := range pieces(m.input) {
			b := strictjson.AppendString([]byte(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":`), piece)
			event("content_block_delta", append(b, "}}"...))
		}
		event("content_block_stop", []byte(`{"type":"content_block_stop","index":1}`))
	}
	event("message_delta", fmt.Appendf(nil, `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}}`, m.stop(), m.wrote()))
	event("message_stop", []byte(`{"type":"message_stop"}`))
	_ = http.NewResponseController(w).Flush()
}

// pieces cuts a text into pieces of some kilobytes, between characters.
func pieces(s string) []string {
	const size = 4 << 10
	var all []string
	for len(s) > size {
		n := size
		for n > 0 && s[n]&0xC0 == 0x80 {
			n--
		}
		all, s = append(all, s[:n]), s[n:]
	}
	return append(all, s)
}
