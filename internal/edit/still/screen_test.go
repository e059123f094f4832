package still

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// screen is a drawn screen in I420.
type screen struct {
	w, h    int
	y, u, v []byte
}

func newScreen(w, h int, luma byte) *screen {
	s := &screen{w: w, h: h, y: bytes.Repeat([]byte{luma}, w*h)}
	c := (w + 1) / 2 * ((h + 1) / 2)
	s.u, s.v = bytes.Repeat([]byte{128}, c), bytes.Repeat([]byte{128}, c)
	return s
}

func (s *screen) clone() *screen {
	return &screen{s.w, s.h, bytes.Clone(s.y), bytes.Clone(s.u), bytes.Clone(s.v)}
}

func (s *screen) picture() Picture {
	return Picture{Y: s.y, U: s.u, V: s.v, YStride: s.w, CStride: (s.w + 1) / 2}
}

func (s *screen) raw() []byte { return bytes.Join([][]byte{s.y, s.u, s.v}, nil) }

func (s *screen) fill(x, y, w, h int, luma byte) {
	for row := y; row < min(y+h, s.h); row++ {
		for col := x; col < min(x+w, s.w); col++ {
			s.y[row*s.w+col] = luma
		}
	}
}

func (s *screen) tint(x, y, w, h int, u, v byte) {
	cw := (s.w + 1) / 2
	for row := y / 2; row < (y+h+1)/2; row++ {
		for col := x / 2; col < (x+w+1)/2; col++ {
			s.u[row*cw+col], s.v[row*cw+col] = u, v
		}
	}
}

// glyph draws an 8x16 letter: strokes with soft edges, another one for each n.
func (s *screen) glyph(x, y, n int, ink byte) {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for range 3 {
		if r.IntN(2) == 0 {
			cx := x + 1 + r.IntN(5)
			s.fill(cx, y+3, 1, 10, ink)
			s.blend(cx+1, y+3, 1, 10, ink)
		} else {
			s.fill(x+1, y+3+r.IntN(9), 6, 1, ink)
		}
	}
}

func (s *screen) blend(x, y, w, h int, ink byte) {
	for row := y; row < min(y+h, s.h); row++ {
		for col := x; col < min(x+w, s.w); col++ {
			at := row*s.w + col
			s.y[at] = byte((int(s.y[at]) + int(ink)) / 2)
		}
	}
}

// page draws what is on screens: text in several inks, a panel, lines, a
// gradient and a photograph.
func page(w, h int) *screen {
	s := newScreen(w, h, 235)
	s.fill(0, 0, w, 40, 50)
	s.fill(0, 40, 180, h, 225)
	for row := range (h - 80) / 20 {
		for col := range (w - 420) / 8 {
			if (row*7+col*3)%11 > 2 {
				s.glyph(190+col*8, 50+row*20, row*31+col%97, []byte{16, 60, 120, 180}[row%4])
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for y := 60; y < h/2; y++ {
		for x := w - 220; x < w-10; x++ {
			s.y[y*w+x] = byte(60 + (x+y)%100 + r.IntN(24)) // grain
		}
	}
	for y := h / 2; y < h-20; y++ {
		for x := w - 220; x < w-10; x++ {
			s.y[y*w+x] = byte(40 + (y-h/2)*180/h)
		}
	}
	s.tint(w-220, 60, 210, h/2, 100, 150)
	s.tint(0, 0, w, 40, 170, 100)
	return s
}

// encodeArgs are ffmpeg's arguments for an encode as the recorder's.
func encodeArgs() []string { return profile.Recording().Args() }

// film encodes frames as the recorder does and gives the decoded ones.
func film(t testing.TB, fps int, args []string, frames ...*screen) []Picture {
	t.Helper()
	w, h := frames[0].w, frames[0].h
	size := fmt.Sprintf("%dx%d", w, h)
	enc := exec.Command(mediatest.FFmpeg(t), append(append([]string{
		"-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", size, "-r", fmt.Sprint(fps), "-i", "-",
	}, args...), "-f", "matroska", "-")...)
	var in, mkv, errs bytes.Buffer
	for _, f := range frames {
		in.Write(f.raw())
	}
	enc.Stdin, enc.Stdout, enc.Stderr = &in, &mkv, &errs
	if err := enc.Run(); err != nil {
		t.Fatalf("encode: %v: %s", err, errs.String())
	}
	dec := exec.Command(mediatest.FFmpeg(t), "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vsync", "passthrough", "-")
	var raw bytes.Buffer
	dec.Stdin, dec.Stdout, dec.Stderr = &mkv, &raw, &errs
	if err := dec.Run(); err != nil {
		t.Fatalf("decode: %v: %s", err, errs.String())
	}
	n := w*h + 2*((w+1)/2*((h+1)/2))
	if raw.Len() != n*len(frames) {
		t.Fatalf("decoded %d bytes, want %d frames of %d", raw.Len(), len(frames), n)
	}
	pics := make([]Picture, len(frames))
	for i := range pics {
		b := raw.Bytes()[i*n : (i+1)*n]
		c := (n - w*h) / 2
		pics[i] = Picture{Y: b[:w*h], U: b[w*h : w*h+c], V: b[w*h+c:], YStride: w, CStride: (w + 1) / 2}
	}
	return pics
}

// detect runs a detector over pictures at a steady rate.
func detect(t testing.TB, w, h, fps int, pics []Picture) Analysis {
	t.Helper()
	d := NewDetector(w, h, fps)
	for i, p := range pics {
		if err := d.Add(d.out.time(int64(i)), p); err != nil {
			t.Fatal(err)
		}
	}
	return d.Finish(d.out.time(int64(len(pics))))
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func rect(x, y, w, h int) recording.Rect { return recording.Rect{X: x, Y: y, W: w, H: h} }
