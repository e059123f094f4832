package scene_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// lay writes files into a new folder and gives the path of its scene.js.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "film")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "scene.js")
}

func load(t *testing.T, files map[string]string) *scene.Bundle {
	t.Helper()
	b, err := scene.Load(lay(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantFault(t *testing.T, err error, code fault.Code, text string) *scene.Failure {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v, not a fault", err)
	}
	if f.Code != code || !strings.Contains(f.Message, text) {
		t.Fatalf("got %s: %s; want %s with %q", f.Code, f.Message, code, text)
	}
	var failure *scene.Failure
	errors.As(err, &failure)
	return failure
}

func TestLoad(t *testing.T) {
	files := map[string]string{
		"scene.js":       "import { a } from './lib/a.js';\nimport data from './data.json';\nimport csv from './rows.csv';\nimport { b } from './lib/b';\nexport const meta = {};\nexport function draw() { return [a, b, data.x, csv]; }\n",
		"lib/a.js":       "import { up } from '../up.js';\nexport const a = up + 1;\n",
		"lib/b.ts":       "export const b: number = 2;\n",
		"up.js":          "export const up = 40;\n",
		"data.json":      `{"x": "from json"}`,
		"rows.csv":       "name,value\nfrom csv,1\n",
		"not-read.js":    "syntax error here (",
		"package.json":   `{"name": "film", "main": "not-read.js"}`,
		"tsconfig.json":  `{"compilerOptions": {"paths": {"*": ["/etc/*"]}}}`,
		"node_modules/x": "nothing",
	}
	b := load(t, files)
	code := string(b.Code)
	for _, want := range []string{"from json", "from csv", "export {", "meta"} {
		if !strings.Contains(code, want) {
			t.Errorf("the module lacks %q:\n%s", want, code)
		}
	}
	if strings.Contains(code, "import ") {
		t.Errorf("the module still imports:\n%s", code)
	}
	if b.File != "scene.js" || filepath.Base(b.Dir) != "film" || len(b.Hash) != 64 {
		t.Errorf("file %q, folder %q, hash %q", b.File, b.Dir, b.Hash)
	}
	if again := load(t, files); again.Hash != b.Hash {
		t.Error("the same files in another folder give another hash")
	}
	if byFolder, err := scene.Load(b.Dir); err != nil || byFolder.Hash != b.Hash {
		t.Errorf("loading the folder: %v", err)
	}
}

// A scene that reads outside of its folder would show the machine in a film.
func TestImportsStayInside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.js")
	if err := os.WriteFile(secret, []byte("export default 'secret'"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, spec, want string }{
		{"parent", "../secret.js", "leaves the scene's folder"},
		{"parent by detour", "./a/../../secret.js", "leaves the scene's folder"},
		{"absolute", secret, "is absolute"},
		{"link", "./link.js", "can't be read"},
		{"folder link", "./dir/secret.js", "can't be read"},
		{"http", "https://esm.sh/three", "is an address"},
		{"protocol relative", "//esm.sh/three", "is absolute"},
		{"data", "data:text/javascript,export default 1", "is an address"},
		{"file", "file:///etc/passwd", "is an address"},
		{"blob", "blob:x", "is an address"},
		{"node", "node:fs", "module of Node"},
		{"unknown", "gsap", "the library has three, d3"},
		{"unknown addon", "three/addons/loaders/SVGLoade", "perhaps three/addons/loaders/SVGLoader.js"},
		{"fs", "fs", "no module \"fs\""},
		{"missing", "./nothing.js", "there is no file \"nothing.js\""},
		{"picture", "./logo.png", "meta.assets"},
		{"font", "./my.woff2", "fonts can't be loaded"},
		{"binary", "./code.wasm", "can't be imported"},
		{"backslash", `..\\secret.js`, "is absolute"},
		{"itself as a folder", "..", "leaves the scene's folder"},
	} {
		for form, line := range map[string]string{
			"import": "import x from '%s';\nexport const y = x;\n", "dynamic": "export const y = await import('%s');\n",
			"require": "export const y = require('%s');\n", "export": "export * from '%s';\n",
		} {
			t.Run(c.name+" "+form, func(t *testing.T) {
				file := lay(t, map[string]string{"scene.js": "// one\n" + fmt.Sprintf(line, c.spec), "logo.png": "x", "my.woff2": "x", "code.wasm": "x"})
				if err := os.Symlink(secret, filepath.Join(filepath.Dir(file), "link.js")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Dir(secret), filepath.Join(filepath.Dir(file), "dir")); err != nil {
					t.Fatal(err)
				}
				_, err := scene.Load(file)
				f := wantFault(t, err, fault.SceneImport, c.want)
				if f.Place.File != "scene.js" || f.Place.Line != 2 || f.Place.Column < 8 {
					t.Errorf("place %v", f.Place)
				}
			})
		}
	}
}

func TestSyntaxErrorHasItsPlace(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       scene.Place
	}{
		{"js", "const a = 1;\nconst ü = (;\n", scene.Place{File: "scene.js", Line: 2, Column: 12}},
		{"end", "function f() {\n", scene.Place{File: "scene.js", Line: 2, Column: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scene.Load(lay(t, map[string]string{"scene.js": c.text}))
			f := wantFault(t, err, fault.SceneSyntax, c.want.String())
			if d := cmp.Diff(c.want, f.Place); d != "" {
				t.Error(d)
			}
		})
	}
	_, err := scene.Load(lay(t, map[string]string{"scene.js": "import './deep/b.js'", "deep/b.js": "let x;\nlet x;\n"}))
	wantFault(t, err, fault.SceneSyntax, "deep/b.js:2:5")
	_, err = scene.Load(lay(t, map[string]string{"scene.js": "export const s = '\xff'"}))
	wantFault(t, err, fault.SceneImport, "not UTF-8")
}

func TestLoadWithoutScene(t *testing.T) {
	_, err := scene.Load(filepath.Join(t.TempDir(), "none.js"))
	wantFault(t, err, fault.SceneNotFound, "none.js")
	_, err = scene.Load(t.TempDir())
	wantFault(t, err, fault.SceneNotFound, "no scene.js")
	_, err = scene.Load(os.DevNull)
	wantFault(t, err, fault.SceneNotFound, "neither a file nor a folder")
}

func TestOpen(t *testing.T) {
	b := load(t, map[string]string{"scene.js": "export const meta = 1", "img/logo.png": "picture"})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.Dir, "out.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("img/logo.png", filepath.Join(b.Dir, "in.png")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"img/logo.png", "./img/../img/logo.png", "in.png"} {
		f, err := b.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(f)
		if err != nil || string(raw) != "picture" {
			t.Errorf("%s holds %q, %v", name, raw, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"../film/img/logo.png": "leaves", outside: "absolute", "out.png": "escapes", "none.png": "no such file", "img": "not a file", "": "empty", "http://x/a": "address", "a\x00": "zero",
	} {
		_, err := b.Open(name)
		wantFault(t, err, fault.SceneAsset, want)
	}
}

// A render that goes on after a change must not take the old frames.
func TestKey(t *testing.T) {
	files := map[string]string{"scene.js": "export const meta = 1", "a.png": "one"}
	m := scene.Meta{Assets: map[string]string{"a": "a.png"}}
	b := load(t, files)
	key := func() string {
		k, err := b.Key(m)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key()
	if key() != first {
		t.Error("two keys of one scene")
	}
	if err := os.WriteFile(filepath.Join(b.Dir, "a.png"), []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if key() == first {
		t.Error("another picture, the same key")
	}
	if err := os.Remove(filepath.Join(b.Dir, "a.png")); err != nil {
		t.Fatal(err)
	}
	_, err := b.Key(m)
	wantFault(t, err, fault.SceneAsset, "a.png")
}

func loadText(dir, text string) (*scene.Bundle, error) {
	path := filepath.Join(dir, "scene.js")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return scene.Load(path)
}
