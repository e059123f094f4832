package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A key's file is named by a flag: a FIFO must not hang the program, a device
// not eat its memory, and what others may write is not the owner's key.
func TestKeyFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // the umask would take from WriteFile's
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, reason, hint string }{
		"fifo":              {fifo, "regular", "file"},
		"device":            {"/dev/zero", "regular", "file"},
		"directory":         {dir, "regular", "file"},
		"too long":          {file("long", "k"+strings.Repeat(" ", maxKeyFile), 0o600), "4096 bytes", "file"},
		"sparse":            {file("sparse", strings.Repeat("\x00", 1<<20), 0o600), "4096 bytes", "file"},
		"two lines":         {file("lines", "the\nkey", 0o600), "one line", "file"},
		"empty":             {file("empty", "", 0o600), "one line", "file"},
		"written by all":    {file("all", "the-key", 0o666), "0666", "chmod 600"},
		"written by others": {file("others", "the-key", 0o602), "0602", "chmod 600"},
		"written by group":  {file("group", "the-key", 0o660), "0660", "chmod 600"},
	} {
		s, err := SecretFromFile(c.path)
		var no *KeyFileError
		if !errors.As(err, &no) || !strings.Contains(no.Reason, c.reason) || !strings.Contains(no.Hint, c.hint) || s.Reveal() != "" {
			t.Errorf("%s: %v, %+v", name, err, no)
		} else if strings.Contains(err.Error(), "the-key") {
			t.Errorf("%s: the error tells: %v", name, err)
		}
	}
	for _, mode := range []os.FileMode{0o400, 0o600, 0o444, 0o644} {
		path := file("good", "the-key"+strings.Repeat(" ", maxKeyFile-8)+"\n", mode)
		if s, err := SecretFromFile(path); err != nil || s.Reveal() != "the-key" {
			t.Errorf("mode %o: %v", mode, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
