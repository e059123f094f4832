package scene_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/studio/scene"
)

// at gives the place of a marker in the module, as a browser counts it.
func at(t *testing.T, b *scene.Bundle, marker string) string {
	t.Helper()
	for i, line := range strings.Split(string(b.Code), "\n") {
		if col := strings.Index(line, marker); col >= 0 {
			return fmt.Sprintf("%d:%d", i+1, col+1)
		}
	}
	t.Fatalf("the module lacks %q:\n%s", marker, b.Code)
	return ""
}

func TestPosition(t *testing.T) {
	b := load(t, map[string]string{
		"scene.js":     "import { Vector3 } from 'three';\nimport { boom } from './deep/boom.js';\nexport const meta = {};\nexport function draw(ctx) {\n  const v = new Vector3();\n  v.applyMatrix4(undefined);\n  boom(ctx, v);\n}\n",
		"deep/boom.js": "// a comment\nexport function boom() {\n  throw new Error('marked');\n}\n",
	})
	throwing := at(t, b, "new Error(\"marked\")")
	calling := at(t, b, "v.applyMatrix4(")
	library := at(t, b, "applyMatrix4(") // its own definition comes first: the library stands before the scene
	const url = "https://scene.invalid/b/" + scene.ModuleName
	for _, c := range []struct {
		name, stack string
		want        scene.Place
	}{
		{"an imported file", "Error: marked\n    at boom (" + url + ":" + throwing + ")\n    at draw (" + url + ":1:1)", scene.Place{File: "deep/boom.js", Line: 3, Column: 9}},
		{"through a library", "TypeError: x\n    at Ct.applyMatrix4 (" + url + "?n=3:" + library + ")\n    at draw (" + url + "?n=3:" + calling + ")\n    at https://scene.invalid/worker.js:10:5", scene.Place{File: "scene.js", Line: 6, Column: 3}},
		{"bare", calling, scene.Place{File: "scene.js", Line: 6, Column: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := b.Position(c.stack)
			if !ok {
				t.Fatal("no place")
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if got := b.Line(scene.Place{File: "deep/boom.js", Line: 3}); got != "throw new Error('marked');" {
		t.Errorf("line %q", got)
	}
	for _, stack := range []string{"", "Error", "at x (https://scene.invalid/worker.js:1:1)", url + ":0:1", url + ":99999999:1", url + ":1:99999999999999999999"} {
		if got, ok := b.Position(stack); ok {
			t.Errorf("%q gives %v", stack, got)
		}
	}
}

// A stack comes from the scene's realm: it may say anything.
func FuzzPosition(f *testing.F) {
	dir := f.TempDir()
	b, err := loadText(dir, "export const meta = {};\nexport function draw() { throw new Error('x'); }\n")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Error\n at draw (https://scene.invalid/" + scene.ModuleName + ":3:5)")
	f.Add("1:1")
	f.Add(scene.ModuleName + "?x=1:2:3")
	f.Fuzz(func(t *testing.T, stack string) {
		p, ok := b.Position(stack)
		if ok && (p.File != "scene.js" || p.Line < 1 || p.Line > 3 || p.Column < 1) {
			t.Fatalf("%q gives %v", stack, p)
		}
	})
}
