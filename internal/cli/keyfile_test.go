package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// A key's file that is refused says which mode to give it: "there is no key"
// sent people to look at what the file holds.
func TestKeyFileSaysHowToMend(t *testing.T) {
	open := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(open, []byte("k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := keyOf(GenerateOptions{KeyFile: open}, os.Getenv)
	f := fault.As(err)
	if f.Code != fault.InvalidValue || f.Hint != "chmod 600 "+open {
		t.Errorf("%s: %s (%s)", f.Code, f.Message, f.Hint)
	}
	if err := os.Chmod(open, 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := keyOf(GenerateOptions{KeyFile: open}, os.Getenv)
	if err != nil || key.Reveal() != "k" {
		t.Errorf("%v", err)
	}
}
