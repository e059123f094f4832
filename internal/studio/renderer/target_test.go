package renderer

import (
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
)

// project makes a scene with an import and two assets, and goes to its folder.
func project(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	var picture strings.Builder
	err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8)), nil)
	if err = errors.Join(err, os.Mkdir("img", 0o700), os.Symlink("img", "link"), os.Mkdir("folder.mp4", 0o700), unix.Mkfifo("fifo.mp4", 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"s.js": "import { red } from './part.mjs';\n" + small("duration: 0.2, assets: { logo: 'img/logo.jpg', last: 'img/s-00003.png', clip: 'odd.mp4' }") +
			"export function draw(ctx) { ctx.fillStyle = red; ctx.fillRect(0, 0, 320, 180); }",
		"part.mjs": "export const red = '#f00';", "img/logo.jpg": picture.String(), "img/s-00003.png": pngOf(t), "odd.mp4": picture.String(),
		"old.mp4": "an old film", "old.jpg": "an old poster",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link("s.js", "hard.mp4"), os.Symlink("part.mjs", "soft.mp4")); err != nil {
		t.Fatal(err)
	}
}

func pngOf(t *testing.T) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	img.Set(1, 1, color.White)
	raw, err := encodePicture("x.png", img)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// tree is every file below the working directory with what it is and holds.
func tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all[path] = d.Type().String()
		if d.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			all[path] = string(raw)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A result that takes the place of what it is made of loses the author's work,
// and one in the place of another is lost itself.
func TestTargetsAreNoInputs(t *testing.T) {
	project(t)
	s := newStudio(t)
	src := Source{Scene: "s.js", Workers: 1}
	render := func(out, poster string) func() error {
		return func() error {
			_, err := s.Render(t.Context(), RenderOptions{Source: src, Out: out, Poster: poster})
			return err
		}
	}
	still := func(out string, at ...float64) func() error {
		return func() error {
			_, err := s.Stills(t.Context(), StillOptions{Source: src, At: at, Out: out})
			return err
		}
	}
	sheet := func(out string) func() error {
		return func() error {
			_, err := s.Sheet(t.Context(), SheetOptions{Source: src, Out: out})
			return err
		}
	}
	before := tree(t)
	for name, c := range map[string]struct {
		do   func() error
		word string
	}{
		"the scene":                        {render("s.js", ""), "s.js"},
		"an import":                        {render("part.mjs", ""), "part.mjs"},
		"the scene, by a hard link":        {render("hard.mp4", ""), "s.js"},
		"an import, by a symbolic link":    {render("soft.mp4", ""), "part.mjs"},
		"an asset that ends in .mp4":       {render("odd.mp4", ""), "odd.mp4"},
		"another kind of name":             {render("x.txt", ""), "x.txt"},
		"no ending":                        {render("film", ""), "film"},
		"a pipe":                           {render("fifo.mp4", ""), "fifo.mp4"},
		"a folder":                         {render("folder.mp4", ""), "folder.mp4"},
		"a device":                         {render(os.DevNull, ""), os.DevNull},
		"poster over an asset":             {render("x.mp4", "img/logo.jpg"), "img/logo.jpg"},
		"poster over an asset, by a link":  {render("x.mp4", "./link/../link/logo.jpg"), "logo.jpg"},
		"poster over the film":             {render("a.mp4", "a.mp4"), "the poster can't be a.mp4"},
		"poster of another kind":           {render("x.mp4", "b.png"), "b.png"},
		"poster over the scene":            {render("x.mp4", "s.js"), "s.js"},
		"still over an asset":              {still("img/logo.jpg", 0), "img/logo.jpg"},
		"still in a folder, over an asset": {still("img", 0, 0.1), "s-00003.png"},
		"still of another kind":            {still("foo.gif", 0), "foo.gif"},
		"stills in a file's place":         {still("s.js", 0), "s.js"},
		"sheet over an asset":              {sheet("link/logo.jpg"), "logo.jpg"},
		"sheet of another kind":            {sheet("s.js"), "s.js"},
	} {
		t.Run(name, func(t *testing.T) {
			wantFault(t, c.do(), fault.InvalidValue, c.word)
			if after := tree(t); !sameTree(before, after) {
				t.Errorf("the folder changed: %v", after)
			}
		})
	}
	// What only lies beside is replaced, as the documentation says.
	if err := errors.Join(render("old.mp4", "old.jpg")(), still("img/new.png", 0.1)(), still("v1.2", 0)(), still("new.d/", 0)(), sheet("new.JPG")()); err != nil {
		t.Fatal(err)
	}
	after := tree(t)
	for _, name := range []string{"old.mp4", "old.jpg"} {
		if after[name] == before[name] {
			t.Errorf("%s was not replaced", name)
		}
	}
	for _, name := range []string{"img/new.png", "v1.2/s-00000.png", "new.d/s-00000.png", "new.JPG"} {
		if after[name] == "" {
			t.Errorf("%s is not there", name)
		}
	}
	for _, name := range []string{"s.js", "part.mjs", "img/logo.jpg", "img/s-00003.png", "odd.mp4"} {
		if after[name] != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
}

func sameTree(a, b map[string]string) bool {
	for name, text := range b {
		if a[name] != text {
			return false
		}
	}
	return len(a) == len(b)
}

// Two results that are one file, by whatever names, are the caller's mistake.
func TestTwoTargetsAreOne(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("a", 0o700), os.Symlink("a", "b")); err != nil {
		t.Fatal(err)
	}
	ends := []string{".jpg"}
	for _, c := range []struct {
		first, second string
		one           bool
	}{{"a/x.jpg", "b/x.jpg", true}, {"x.jpg", "./a/../x.jpg", true}, {"x.jpg", "y.jpg", false}, {"", "", false}, {"none/x.jpg", "none/x.jpg", true}} {
		err := checkNames(target{"the first", c.first, ends}, target{"the second", c.second, ends})
		if (err != nil) != c.one {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}
