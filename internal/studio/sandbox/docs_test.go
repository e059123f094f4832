package sandbox

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/sandbox.md anew")

// A policy that the docs do not tell, or tell as it was, is worth nothing to
// whoever must judge it.
func TestDocsTellThePolicy(t *testing.T) {
	const path = "../../../docs/sandbox.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, table := range map[string]string{"policy": PolicyTable(), "cases": CaseTable()} {
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		old, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/sandbox.md has no place for %s", name)
		}
		if old != table && !*update {
			t.Errorf("docs/sandbox.md tells other %s; renew it with: go test ./internal/studio/sandbox -update", name)
		}
		text = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
