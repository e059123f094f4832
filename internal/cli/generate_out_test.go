package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// Money was spent on films that could not be put anywhere, folders were made
// that nobody asked for, and a picture of the user's was replaced by a poster.
func TestClaimOut(t *testing.T) {
	for name, c := range map[string]struct {
		there []string // a name that ends in / is a folder, one with > a link
		film  string
		code  fault.Code
	}{
		"nothing there":          {nil, "a.mp4", ""},
		"a film and its poster":  {[]string{"a.mp4", "a.jpg"}, "a.mp4", ""},
		"a film alone":           {[]string{"a.mp4"}, "a.mp4", ""},
		"a picture alone":        {[]string{"a.jpg"}, "a.mp4", fault.InvalidValue},
		"a folder":               {[]string{"a.mp4/"}, "a.mp4", fault.OutUnwritable},
		"a folder, and a poster": {[]string{"a.mp4/", "a.jpg"}, "a.mp4", fault.OutUnwritable},
		"a folder as poster":     {[]string{"a.mp4", "a.jpg/"}, "a.mp4", fault.OutUnwritable},
		"a link":                 {[]string{"a.mp4>b.mp4"}, "a.mp4", fault.OutUnwritable},
		"no folder":              {nil, "none/deep/a.mp4", fault.OutUnwritable},
		"a file for a folder":    {[]string{"none"}, "none/a.mp4", fault.OutUnwritable},
		"a long name":            {nil, strings.Repeat("x", 251) + ".mp4", ""},
		"too long a name":        {nil, strings.Repeat("x", 252) + ".mp4", fault.OutUnwritable},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, n := range c.there {
				link, to, isLink := strings.Cut(n, ">")
				var err error
				switch {
				case isLink:
					err = os.Symlink(to, filepath.Join(dir, link))
				case strings.HasSuffix(n, "/"):
					err = os.Mkdir(filepath.Join(dir, n), 0o700)
				default:
					err = os.WriteFile(filepath.Join(dir, n), []byte("old"), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			film := filepath.Join(dir, c.film)
			p, err := claimOut(film, strings.TrimSuffix(film, ".mp4")+".jpg")
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := claimOut(film, p.poster); err == nil || fault.As(err).Code != fault.RenderBusy {
					t.Errorf("a second job: %v", err)
				}
				p.release()
			} else if err == nil || fault.As(err).Code != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != len(c.there) {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
}

// Nothing is asked of a model, and no box looked for, for a film that can't be
// put anywhere.
func TestOutIsTriedFirst(t *testing.T) {
	t.Setenv("PROOFREEL_HOME", filepath.Join(t.TempDir(), "home"))
	_, err := generateHere(t.Context(), GenerateOptions{Out: filepath.Join(t.TempDir(), "none", "a.mp4"), Poster: "a.jpg"})
	if err == nil || fault.As(err).Code != fault.OutUnwritable {
		t.Errorf("%v", err)
	}
}
