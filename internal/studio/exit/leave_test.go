package exit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/mediatest"
)

// config is that of a box with a film and perhaps a poster.
func config(t testing.TB, film, poster []byte) (Config, string) {
	t.Helper()
	work, dir := workDir(t, film, poster)
	out := t.TempDir()
	return Config{
		Work: work, Owner: ownUID(), Want: testWant(), Runner: &insecure{t: t}, FFmpeg: mediatest.FFmpeg(t),
		Film: filepath.Join(out, "film.mp4"), Poster: filepath.Join(out, "poster.jpg"),
	}, dir
}

// What leaves is what was examined, and nothing else lies where it does.
func TestLeave(t *testing.T) {
	t.Parallel()
	good := goodFilm(t)
	poster := goodPoster(t, 160, 90)
	for _, c := range []struct {
		name   string
		mode   Mode
		film   []byte
		poster []byte
		frame  int // of the poster
	}{
		{"default", "", good, nil, 20},
		{"default whatever the poster", "", good, []byte("<html>"), 20},
		{"default and our film writer", "", renderedFilm(t), nil, 20},
		{"remux", Remux, good, poster, -1},
		{"remux without a poster", Remux, good, nil, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := config(t, c.film, c.poster)
			cfg.Mode, cfg.Want.PosterFrame = c.mode, 20
			writeFile(t, cfg.Film, []byte("what was there before"))
			p, err := Leave(t.Context(), cfg)
			check(t, err)
			if p.Frames != testFrames || p.PosterFrame != c.frame {
				t.Errorf("published %+v", p)
			}
			for _, f := range []File{p.Film, p.Poster} {
				b := readFile(t, f.Path)
				sum := sha256.Sum256(b)
				if hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(b)) != f.Size {
					t.Errorf("%s is not what was examined", f.Path)
				}
				st, err := os.Stat(f.Path)
				check(t, err)
				if st.Mode() != 0o644 {
					t.Errorf("%s has mode %v", f.Path, st.Mode())
				}
			}
			left, err := os.ReadDir(filepath.Dir(p.Film.Path))
			check(t, err)
			if len(left) != 2 {
				t.Errorf("%d files lie where two were published", len(left))
			}
			config, err := jpeg.DecodeConfig(bytes.NewReader(readFile(t, p.Poster.Path)))
			check(t, err)
			if config.Width != 160 || config.Height != 90 {
				t.Errorf("poster of %dx%d", config.Width, config.Height)
			}
			lookAlike(t, c.film, readFile(t, p.Film.Path))
		})
	}
}

// lookAlike compares two films by ffmpeg's SSIM.
func lookAlike(t testing.TB, a, b []byte) {
	t.Helper()
	dir := t.TempDir()
	one, two, stats := filepath.Join(dir, "a.mp4"), filepath.Join(dir, "b.mp4"), filepath.Join(dir, "ssim")
	writeFile(t, one, a)
	writeFile(t, two, b)
	ffmpegRun(t, "-i", one, "-i", two, "-lavfi", "ssim=stats_file="+stats, "-f", "null", "-")
	lines := strings.Fields(strings.TrimSpace(string(readFile(t, stats))))
	n := strings.Count(strings.Join(lines, " "), "n:")
	if n != testFrames {
		t.Errorf("%d pictures were compared", n)
	}
	for _, f := range lines {
		if v, ok := strings.CutPrefix(f, "All:"); ok && v < "0.97" {
			t.Errorf("a picture looks other than it did: SSIM %s", v)
		}
	}
}

