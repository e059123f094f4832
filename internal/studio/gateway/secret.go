package gateway

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// Secret is text that no printer, logger or encoder shows. Only Reveal does.
type Secret struct{ text string }

const hidden = "[secret]"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// SecretFromFile reads a secret's file, without the white space around it.
func SecretFromFile(path string) (Secret, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Secret{}, fmt.Errorf("read the key: %w", err)
	}
	text := strings.TrimSpace(string(raw))
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return Secret{}, fmt.Errorf("the key's file %s should hold one line", path)
	}
	return Secret{text}, nil
}

// Reveal gives the text.
func (s Secret) Reveal() string { return s.text }

// String implements fmt.Stringer.
func (s Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return hidden }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
