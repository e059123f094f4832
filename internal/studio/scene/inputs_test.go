package scene

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that is read and not listed could be overwritten by what is made of it.
func TestInputs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.js":           "import rows from './data/rows.json';\nimport { pi } from './b';\nimport { scaleLinear } from 'd3';\nexport const x = [rows, pi, scaleLinear];",
		"b.ts":           "export const pi: number = 3;",
		"data/rows.json": "[1]",
		"unused.js":      "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Load(filepath.Join(dir, "a.js"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, filepath.Join(dir, n))
		}
		return all
	}
	if d := cmp.Diff(at("a.js", "b.ts", "data/rows.json"), b.Inputs(Meta{})); d != "" {
		t.Error(d)
	}
	m := Meta{Assets: map[string]string{"logo": "img/logo.png", "again": "img/logo.png"}}
	if d := cmp.Diff(at("a.js", "b.ts", "data/rows.json", "img/logo.png"), b.Inputs(m)); d != "" {
		t.Error(d)
	}
}
