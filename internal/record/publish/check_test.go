package publish

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// What will fail after hours of work must fail at the start, and the look
// itself must leave nothing.
func TestCheck(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	with, without := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(with, "uploads"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		to   Target
		path string // PATH
		code fault.Code
		hint string
	}{
		{"nowhere", Target{}, without, "", ""},
		{"nowhere, named", Target{Kind: KindNone}, without, "", ""},
		{"a directory", Target{Kind: KindDir, Path: base}, without, "", ""},
		{"a directory to be made", Target{Kind: KindDir, Path: filepath.Join(base, "a", "b")}, without, "", ""},
		{"a file", Target{Kind: KindDir, Path: file}, without, fault.InvalidValue, "must be a directory"},
		{"below a file", Target{Kind: KindDir, Path: file + "/x"}, without, fault.InvalidValue, "must be a directory"},
		{"a device", Target{Kind: KindDir, Path: "/dev/null"}, without, fault.InvalidValue, "must be a directory"},
		{"where none can be made", Target{Kind: KindDir, Path: "/proc/nope"}, without, fault.InvalidValue, "--publish"},
		{"where no file can be made", Target{Kind: KindDir, Path: "/proc/self"}, without, fault.InvalidValue, "--publish"},
		{"uploads.sh", Target{Kind: KindUploads}, with, "", ""},
		{"uploads.sh without its CLI", Target{Kind: KindUploads}, without, fault.MissingTool, "npm install --global @buildinternet/uploads"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			err := Check(t.Context(), tt.to)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *fault.Error
			if !errors.As(err, &e) || e.Code != tt.code || !strings.Contains(e.Hint, tt.hint) || strings.Contains(e.Hint, "stop again") {
				t.Errorf("got %#v", err)
			}
		})
	}
	if got := names(t, base); strings.Join(got, " ") != "a file" {
		t.Errorf("left: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Check(ctx, Target{Kind: KindDir, Path: base}); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}
