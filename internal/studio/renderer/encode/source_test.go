package encode

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/profile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source draws frames by a function; the zero value of what is not set draws
// numbered frames that move.
type source struct {
	w, h, workers int
	paint         func(c canvas, frame int)
	before        func(ctx context.Context, frame int) error // called before each frame
	drawn         atomic.Int64
}

func (s *source) Workers() int { return max(s.workers, 1) }

func (s *source) Frames(ctx context.Context, _, from, to int, use func(int, Frame) error) error {
	// A stride that is not the width's: rows of a mapped file may be padded.
	c := canvas{w: s.w, h: s.h, stride: 4*s.w + 64}
	c.pix = make([]byte, c.stride*s.h)
	for n := from; n < to; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.before != nil {
			if err := s.before(ctx, n); err != nil {
				return err
			}
		}
		paint := s.paint
		if paint == nil {
			paint = moving
		}
		paint(c, n)
		s.drawn.Add(1)
		if err := use(n, Frame{Pix: c.pix, Stride: c.stride, Width: s.w, Height: s.h}); err != nil {
			return err
		}
	}
	return nil
}

type canvas struct {
	w, h, stride int
	pix          []byte
}

type rgb [3]byte

func (c canvas) fill(r image.Rectangle, v rgb) {
	r = r.Intersect(image.Rect(0, 0, c.w, c.h))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.pix[y*c.stride:]
		for x := r.Min.X; x < r.Max.X; x++ {
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = v[2], v[1], v[0], 0xA5
		}
	}
}

const (
	stripBits = 12
	stripCell = 8 // pixels; the strip is at the top left
)

// number paints a frame's number as black and white cells.
func (c canvas) number(n int) {
	for i := range stripBits {
		v := rgb{}
		if n>>i&1 == 1 {
			v = rgb{255, 255, 255}
		}
		c.fill(image.Rect(i*stripCell, 0, (i+1)*stripCell, stripCell), v)
	}
}

// moving paints a gradient, a square that moves, and the number.
func moving(c canvas, n int) {
	for y := range c.h {
		row := c.pix[y*c.stride:]
		for x := range c.w {
			row[4*x], row[4*x+1], row[4*x+2] = byte(x+n), byte(y), byte((x+y)/2)
		}
	}
	at := n * 3 % c.w
	c.fill(image.Rect(at, c.h/2, at+20, c.h/2+20), rgb{250, 200, 20})
	c.number(n)
}

// luma decodes a film and gives the luma plane of every frame.
func luma(t *testing.T, film string, w, h int) [][]byte {
	t.Helper()
	raw := decode(t, film, "gray")
	if len(raw)%(w*h) != 0 {
		t.Fatalf("%d bytes of luma are no frames of %dx%d", len(raw), w, h)
	}
	var all [][]byte
	for ; len(raw) > 0; raw = raw[w*h:] {
		all = append(all, raw[:w*h])
	}
	return all
}

// decode gives a film's frames as a player shows them. ("gray" takes the luma
// plane as it is; other formats are converted as the film's tags say.)
func decode(t *testing.T, film, format string) []byte {
	t.Helper()
	args := []string{"-v", "error", "-i", film, "-fps_mode", "passthrough"}
	if format == "gray" {
		args = append(args, "-vf", "extractplanes=y")
	} else {
		args = append(args, "-vf", "scale=flags=accurate_rnd+full_chroma_int")
	}
	args = append(args, "-pix_fmt", format, "-f", "rawvideo", "-")
	cmd := exec.CommandContext(t.Context(), mediatest.FFmpeg(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("decode: %v: %s", err, errs.String())
	}
	return out.Bytes()
}

// readNumber reads the number out of a luma plane.
func readNumber(plane []byte, w int) (n int) {
	for i := range stripBits {
		if plane[stripCell/2*w+i*stripCell+stripCell/2] > 126 {
			n |= 1 << i
		}
	}
	return n
}

// wantNumbers fails unless the film shows the frames 0, 1, ... frames-1.
func wantNumbers(t *testing.T, film string, w, h, frames int) {
	t.Helper()
	planes := luma(t, film, w, h)
	if len(planes) != frames {
		t.Errorf("the film has %d frames, want %d", len(planes), frames)
	}
	for i, p := range planes {
		if n := readNumber(p, w); n != i {
			t.Fatalf("frame %d shows number %d", i, n)
		}
	}
}

// options are those of a small film in a folder of its own.
func options(t *testing.T, w, h, fps, frames int) Options {
	t.Helper()
	spawn := proc.NewSpawner()
	t.Cleanup(func() {
		for _, c := range spawn.Live() {
			t.Errorf("process left: %s %d", c.Role, c.PID)
		}
		spawn.Close()
	})
	dir := t.TempDir()
	return Options{
		Width: w, Height: h, FPS: fps, Frames: frames, Quality: profile.Draft, Key: "test",
		Work: filepath.Join(dir, "work"), Out: filepath.Join(dir, "out.mp4"), Parallel: 2,
		FFmpeg: mediatest.FFmpeg(t), Spawn: spawn, Log: slog.New(slog.DiscardHandler),
	}
}

// must makes a film that can't fail, and checks what it leaves.
func must(t *testing.T, o Options, src Source) Result {
	t.Helper()
	res, err := Film(context.Background(), o, src)
	if err != nil {
		t.Fatal(err)
	}
	if res.Frames != o.Frames || res.Size <= 0 || len(res.SHA256) != 64 || res.Stretches != len(Stretches(o.Frames, o.FPS)) {
		t.Errorf("result %+v", res)
	}
	if left := files(t, o.Work); len(left) > 0 {
		t.Errorf("left in the work folder: %v", left)
	}
	noParts(t, o)
	return res
}

// noParts fails when something unfinished lies beside the film.
func noParts(t *testing.T, o Options) {
	t.Helper()
	for _, name := range files(t, filepath.Dir(o.Out)) {
		if name[0] == '.' {
			t.Errorf("%s lies beside the film", name)
		}
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (s *source) String() string { return fmt.Sprintf("%dx%d", s.w, s.h) }