// The poster shows the frame that was asked for, and no number is too wild.
func TestPosterFrame(t *testing.T) {
	t.Parallel()
	// Each picture is a grey of its own.
	film := encodeFilm(t, testWant(), testFrames, "-vf", "geq=lum='40+N*4':cb=128:cr=128")
	for frame, shown := range map[int]int{0: 0, 44: 44, 45: 44, -1: 0, -1 << 60: 0} {
		if got := (Want{PosterFrame: frame}).poster(testFrames); got != shown {
			t.Errorf("frame %d: a poster of %d, want %d", frame, got, shown)
		}
	}
	for frame, shown := range map[int]int{7: 7, 1 << 40: 44} {
		cfg, _ := config(t, film, nil)
		cfg.Mode, cfg.Want.PosterFrame = Remux, frame
		p, err := Leave(t.Context(), cfg)
		check(t, err)
		m, err := jpeg.Decode(bytes.NewReader(readFile(t, p.Poster.Path)))
		check(t, err)
		luma := int(m.(*image.YCbCr).YCbCrAt(80, 45).Y)
		want := (40 + shown*4 - 16) * 255 / 219 // full range in a JPEG
		if p.PosterFrame != shown || luma < want-3 || luma > want+3 {
			t.Errorf("frame %d: poster of %d with luma %d, want %d with %d", frame, p.PosterFrame, luma, shown, want)
		}
	}
}

// A refusal publishes nothing, leaves what was there, deletes the files from
// the box, has a stable code, and says nothing of the file's.
func TestRefusal(t *testing.T) {
	good := goodFilm(t)
	evil := change(t, good, func(m *movie) { m.at("moov/udta").body = []byte("EVILTEXT") })
	broken := corrupt(t, good)
	for _, c := range []struct {
		name   string
		mode   Mode
		film   []byte
		poster []byte
		item   Item
		reason Reason
	}{
		{"udta", Reencode, evil, nil, Film, BoxText},
		{"udta, remux", Remux, evil, nil, Film, BoxText},
		{"no film", Reencode, nil, nil, Film, Missing},
		{"does not decode", Reencode, broken, nil, Film, Undecodable},
		{"does not decode, remux", Remux, broken, nil, Film, Undecodable},
		{"poster with a comment, remux", Remux, good, behindSOI(goodPoster(t, 160, 90), segment(0xfe, []byte("EVILTEXT"))), Poster, JPEGMarker},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, dir := config(t, c.film, c.poster)
			cfg.Mode = c.mode
			writeFile(t, cfg.Film, []byte("before"))
			_, err := Leave(t.Context(), cfg)
			var r *RefusedError
			if !errors.As(err, &r) || r.Item != c.item || r.Reason != c.reason {
				t.Fatalf("got %v, want %s of the %s", err, c.reason, c.item)
			}
			if f := fault.As(err); f.Code != fault.ExitRefused || strings.Contains(f.Message+f.Hint, "EVIL") {
				t.Errorf("fault %+v", f)
			}
			if string(readFile(t, cfg.Film)) != "before" {
				t.Error("what was there before is not there any more")
			}
			if _, err := os.Stat(cfg.Poster); !errors.Is(err, os.ErrNotExist) {
				t.Error("a poster was published")
			}
			for _, name := range []string{FilmName, PosterName} {
				if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s still lies in the box", name)
				}
			}
		})
	}
}

// corrupt spoils the data of a slice, leaving its header and its ends alone.
func corrupt(t testing.TB, good []byte) []byte {
	t.Helper()
	return changeUnits(t, good, 0, func(u [][]byte) [][]byte {
		nal := u[len(u)-1]
		for i := 60; i < len(nal)-1; i++ {
			nal[i] = byte(0x55 + i%64)
		}
		return u
	})
}

