package scene_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

const docs = "../../../docs/"

// An author who is refused something must find it in the contract.
func TestDocsAreWhole(t *testing.T) {
	text := readFile(t, docs+"scene.md")
	want := func(what, s string) {
		if !strings.Contains(text, s) {
			t.Errorf("docs/scene.md lacks %s %s", what, s)
		}
	}
	for _, row := range fault.Table() {
		if strings.HasPrefix(string(row.Code), "scene_") {
			want("the error", "`"+string(row.Code)+"`")
		}
	}
	refuse := readFile(t, "runtime/4-refuse.js")
	lists := regexp.MustCompile(`(?s)(?:calls|objects|navigator): \[(.*?)\]|ELEMENTS = Object.freeze\(\[(.*?)\]`).FindAllStringSubmatch(refuse, -1)
	n := 0
	for _, list := range lists {
		for _, name := range regexp.MustCompile(`'([A-Za-z]+)'`).FindAllStringSubmatch(list[1]+list[2], -1) {
			want("the refused", name[1]+"`")
			n++
		}
	}
	if n < 90 {
		t.Errorf("only %d refused names were found", n)
	}
	api := readFile(t, "runtime/9-api.js")
	_, object, ok := strings.Cut(api, "const e = {")
	object, _, ok2 := strings.Cut(object, "\n  };")
	if !ok || !ok2 {
		t.Fatal("makeEnv is written otherwise")
	}
	for _, m := range regexp.MustCompile(`(?m)^    ([A-Za-z]+)[:,]`).FindAllStringSubmatch(object, -1) {
		if !regexp.MustCompile("`" + m[1] + "[`(.]").MatchString(text) {
			t.Errorf("docs/scene.md lacks env.%s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^    ([a-z]+)\(ctx`).FindAllStringSubmatch(readFile(t, "runtime/8-layout.js"), -1) {
		want("env.text's", "`text."+m[1]+"(")
	}
	for _, f := range scene.Families() {
		want("the family", f.Name)
	}
	for _, s := range scene.StyleNames() {
		want("the style", "`"+s+"`")
	}
	for _, limit := range []string{fmt.Sprint(scene.MaxSide), fmt.Sprintf("%d to %d", 1, scene.MaxFPS), "36,000", fmt.Sprintf("%g to %g seconds", scene.MinDuration, float64(scene.MaxDuration)), fmt.Sprintf("version %d", scene.Version)} {
		want("the limit", limit)
	}
}

// A library without its licence, or one that is listed and can't be imported.
func TestLibraries(t *testing.T) {
	all, err := scene.Libraries()
	if err != nil {
		t.Fatal(err)
	}
	licenses, err := scene.LibraryLicenses()
	if err != nil {
		t.Fatal(err)
	}
	listed := readFile(t, docs+"scene-libraries.md")
	var imports, uses strings.Builder
	n := 0
	for _, l := range all {
		if !regexp.MustCompile(`^(MIT|ISC|BSD-3-Clause|Apache-2.0)$`).MatchString(l.License) {
			t.Errorf("%s is under %q", l.Name, l.License)
		}
		if !strings.Contains(licenses, "==== "+l.Name+" "+l.Version) {
			t.Errorf("the licence of %s is missing", l.Name)
		}
		if !strings.Contains(listed, fmt.Sprintf("| `%s` | %s | %s |", l.Name, l.Version, l.License)) {
			t.Errorf("docs/scene-libraries.md lacks %s %s", l.Name, l.Version)
		}
		for _, m := range l.Modules {
			fmt.Fprintf(&imports, "import * as m%d from %q;\n", n, m)
			fmt.Fprintf(&uses, "m%d,", n)
			n++
		}
	}
	if strings.Contains(licenses, "(The package holds no text of it.)") {
		t.Error("a licence has no text")
	}
	b := load(t, map[string]string{"scene.js": imports.String() + "export const all = [" + uses.String() + "];\n"})
	if n < 150 || len(b.Code) < 1<<20 {
		t.Errorf("%d modules, %d bytes", n, len(b.Code))
	}
	// What a film doesn't use is not in it.
	small := load(t, map[string]string{"scene.js": "import { scaleLinear } from 'd3';\nexport const x = scaleLinear();\n"})
	if len(small.Code) > 80<<10 {
		t.Errorf("one scale of d3 brings %d KiB", len(small.Code)>>10)
	}
}

// The examples are what authors copy.
func TestExamplesBundle(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../../examples/*/scene.js", "../../../examples/looks/*/scene.js"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 14 {
		t.Fatalf("%d examples", len(files))
	}
	for _, f := range files {
		if _, err := scene.Load(f); err != nil {
			t.Error(err)
		}
	}
	for _, s := range scene.StyleNames() {
		text := readFile(t, "../../../examples/looks/"+s+"/scene.js")
		if !strings.Contains(text, "style: '"+s+"'") {
			t.Errorf("examples/looks/%s is not in the style", s)
		}
	}
}
