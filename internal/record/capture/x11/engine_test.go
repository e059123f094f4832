package x11

import (
	"bytes"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// picture is the I420 of what the screen shows now.
func picture(t *testing.T, p *painter, w, h int, format pixel.Format) []byte {
	t.Helper()
	f, err := pixel.NewFrame(w, h)
	if err != nil {
		t.Fatal(err)
	}
	stride := (w*format.BytesPerPixel() + 3) &^ 3
	if _, err := pixel.Convert(f, f.Bounds(), p.pixels(w, h), stride, format); err != nil {
		t.Fatal(err)
	}
	return f.Data
}

// Damage fuzz: whatever is painted, with odd edges and overlaps, the film's
// last picture at each settled moment is the screen's own, sample for sample.
func TestFilmEqualsTheScreen(t *testing.T) {
	const w, h = 321, 243
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	cfg := config(t, spawn, display, w, h, 60)
	e, stop := film(t, cfg, tp)

	rnd := rand.New(rand.NewPCG(5, 6))
	type moment struct {
		frames int
		want   []byte
	}
	var moments []moment
	for range 60 {
		for range 1 + rnd.IntN(5) {
			var rects []image.Rectangle
			for range 1 + rnd.IntN(20) {
				x, y := rnd.IntN(w), rnd.IntN(h)
				rects = append(rects, image.Rect(x, y, x+1+rnd.IntN(60), y+1+rnd.IntN(60)))
			}
			p.fill(rnd.Uint32()&0xffffff, rects...)
		}
		settled(t, e, tp)
		moments = append(moments, moment{tp.count(), picture(t, p, w, h, pixel.BGRX)})
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	film := tp.decode(t, w, h)
	for i, m := range moments {
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

// settled waits until the film has what was painted: no new frame for a while
// and everything that went in has come out.
func settled(t *testing.T, e *Engine, tp *tape) {
	t.Helper()
	for quiet := 0; quiet < 4; {
		before := tp.count()
		time.Sleep(25 * time.Millisecond)
		if tp.count() == before && int64(before) == e.Stats().Captured {
			quiet++
		} else {
			quiet = 0
		}
	}
}

// A still screen costs no frame: one keyframe, then holds once a second.
func TestStillScreenIsHeld(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	tp := newTape()
	_, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	eventually(t, "three holds", func() bool { tp.mu.Lock(); defer tp.mu.Unlock(); return len(tp.holds) >= 3 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if n := len(tp.frames); n != 1 || !tp.frames[0].Key {
		t.Errorf("%d frames on a still screen, key %v", n, tp.frames[0].Key)
	}
	last := tp.frames[0].Tick
	for _, hold := range tp.holds {
		if hold < last+50 {
			t.Errorf("hold at %d after %d", hold, last)
		}
		last = hold
	}
}
