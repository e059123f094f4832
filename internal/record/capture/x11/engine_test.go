package x11

import (
	"bytes"
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/record/capture"
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

// settled waits until nothing comes any more: for tests in which nothing should.
func settled(t *testing.T, e *Engine, tp *tape) {
	t.Helper()
	for quiet := 0; quiet < 6; {
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

// Guards the shortest change: one pixel, for one tick, is in the film.
func TestOnePixelForOneTick(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	settled(t, e, tp)
	before := tp.count()
	p.fill(0xffffff, image.Rect(101, 77, 102, 78))
	time.Sleep(time.Second / 60)
	p.fill(0, image.Rect(101, 77, 102, 78))
	settled(t, e, tp)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, f := range tp.decode(t, w, h)[before:] {
		seen = seen || f[77*w+101] == 235
	}
	// A neighbour may have held us up for longer than the pixel was there;
	// then it must have been reported.
	if !seen && e.Stats().Dropped == 0 {
		t.Error("the pixel is not in the film, and no frame was reported as dropped")
	}
}

// Guards the filter: repaints with equal pixels cost no frame.
func TestEqualRepaintIsNoFrame(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	p.fill(0x808080, image.Rect(0, 0, w, h))
	tp := newTape()
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	for range 50 {
		p.fill(0x808080, image.Rect(3, 3, 200, 100))
		time.Sleep(4 * time.Millisecond)
	}
	settled(t, e, tp)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if s := e.Stats(); s.Distinct != 1 || len(tp.changes) != 1 {
		t.Errorf("%+v, %d changes", s, len(tp.changes))
	}
}

// Guards the rate: however fast the screen changes, at most one frame a tick,
// on the grid, and the last picture is the last painted.
func TestFastPainterStaysOnTheGrid(t *testing.T) {
	const w, h, fps = 160, 120, 30
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	cfg := config(t, spawn, display, w, h, fps)
	_, stop := film(t, cfg, tp)
	for i := range uint32(1500) {
		p.fill(i*0x010305, image.Rect(0, 0, w, h))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	end := cfg.Tick(cfg.Now()) + 1
	for i, f := range tp.frames {
		if f.Tick > end || i > 0 && f.Tick <= tp.frames[i-1].Tick {
			t.Fatalf("frame %d: tick %d (end %d)", i, f.Tick, end)
		}
	}
	film := tp.decode(t, w, h)
	if !bytes.Equal(film[len(film)-1], picture(t, p, w, h, pixel.BGRX)) {
		t.Error("the last picture is not the screen's")
	}
}

// Guards the queue: behind a slow disk the newest picture wins, memory does not
// grow, and what was dropped is counted and told.
func TestSlowSinkDropsOldFrames(t *testing.T) {
	const w, h = 160, 120
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	tp.slow = 100 * time.Millisecond
	e, stop := film(t, config(t, spawn, display, w, h, 60), tp)
	for start, i := time.Now(), uint32(0); time.Since(start) < 1500*time.Millisecond; i++ {
		p.fill(i*0x010305, image.Rect(0, 0, w, h))
		time.Sleep(5 * time.Millisecond)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s := e.Stats()
	if s.Dropped < 10 || eventsOf(tp, capture.EventDropped) == "" {
		t.Errorf("%+v, events %q", s, eventsOf(tp, capture.EventDropped))
	}
	film := tp.decode(t, w, h)
	if !bytes.Equal(film[len(film)-1], picture(t, p, w, h, pixel.BGRX)) {
		t.Error("the last picture is not the screen's")
	}
}

// Guards segments: while something changes now and then, keyframes are never
// more than about a second apart, so that each second can begin a segment. The
// still stretch before must not be made up for by a run of keyframes.
func TestKeyframesByTime(t *testing.T) {
	const w, h, fps = 160, 120, 60
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	tp := newTape()
	cfg := config(t, spawn, display, w, h, fps)
	cfg.Encode = profile.Recording().Args()
	e, stop := film(t, cfg, tp)
	held := func(n int) func() bool {
		return func() bool { tp.mu.Lock(); defer tp.mu.Unlock(); return len(tp.holds) >= n }
	}
	eventually(t, "three holds", held(3))
	for i := range uint32(16) {
		p.fill(0xffffff*(i&1), image.Rect(10, 10, 20, 20))
		time.Sleep(150 * time.Millisecond)
	}
	eventually(t, "two holds more", held(5))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	last := tp.frames[len(tp.frames)-1]
	if !last.Key {
		t.Error("the screen is held on a frame that is no keyframe")
	}
	keys, key := 0, tp.frames[1].Tick
	for _, f := range tp.frames[1:] {
		if !f.Key {
			continue
		}
		if keys++; f.Tick-key > 2*fps { // half of it is a busy machine's
			t.Errorf("no keyframe from tick %d to %d", key, f.Tick)
		}
		key = f.Tick
	}
	if keys < 3 || keys > 8 {
		t.Errorf("%d keyframes in %d ticks", keys, last.Tick)
	}
	if s := e.Stats(); s.Captured-s.Distinct < 1 {
		t.Errorf("%+v: no keepalive", s)
	}
}

// Guards the slower ways and the other visuals: right colours, and the reason told.
func TestOtherServers(t *testing.T) {
	tests := map[string]struct {
		depth  int
		args   []string
		format pixel.Format
		why    string // what the fallback's event must say
	}{
		"16 bit":           {depth: 16, format: pixel.RGB565},
		"30 bit":           {depth: 30, format: pixel.X2R10G10B10},
		"no DAMAGE":        {depth: 24, args: []string{"-extension", "DAMAGE"}, why: "looked at each tick: the X server reports no damage: it has no DAMAGE"},
		"no MIT-SHM":       {depth: 24, args: []string{"-extension", "MIT-SHM"}, why: "through the socket: the X server shares no memory: it has no MIT-SHM"},
		"16 bit by socket": {depth: 16, format: pixel.RGB565, args: []string{"-extension", "MIT-SHM"}, why: "socket"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			const w, h = 161, 119 // odd, so that rows of 16-bit pixels are padded
			spawn := newSpawner(t)
			display, _ := xvfb(t, spawn, w, h, tc.depth, tc.args...)
			p := newPainter(t, display)
			tp := newTape()
			e, stop := film(t, config(t, spawn, display, w, h, 30), tp)
			p.fill(0x3fffffff, image.Rect(0, 0, w, h))
			p.fill(0x0000f81f, image.Rect(11, 13, 97, 55))
			p.settle(e, tp, w-1, h-1)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			film := tp.decode(t, w, h)
			if !bytes.Equal(film[len(film)-1], picture(t, p, w, h, tc.format)) {
				t.Error("the last picture is not the screen's")
			}
			if got := eventsOf(tp, capture.EventFallback); !strings.Contains(got, tc.why) || (got == "") != (tc.why == "") {
				t.Errorf("fallback %q, want %q", got, tc.why)
			}
		})
	}
}

// Guards two recorders on one display: neither takes the other's damage.
func TestTwoEnginesOnOneDisplay(t *testing.T) {
	const w, h = 320, 240
	spawn := newSpawner(t)
	display, _ := xvfb(t, spawn, w, h, 24)
	p := newPainter(t, display)
	one, two := newTape(), newTape()
	e1, stop1 := film(t, config(t, spawn, display, w, h, 60), one)
	e2, stop2 := film(t, config(t, spawn, display, w, h, 30), two)
	for i := range 20 {
		p.fill(uint32(i)*0x0a0b0c, image.Rect(i*3, i*5, i*3+40, i*5+40))
		time.Sleep(10 * time.Millisecond)
	}
	p.settle(e1, one, w-1, h-1)
	p.settle(e2, two, w-1, h-1)
	if err := errors.Join(stop1(), stop2()); err != nil {
		t.Fatal(err)
	}
	want := picture(t, p, w, h, pixel.BGRX)
	for i, tp := range []*tape{one, two} {
		film := tp.decode(t, w, h)
		if !bytes.Equal(film[len(film)-1], want) {
			t.Errorf("engine %d: the last picture is not the screen's", i+1)
		}
	}
}
