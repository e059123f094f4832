package gvisor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrChanged says that runsc is not the one that setup wrote down.
var ErrChanged = errors.New("runsc is not the one that was set up")

// program is runsc as it was when its digest was compared.
type program struct {
	path string
	at   unix.Stat_t
}

func openProgram(path, want string) (*program, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("runsc has no absolute path: %q", path)
	}
	p := &program{path: path}
	if err := unix.Stat(path, &p.at); err != nil {
		return nil, fmt.Errorf("find runsc at %s: %w", path, err)
	}
	if want == "" {
		return p, nil
	}
	got, err := Digest(path)
	if err != nil {
		return nil, err
	}
	if got != want {
		return nil, fmt.Errorf("%w: %s has SHA-256 %s, not %s", ErrChanged, path, got, want)
	}
	return p, p.unchanged()
}

// unchanged says whether the file is still the one whose digest was compared:
// reading 80 MB again for every box would cost more than the start.
func (p *program) unchanged() error {
	var now unix.Stat_t
	if err := unix.Stat(p.path, &now); err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	same := now.Dev == p.at.Dev && now.Ino == p.at.Ino && now.Size == p.at.Size && now.Mtim == p.at.Mtim && now.Ctim == p.at.Ctim
	if !same {
		return fmt.Errorf("%w: %s was changed since the start", ErrChanged, p.path)
	}
	return nil
}

// Digest gives a file's SHA-256 in hexadecimal.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read runsc: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read runsc: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
