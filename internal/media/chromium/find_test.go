package chromium

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// A program that the user named is the one that runs, or nothing does.
func TestFindNamed(t *testing.T) {
	dir := t.TempDir()
	shell := write(t, filepath.Join(dir, "chrome-headless-shell"), "\x7fELF", 0o755)
	text := write(t, filepath.Join(dir, "notes.txt"), "no program", 0o644)
	tests := []struct {
		name, value, path string
		shell, fail       bool
	}{
		{"a shell", shell, shell, true, false},
		{"no program", text, "", false, true},
		{"not there", filepath.Join(dir, "gone"), "", false, true},
		{"a folder", dir, "", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Find([]string{Variable + "=" + tt.value, "PATH=/usr/bin"})
			if (err != nil) != tt.fail || got.Path != tt.path || got.Shell != tt.shell {
				t.Errorf("got %+v, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.value) {
				t.Errorf("%v does not name the program", err)
			}
		})
	}
}

// A wrapper script adds what must not be there; the program beside it is what
// is meant. A script that wraps something unknown is better than nothing.
func TestUnwrap(t *testing.T) {
	dir := t.TempDir()
	script := write(t, filepath.Join(dir, "opt/google-chrome"), "#!/bin/sh\nexec chrome", 0o755)
	lone := write(t, filepath.Join(dir, "bin/chromium"), "#!/bin/sh\nexec elsewhere", 0o755)
	inner := write(t, filepath.Join(dir, "opt/chrome"), "\x7fELF", 0o755)
	link := filepath.Join(dir, "bin/google-chrome")
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{script: inner, link: inner, inner: inner, lone: lone} {
		if got := unwrap(in); got != want {
			t.Errorf("unwrap(%s) = %s, want %s", in, got, want)
		}
	}
}

// No browser at all must be told apart from a broken one: it has its own hint.
func TestFindNothing(t *testing.T) {
	for _, p := range homes() {
		if executable(p) {
			return // the search of PATH is not reached here
		}
	}
	if _, err := Find([]string{"PATH=" + t.TempDir()}); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