// Whatever comes out of the second box is as foreign as what came out of the
// first: a decoder that was taken over gains no more than a remux lets out.
func TestSecondBoxIsNotBelieved(t *testing.T) {
	t.Parallel()
	good := goodFilm(t)
	first := func(do func(work string)) func(run int, work string) {
		return func(run int, work string) {
			if run == 0 {
				do(work)
			}
		}
	}
	for _, c := range []struct {
		name   string
		meddle func(run int, work string)
		reason Reason
	}{
		{"nothing", nil, ""},
		{"a film with text", first(func(work string) {
			writeFile(t, filepath.Join(work, encodedFile), change(t, good, func(m *movie) { m.at("moov").add("meta") }))
		}), BoxUnknown},
		{"a link", first(func(work string) {
			check(t, os.Remove(filepath.Join(work, encodedFile)))
			check(t, os.Symlink("/etc/passwd", filepath.Join(work, encodedFile)))
		}), Link},
		{"no film", first(func(work string) { check(t, os.Remove(filepath.Join(work, encodedFile))) }), Missing},
		{"fewer pictures", first(func(work string) {
			writeFile(t, filepath.Join(work, encodedFile), encodeFilm(t, testWant(), testFrames-1))
		}), Undecodable},
		{"a check that says nothing", func(run int, work string) {
			if run == 1 {
				writeFile(t, filepath.Join(work, progressFile), []byte("lies\n"))
			}
		}, Undecodable},
		{"too many pixels", func(run int, work string) {
			if run == 1 {
				writeFile(t, filepath.Join(work, pixelsFile), make([]byte, 1<<20))
			}
		}, TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := config(t, good, nil)
			cfg.Runner = &insecure{t: t, meddle: c.meddle}
			_, err := Leave(t.Context(), cfg)
			if got := reasonOf(t, err); got != c.reason {
				t.Errorf("got %q (%v), want %q", got, err, c.reason)
			}
		})
	}
}

// brokenRunner has no boxes, or such that end badly.
type brokenRunner struct {
	ran Ran
	err error
}

func (r brokenRunner) Run(context.Context, Program) (Ran, error) { return r.ran, r.err }

// A box that can't be had is our fault and not the film's: no refusal, and
// the film stays where it is.
func TestRunnersFaults(t *testing.T) {
	none := errors.New("no box today")
	cfg, dir := config(t, goodFilm(t), nil)
	cfg.Runner = brokenRunner{err: none}
	_, err := Leave(t.Context(), cfg)
	var r *RefusedError
	if !errors.Is(err, none) || errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, FilmName)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		ran  Ran
		said string
		code fault.Code
	}{
		"the wall clock":    {Ran{Status: -1, Limit: "wall"}, "", fault.BoxFailed},
		"the memory limit":  {Ran{Status: -1, Limit: "memory"}, "", fault.BoxFailed},
		"no process left":   {Ran{Status: 1}, "Error while opening decoder: Resource temporarily unavailable\n", fault.BoxFailed},
		"no memory left":    {Ran{Status: 1}, "Error initializing output stream: Cannot allocate memory\n", fault.BoxFailed},
		"no space left":     {Ran{Status: 1}, "av_interleaved_write_frame(): No space left on device\n", fault.BoxFailed},
		"killed":            {Ran{Status: 137}, "", fault.BoxFailed},
		"no ffmpeg":         {Ran{Status: 127}, "", fault.BoxFailed},
		"a decoding error":  {Ran{Status: 69}, "Error while decoding stream #0:0: Invalid data found when processing input\n", fault.ExitRefused},
		"a decoder's crash": {Ran{Status: 128 + 11}, "", fault.ExitRefused},
		"for no reason":     {Ran{Status: 1}, "", fault.ExitRefused},
	} {
		cfg, dir := config(t, goodFilm(t), nil)
		closed := 0
		c.ran.Close = func() error { closed++; return nil }
		cfg.Runner = runnerFunc(func(_ context.Context, p Program) (Ran, error) {
			_, err := io.WriteString(p.Output, c.said)
			return c.ran, err
		})
		_, err := Leave(t.Context(), cfg)
		if f := fault.As(err); f.Code != c.code || closed != 1 || !fault.Lookup(f.Code).Retryable {
			t.Errorf("%s: got %v; closed %d times", name, err, closed)
		}
		_, err = os.Stat(filepath.Join(dir, FilmName))
		if kept := err == nil; kept != (c.code == fault.BoxFailed) {
			t.Errorf("%s: the film is kept: %t", name, kept)
		}
	}
}

