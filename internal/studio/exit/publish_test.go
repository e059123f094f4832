package exit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
)

// wantOut checks an error's code, and that nothing lies in a folder but what
// did: names, each with its text; a name alone is a folder.
func wantOut(t *testing.T, err error, code fault.Code, dir string, names ...string) {
	t.Helper()
	if err == nil || fault.As(err).Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
	left, err := os.ReadDir(dir)
	check(t, err)
	var got []string
	for _, e := range left {
		if e.IsDir() {
			got = append(got, e.Name())
			continue
		}
		got = append(got, e.Name()+" "+string(readFile(t, filepath.Join(dir, e.Name()))))
	}
	if strings.Join(got, ", ") != strings.Join(names, ", ") {
		t.Errorf("there are %q", got)
	}
}

// A poster of before was lost when the film could not be put into place.
func TestFailedPublishKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		folder, file string
		left         []string
	}{
		"a folder for the film":   {"film.mp4", "poster.jpg", []string{"film.mp4", "poster.jpg old"}},
		"a folder for the poster": {"poster.jpg", "film.mp4", []string{"film.mp4 old", "poster.jpg"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := config(t, goodFilm(t), nil)
			cfg.Mode = Remux
			out := filepath.Dir(cfg.Film)
			check(t, os.Mkdir(filepath.Join(out, c.folder), 0o700))
			writeFile(t, filepath.Join(out, c.file), []byte("old"))
			_, err := Leave(t.Context(), cfg)
			wantOut(t, err, fault.OutUnwritable, out, c.left...)
		})
	}
}

// stagedText is a file on its way out, with a text.
func stagedText(t *testing.T, dir, s string) *staged {
	t.Helper()
	f, err := stageIn(dir)
	check(t, err)
	_, err = f.Write([]byte(s))
	check(t, err)
	return f
}

// A film that is in place already when the poster fails is taken back, also
// where there was none before.
func TestPosterFailsLast(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"", "film.mp4 old"} {
		out := t.TempDir()
		l := &leaving{Config: Config{Film: filepath.Join(out, "film.mp4"), Poster: filepath.Join(out, "none", "poster.jpg")}}
		var left []string
		if old != "" {
			writeFile(t, l.Film, []byte("old"))
			left = []string{old}
		}
		film, poster := stagedText(t, out, "new"), stagedText(t, out, "new")
		err := l.publish(film, poster)
		check(t, errors.Join(film.Close(), poster.Close()))
		wantOut(t, err, fault.OutUnwritable, out, left...)
	}
}

// A disk that is full is no fault of this program's, and what is there stays.
func TestFullDisk(t *testing.T) {
	cfg, _ := config(t, goodFilm(t), nil)
	out := t.TempDir()
	if b, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", out).CombinedOutput(); err != nil {
		t.Fatalf("mount a tmpfs (run the tests as root): %v: %s", err, b)
	}
	t.Cleanup(func() { _ = exec.Command("umount", out).Run() })
	cfg.Mode, cfg.Film, cfg.Poster = Remux, filepath.Join(out, "film.mp4"), filepath.Join(out, "poster.jpg")
	writeFile(t, cfg.Poster, []byte("old"))
	_, err := Leave(t.Context(), cfg)
	wantOut(t, err, fault.DiskFull, out, "poster.jpg old")
	cfg.Film = filepath.Join(out, "none", "film.mp4")
	_, err = Leave(t.Context(), cfg)
	wantOut(t, err, fault.OutUnwritable, out, "poster.jpg old")
}
