// Package toolinput reads what a model gives as the input of a tool. It lives
// apart so that it can be fuzzed without the model's client. What tools do with
// their input is not known here.
package toolinput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of an input.
const (
	MaxBytes = 1 << 20
	MaxDepth = 32 // arrays and objects in each other
)

// Parse reads a call's input and writes it anew: an object whose text is
// valid, and which is not nested beyond reason. On an error it is empty.
func Parse(raw []byte) (json.RawMessage, error) {
	empty := json.RawMessage("{}")
	if len(raw) > MaxBytes {
		return empty, fmt.Errorf("the input has more than %d bytes", MaxBytes)
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) { // More takes a closing bracket for an end
			err = errors.New("there is more behind it")
		}
	}
	if err != nil || v == nil {
		return empty, fmt.Errorf("the input is no JSON object: %s", strings.ToValidUTF8(string(raw[:min(len(raw), 200)]), "\uFFFD"))
	}
	if depth(v) > MaxDepth {
		return empty, fmt.Errorf("the input is nested more than %d deep", MaxDepth)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return empty, fmt.Errorf("the input can't be read: %w", err)
	}
	return out, nil
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	default:
		return 0
	}
	return deepest + 1
}
