package stage

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A process that was killed can't clean up: the next one must, and must leave
// alone what a living one uses.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	alive, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	mk := func(name, file string, old bool) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "profile"), 0o700); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			if err := os.WriteFile(filepath.Join(path, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if old {
			before := time.Now().Add(-2 * unowned)
			if err := os.Chtimes(path, before, before); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	gone := map[string]bool{
		mk(folderName+"killed", ownerName, false): true,  // its lock is free
		mk(folderName+"unborn", "", true):         true,  // it never had one
		mk(folderName+"young", "", false):         false, // it may be about to
		mk("another", ownerName, true):            false,
		alive.path:                                false,
	}
	other, err := newFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	gone[other.path] = false
	for path, want := range gone {
		if _, err := os.Stat(path); os.IsNotExist(err) != want {
			t.Errorf("%s: gone %v, want %v", filepath.Base(path), os.IsNotExist(err), want)
		}
	}
	for _, f := range []*folder{alive, other} {
		if err := f.remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(f.path); !os.IsNotExist(err) {
			t.Errorf("%s is left", f.path)
		}
	}
}