// A film that changes while it is being decoded, still one that would pass,
// is not the film that was decoded.
func TestChangeBehindOurBack(t *testing.T) {
	cfg, _ := config(t, goodFilm(t), nil)
	honest := &insecure{t: t}
	cfg.Mode, cfg.Runner = Remux, runnerFunc(func(ctx context.Context, p Program) (Ran, error) {
		ran, err := honest.Run(ctx, p)
		f, oerr := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", p.Stdin.Fd()), os.O_RDWR, 0)
		check(t, oerr)
		defer f.Close()
		st, serr := f.Stat()
		check(t, serr)
		var last [1]byte
		_, rerr := f.ReadAt(last[:], st.Size()-9)
		check(t, rerr)
		last[0] ^= 0x10
		_, werr := f.WriteAt(last[:], st.Size()-9)
		check(t, werr)
		return ran, err
	})
	_, err := Leave(t.Context(), cfg)
	var r *RefusedError
	if err == nil || errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(cfg.Film); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was published")
	}
}

type runnerFunc func(ctx context.Context, p Program) (Ran, error)

func (f runnerFunc) Run(ctx context.Context, p Program) (Ran, error) { return f(ctx, p) }

// Where files need a name from the start, they are published and deleted as well.
func TestStageWithAName(t *testing.T) {
	dir := t.TempDir()
	for _, publish := range []bool{true, false} {
		s, err := stageNamed(dir)
		check(t, err)
		_, err = s.WriteString("film")
		check(t, err)
		if st, err := s.Stat(); err != nil || st.Mode() != 0o600 {
			t.Errorf("mode %v, %v", st.Mode(), err)
		}
		want := 0
		if publish {
			check(t, s.publish(filepath.Join(dir, "film.mp4")))
			want = 1
		}
		check(t, s.Close())
		names, err := os.ReadDir(dir)
		check(t, err)
		if len(names) != want {
			t.Errorf("published: %t; %d files", publish, len(names))
		}
		_ = os.Remove(filepath.Join(dir, "film.mp4"))
	}
}

// A call that was cancelled publishes nothing and blames nobody.
func TestCancelled(t *testing.T) {
	cfg, _ := config(t, goodFilm(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Leave(ctx, cfg)
	var r *RefusedError
	if !errors.Is(err, context.Canceled) || errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	good, _ := config(t, goodFilm(t), nil)
	for name, edit := range map[string]func(c *Config){
		"no work":       func(c *Config) { c.Work = nil },
		"no runner":     func(c *Config) { c.Runner = nil },
		"mode":          func(c *Config) { c.Mode = "trust" },
		"relative path": func(c *Config) { c.Film = "film.mp4" },
		"one path":      func(c *Config) { c.Poster = c.Film },
		"odd size":      func(c *Config) { c.Want.Width = 161 },
		"huge":          func(c *Config) { c.Want.Width = 8192 },
		"no rate":       func(c *Config) { c.Want.FPS = 0 },
		"no length":     func(c *Config) { c.Want.Seconds = 0 },
		"no bytes":      func(c *Config) { c.Want.MaxBytes = 0 },
	} {
		c := good
		edit(&c)
		var r *RefusedError
		if _, err := Leave(t.Context(), c); err == nil || errors.As(err, &r) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Every reason is in the docs, and no other.
func TestReasonsAreDocumented(t *testing.T) {
	doc := string(readFile(t, filepath.FromSlash("../../../docs/exit.md")))
	for _, row := range Reasons() {
		line := "| `" + string(row.Reason) + "` | " + row.Meaning + " |"
		if !strings.Contains(doc, line) {
			t.Errorf("docs/exit.md lacks the row %s", line)
		}
	}
	if n := strings.Count(doc, "\n| `"); n != len(Reasons()) {
		t.Errorf("docs/exit.md has %d rows, there are %d reasons", n, len(Reasons()))
	}
}
