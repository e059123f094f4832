package internal_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// modules gives the modules that our packages import, tests included, with
// their versions.
func modules(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			all[f[0]] = f[1]
		}
	}
	used := map[string]string{}
	for _, p := range packages(t) {
		for _, list := range [][]string{p.imports, p.test} {
			for _, imp := range list {
				for path, version := range all {
					if within(imp, path) {
						used[path] = version
					}
				}
			}
		}
	}
	return used
}

// A library that came without a reason, or a reason for a version that is gone.
func TestEveryLibraryHasItsReason(t *testing.T) {
	raw, err := os.ReadFile("../docs/decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	used := modules(t)
	if len(used) < 10 {
		t.Fatalf("only %d modules are used: %v", len(used), used)
	}
	for path, version := range used {
		name := strings.TrimPrefix(path, "github.com/")
		if cut := strings.LastIndex(name, "/v"); cut > 0 && strings.Trim(name[cut+2:], "0123456789") == "" {
			name = name[:cut]
		}
		if !strings.Contains(string(raw), name+" "+version) {
			t.Errorf("docs/decisions.md has no %q", name+" "+version)
		}
	}
}
