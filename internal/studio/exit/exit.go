package exit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/media/ffmpeg"
)

// Mode says what happens to the film between its two examinations.
type Mode string

// The modes.
const (
	// Reencode decodes the film and encodes it afresh, in a box: no byte that
	// an author has written leaves, and nothing but what can be seen.
	Reencode Mode = "reencode"
	// Remux keeps the author's slices, for speed. Bits that a decoder passes
	// over inside of a slice can't be found by a reader of NAL units: they leave.
	Remux Mode = "remux"
)

// Modes lists the modes, the default first.
func Modes() []Mode { return []Mode{Reencode, Remux} }

// The two files that may leave, in the work directory.
const (
	FilmName   = "out/final.mp4"
	PosterName = "out/poster.jpg"
)

// Config says what leaves whence and whither.
type Config struct {
	// Work is the work directory of a box that is dead: nothing may still be
	// able to change it. It stays open.
	Work *os.File
	// Owner is the user (of this machine, not of the box) to whom the files
	// must belong.
	Owner uint32
	Want  Want
	// Mode is Reencode when empty.
	Mode Mode
	// Runner makes the boxes in which ffmpeg runs.
	Runner Runner
	// FFmpeg is its path in such a box; empty: /usr/bin/ffmpeg.
	FFmpeg string
	// Wall bounds one run of ffmpeg; 0: ten minutes.
	Wall time.Duration
	// Film and Poster are the paths to be published. What lies there is
	// replaced once all is well, and left alone before.
	Film, Poster string
	Log          *slog.Logger
}

// Published is what has left.
type Published struct {
	Film, Poster File
	// Frames is the number of pictures; PosterFrame the one that the poster
	// shows, counted from 0, or -1 when the poster is the author's (Remux).
	Frames, PosterFrame int
}

// File is a published file. Its hash is that of the bytes that were examined
// last, which are those at Path.
type File struct {
	Path   string
	Size   int64
	SHA256 string // in hex
}

func (c Config) withDefaults() (Config, error) {
	if c.Mode == "" {
		c.Mode = Reencode
	}
	if c.FFmpeg == "" {
		c.FFmpeg = "/usr/bin/ffmpeg"
	}
	if c.Wall == 0 {
		c.Wall = 10 * time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Work == nil || c.Runner == nil:
		return c, errors.New("exit: no work directory or no runner")
	case c.Mode != Reencode && c.Mode != Remux:
		return c, fmt.Errorf("exit: no mode %q", c.Mode)
	case !filepath.IsAbs(c.Film) || !filepath.IsAbs(c.Poster) || c.Film == c.Poster:
		return c, errors.New("exit: want two absolute paths to publish")
	}
	return c, c.Want.validate()
}

// Leave takes the film and the poster out of a dead box and publishes them, if
// they pass. Whatever the box holds, nothing else leaves, and when it returns
// an error, nothing has: a [RefusedError] (a fault of code exit_refused) where the
// files are to blame, and then they are deleted from the box; a fault of code
// box_failed where a box of ours ended before its time, and then they are kept;
// disk_full or out_unwritable where the paths can't be written, and then what
// lay there does still (but where a file system can't swap two names, a film
// whose poster failed may have taken its place); the runner's errors.
func Leave(ctx context.Context, c Config) (Published, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Published{}, err
	}
	l := &leaving{
		Config: c, box: source{dir: c.Work, owner: c.Owner},
		ffmpeg: transcoder{runner: c.Runner, ffmpeg: c.FFmpeg, wall: c.Wall, want: c.Want, log: c.Log},
	}
	defer l.close()
	p, err := l.leave(ctx)
	var refusal *RefusedError
	if errors.As(err, &refusal) {
		c.Log.WarnContext(ctx, "refused to let it out", "item", refusal.Item, "reason", refusal.Reason, "rule", refusal.Rule)
		l.box.remove(FilmName)
		l.box.remove(PosterName)
	}
	return p, err
}

// leaving is one call of Leave.
type leaving struct {
	Config
	box    source
	ffmpeg transcoder
	open   []*staged
}

func (l *leaving) close() {
	for _, s := range l.open {
		_ = s.Close()
	}
}

func (l *leaving) stage(path string) (*staged, error) {
	s, err := stageIn(filepath.Dir(path))
	if err != nil {
		return nil, outFault(err)
	}
	l.open = append(l.open, s)
	return s, nil
}

func (l *leaving) leave(ctx context.Context) (Published, error) {
	film, n, err := l.takeFilm(l.box, FilmName)
	if err != nil {
		return Published{}, err
	}
	if l.Mode == Reencode {
		if film, err = l.encodeAfresh(ctx, film, n); err != nil {
			return Published{}, err
		}
	}
	poster, frame, err := l.checkAndDraw(ctx, film, n)
	if err != nil {
		return Published{}, err
	}
	p := Published{Frames: n, PosterFrame: frame}
	if p.Film, err = l.examine(film); err != nil {
		return Published{}, err
	}
	if p.Poster, err = l.examinePoster(poster); err != nil {
		return Published{}, err
	}
	if err := l.publish(film, poster); err != nil {
		return Published{}, err
	}
	return p, nil
}

