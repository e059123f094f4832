package gateway

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
)

// Secret is text that no printer, logger or encoder shows. Only Reveal does.
type Secret struct{ text string }

const hidden = "[secret]"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// maxKeyFile is the most bytes of a key's file. Keys have some hundred.
const maxKeyFile = 4 << 10

// KeyFileError says why a file is not taken for a key's. Nothing of what the
// file holds is in it.
type KeyFileError struct {
	Path   string
	Reason string // "is no regular file"
	Hint   string // what to do about it
}

func (e *KeyFileError) Error() string {
	return fmt.Sprintf("the key's file %s %s", e.Path, e.Reason)
}

// SecretFromFile reads a secret's file, without the white space around it: a
// regular file of at most 4 KiB that holds one line and that only its owner may
// write; else a *KeyFileError. A file that others may read is taken, since
// secrets that are mounted into containers are of mode 0444.
func SecretFromFile(path string) (Secret, error) {
	// Without O_NONBLOCK the opening of a FIFO waits for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Secret{}, fmt.Errorf("read the key: %w", err)
	}
	defer func() { _ = f.Close() }()
	// Of what is open, not of the path: that may be another file by now.
	info, err := f.Stat()
	if err != nil {
		return Secret{}, fmt.Errorf("read the key: %w", err)
	}
	refuse := func(reason, hint string) (Secret, error) {
		return Secret{}, &KeyFileError{Path: path, Reason: reason, Hint: hint}
	}
	const content = "Name a file that holds the key and nothing else."
	switch {
	case !info.Mode().IsRegular():
		return refuse("is no regular file", content)
	case info.Mode().Perm()&0o022 != 0:
		return refuse(fmt.Sprintf("may be written by others than its owner (mode %04o)", info.Mode().Perm()), "chmod 600 "+path)
	}
	// Whatever size the file says it has: those of /proc say 0.
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return Secret{}, fmt.Errorf("read the key: %w", err)
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case len(raw) > maxKeyFile:
		return refuse(fmt.Sprintf("has more than %d bytes", maxKeyFile), content)
	case text == "" || strings.ContainsAny(text, "\r\n"):
		return refuse("should hold one line", content)
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
