package screen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// ask makes the call and gives the text of the answer. There is no second
// attempt: whoever ordered can make it.
func ask(ctx context.Context, c Config, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the screen's model: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", c.Token)
	resp, err := c.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the screen's model: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	const most = 1 << 20
	raw, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the screen's answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("ask the screen's model: status %d", resp.StatusCode)
	case len(raw) > most:
		return nil, fmt.Errorf("%w: the message is too long", errAnswer)
	}
	return message(raw)
}

// message finds the one text of a message that has come to its end.
func message(raw []byte) ([]byte, error) {
	v, err := strictjson.Parse(raw, strictjson.Limits{Depth: 32, Values: 10_000})
	if err != nil {
		return nil, fmt.Errorf("%w: the message is no JSON", errAnswer)
	}
	if v.Str("type") != "message" || v.Str("role") != "assistant" || v.Str("stop_reason") != "end_turn" {
		return nil, fmt.Errorf("%w: the message has not ended by itself", errAnswer)
	}
	content, _ := v.Get("content")
	var text []byte
	texts := 0
	for _, block := range content.Elems {
		switch block.Str("type") {
		case "text":
			text, texts = []byte(block.Str("text")), texts+1
		case "thinking", "redacted_thinking": // not part of the answer
		default:
			return nil, fmt.Errorf("%w: the message holds something else than text", errAnswer)
		}
	}
	if content.Kind != strictjson.Array || texts != 1 {
		return nil, fmt.Errorf("%w: the message holds %d texts", errAnswer, texts)
	}
	return bytes.TrimSpace(text), nil
}
