package x11

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// server is an X server that the tests film.
type server struct {
	program, pkg string
	args         func(t *testing.T, w, h int) []string
	nested       bool // it needs a display itself
}

// servers are those whose damage and pixels must be right: each has a code of
// its own between the drawing and the report of damage.
func servers() []server {
	return []server{
		{program: "Xvfb", pkg: "xvfb", args: func(_ *testing.T, w, h int) []string {
			return []string{"-screen", "0", fmt.Sprintf("%dx%dx24", w, h)}
		}},
		{program: "Xvnc", pkg: "tigervnc-standalone-server", args: func(t *testing.T, w, h int) []string {
			return []string{
				"-geometry", fmt.Sprintf("%dx%d", w, h), "-depth", "24", "-SecurityTypes", "None",
				"-rfbport", "-1", "-rfbunixpath", filepath.Join(t.TempDir(), "rfb"),
			}
		}},
		{program: "Xephyr", pkg: "xserver-xephyr", nested: true, args: func(_ *testing.T, w, h int) []string {
			return []string{"-screen", fmt.Sprintf("%dx%dx24", w, h)}
		}},
	}
}

// start starts a server of w by h pixels and returns its display's name.
func (s server) start(t *testing.T, spawn *proc.Spawner, w, h int) string {
	t.Helper()
	path := need(t, s.program, s.pkg)
	env := os.Environ()
	if s.nested {
		outer, _ := xvfb(t, spawn, 2*w, 2*h, 24)
		env = append(env, "DISPLAY="+outer)
	}
	display, _ := startServer(t, spawn, path, env, s.args(t, w, h))
	return display
}

// Damage fuzz: whatever is painted, with odd edges and overlaps, the film's
// last picture at each settled moment is the screen's own, sample for sample.
// Some 5,000 rectangles on Xvfb, 1,200 on each of the others.
func TestFilmEqualsTheScreen(t *testing.T) {
	for _, s := range servers() {
		t.Run(s.program, func(t *testing.T) {
			moments := 40
			if s.program == "Xvfb" {
				moments = 160
			}
			const w, h = 321, 243
			spawn := newSpawner(t)
			fuzzDamage(t, spawn, s.start(t, spawn, w, h), w, h, moments)
		})
	}
}

// fuzzDamage paints at random and compares the film with the screen at so many
// moments.
func fuzzDamage(t *testing.T, spawn *proc.Spawner, display string, w, h, moments int) {
	t.Helper()
	p := newPainter(t, display)
	tp := newTape()
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	if got := eventsOf(tp, "fallback"); got != "" {
		t.Errorf("fell back: %s", got)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	type moment struct {
		frames int
		want   []byte
	}
	var all []moment
	for range moments {
		for range 1 + rnd.IntN(5) {
			var rects []image.Rectangle
			for range 1 + rnd.IntN(20) {
				x, y := rnd.IntN(w-2*mark), rnd.IntN(h-2*mark)
				rects = append(rects, image.Rect(x, y, x+1+rnd.IntN(min(60, w-mark-x)), y+1+rnd.IntN(min(60, h-mark-y))))
			}
			p.fill(rnd.Uint32()&0xffffff, rects...)
		}
		p.settle(e, tp, w-1, h-1)
		all = append(all, moment{tp.count(), picture(t, p, w, h, pixel.BGRX)})
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	film := tp.decode(t, w, h)
	for i, m := range all {
		if !bytes.Equal(film[m.frames-1], m.want) {
			t.Fatalf("moment %d (frame %d) differs from the screen", i, m.frames-1)
		}
	}
	if s := e.Stats(); s.Captured != int64(len(film)) || s.Dropped != 0 {
		t.Errorf("stats %+v for %d frames", s, len(film))
	}
	for i := 1; i < len(tp.frames); i++ {
		if tp.frames[i].Tick <= tp.frames[i-1].Tick {
			t.Fatalf("ticks %d, %d", tp.frames[i-1].Tick, tp.frames[i].Tick)
		}
	}
}