// takeFilm copies a film out of a dead box, walks it, and gives it rewritten,
// with its number of pictures.
func (l *leaving) takeFilm(from source, name string) (*staged, int, error) {
	raw, err := l.stage(l.Film)
	if err != nil {
		return nil, 0, err
	}
	size, err := from.collect(Film, name, l.Want.MaxBytes, raw)
	if err != nil {
		return nil, 0, err
	}
	f, err := walk(raw, size, l.Want)
	if err != nil {
		return nil, 0, err
	}
	clean, err := l.stage(l.Film)
	if err != nil {
		return nil, 0, err
	}
	hash := sha256.New()
	if err := f.rewrite(raw, io.MultiWriter(clean, hash)); err != nil {
		return nil, 0, err
	}
	copy(clean.wrote[:], hash.Sum(nil))
	return clean, len(f.samples), nil
}

// encodeAfresh gives a new film of the same pictures.
func (l *leaving) encodeAfresh(ctx context.Context, film *staged, n int) (_ *staged, err error) {
	ran, err := l.ffmpeg.encode(ctx, film.File, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ran.Close()) }()
	fresh, got, err := l.takeFilm(source{dir: ran.Work, owner: ran.Owner}, encodedFile)
	if err != nil {
		return nil, err
	}
	if got != n {
		return nil, refuse(Undecodable, "count")
	}
	return fresh, nil
}

// checkAndDraw decodes the film that is to leave and makes the poster: the
// author's, encoded afresh, in a remux that has one, else drawn from the film.
func (l *leaving) checkAndDraw(ctx context.Context, film *staged, n int) (_ *staged, frame int, err error) {
	ran, err := l.ffmpeg.check(ctx, film.File, n)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, ran.Close()) }()
	from := source{dir: ran.Work, owner: ran.Owner}
	var progress, rgb bytes.Buffer
	if _, err := from.collect(Film, progressFile, 1<<20, &progress); err != nil {
		return nil, 0, err
	}
	decoded := int64(0)
	if err := ffmpeg.ReadProgress(&progress, func(p ffmpeg.Progress) { decoded = p.Frame }); err != nil || decoded != int64(n) {
		return nil, 0, refuse(Undecodable, "count")
	}
	if _, err := from.collect(Poster, pixelsFile, int64(3*l.Want.Width*l.Want.Height), &rgb); err != nil {
		return nil, 0, err
	}
	poster, err := l.stage(l.Poster)
	if err != nil {
		return nil, 0, err
	}
	if l.Mode == Remux {
		own, err := l.takePoster(poster)
		if own || err != nil {
			return poster, -1, err
		}
	}
	return poster, l.Want.poster(n), drawJPEG(poster, rgb.Bytes(), l.Want.Width, l.Want.Height)
}

// takePoster takes the author's poster. It says whether there is one.
func (l *leaving) takePoster(to *staged) (bool, error) {
	var raw bytes.Buffer
	_, err := l.box.collect(Poster, PosterName, maxPoster, &raw)
	var refusal *RefusedError
	if errors.As(err, &refusal) && refusal.Reason == Missing {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, cleanJPEG(to, raw.Bytes(), l.Want.Width, l.Want.Height)
}

// examine walks the film that is to leave and gives its hash. It must be what
// was written before it was decoded, and what it is rewritten to: then every
// byte of it is accounted for.
func (l *leaving) examine(s *staged) (File, error) {
	size, err := s.size()
	if err != nil {
		return File{}, err
	}
	f, err := walk(s, size, l.Want)
	if err != nil {
		return File{}, err
	}
	same := sha256.New()
	if err := f.rewrite(s, same); err != nil {
		return File{}, err
	}
	sum, err := s.sum()
	if err != nil {
		return File{}, err
	}
	if sum != s.wrote || !bytes.Equal(sum[:], same.Sum(nil)) {
		return File{}, errors.New("exit: the film changed between being written and being published")
	}
	return File{Path: l.Film, Size: size, SHA256: hex.EncodeToString(sum[:])}, nil
}

// examinePoster does so with the poster.
func (l *leaving) examinePoster(s *staged) (File, error) {
	size, err := s.size()
	if err != nil {
		return File{}, err
	}
	b := make([]byte, size)
	if err := readAt(s, b, 0); err != nil {
		return File{}, err
	}
	if err := checkJPEG(b, l.Want.Width, l.Want.Height); err != nil {
		return File{}, err
	}
	sum := sha256.Sum256(b)
	return File{Path: l.Poster, Size: size, SHA256: hex.EncodeToString(sum[:])}, nil
}
