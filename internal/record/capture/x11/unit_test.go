package x11

import (
	"bytes"
	"encoding/binary"
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

const ms = time.Millisecond

// Guards when a frame is taken: settled, not before its tick, not much later.
func TestGridDue(t *testing.T) {
	tests := map[string]struct {
		fps               int
		last              int64
		first, lastDamage time.Duration
		want              time.Duration
	}{
		"first frame":                   {60, -1, 5 * ms, 5 * ms, 7 * ms},
		"long after the last":           {60, 0, 500 * ms, 500 * ms, 502 * ms},
		"painting goes on":              {60, 0, 500 * ms, 560 * ms, 500*ms + time.Second/60},
		"in the last frame's own tick":  {60, 60, 1001 * ms, 1001 * ms, 1016666667 - 8*ms},
		"in its lead":                   {60, 60, 1012 * ms, 1012 * ms, 1014 * ms},
		"slow grid, same tick":          {2, 2, 1100 * ms, 1100 * ms, 1500*ms - 8*ms},
		"slow grid, painting all along": {2, 2, 1100 * ms, 5000 * ms, 1500*ms - 8*ms + 500*ms},
	}
	for name, tc := range tests {
		g := newGrid(tc.fps)
		g.last = tc.last
		if got := g.due(tc.first, tc.lastDamage); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Guards the grid's promise over random arrivals: ticks rise, never more than
// one tick ahead of the clock, and a page that paints at the film's own rate
// with jitter loses no frame.
func TestGridKeepsEveryPaintOfItsOwnRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for phase := range 17 {
		g := newGrid(60)
		last := int64(-1)
		for i := range 2000 {
			jitter := time.Duration(r.Int64N(int64(4*ms))) - 2*ms
			paint := time.Duration(phase)*ms + time.Duration(i)*time.Second/60 + jitter + 10*ms
			next := time.Duration(phase)*ms + time.Duration(i+1)*time.Second/60 - 2*ms + 10*ms
			due := g.due(paint, paint)
			if due > next+4*ms {
				t.Fatalf("phase %d: paint %d at %v is taken at %v, after the next", phase, i, paint, due)
			}
			tick := g.take(paint)
			if tick <= last || tick > g.tick(due)+1 {
				t.Fatalf("phase %d: tick %d after %d at %v", phase, tick, last, due)
			}
			last = tick
		}
		if last > 2002+int64(phase) {
			t.Fatalf("phase %d: ran ahead to %d", phase, last)
		}
	}
}

func TestGridTickAndAtAgree(t *testing.T) {
	for fps := 1; fps <= 60; fps++ {
		g := newGrid(fps)
		for n := range int64(200) {
			if at := g.at(n); g.tick(at) != n || n > 0 && g.tick(at-1) != n-1 {
				t.Fatalf("fps %d: tick %d is at %v", fps, n, at)
			}
		}
	}
}

// Guards the plan: all damage is covered, on the chroma grid, within the
// memory that was made for one screen.
func TestPlanCoversTheDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		bounds := image.Rect(0, 0, 1+r.IntN(2000), 1+r.IntN(1200))
		var damage []image.Rectangle
		for range r.IntN(80) {
			x, y := r.IntN(2200)-100, r.IntN(1300)-100
			damage = append(damage, image.Rect(x, y, x+r.IntN(300), y+r.IntN(300)))
		}
		rects := plan(damage, bounds)
		if total(rects) > area(bounds) {
			t.Fatalf("%d pixels planned of %v", total(rects), bounds)
		}
		for _, p := range rects {
			if p.Empty() || p != pixel.Align(p, bounds) {
				t.Fatalf("%v is not on the grid of %v", p, bounds)
			}
		}
		for _, d := range damage {
			if d = d.Intersect(bounds); !d.Empty() && !covered(d, rects) {
				t.Fatalf("%v is not covered by %v", d, rects)
			}
		}
	}
}

// covered says whether the corners and the middle of d lie in rects: the plan
// only ever joins whole rectangles.
func covered(d image.Rectangle, rects []image.Rectangle) bool {
	for _, r := range rects {
		if d.In(r) {
			return true
		}
	}
	return false
}

func TestPlanJoinsWhatIsNear(t *testing.T) {
	bounds := image.Rect(0, 0, 1920, 1080)
	tests := map[string]struct{ in, want []image.Rectangle }{
		"nothing":      {nil, []image.Rectangle{}},
		"outside":      {[]image.Rectangle{image.Rect(3000, 0, 3010, 10)}, []image.Rectangle{}},
		"two glyphs":   {[]image.Rectangle{image.Rect(10, 10, 20, 30), image.Rect(40, 10, 50, 30)}, []image.Rectangle{image.Rect(10, 10, 50, 30)}},
		"far apart":    {[]image.Rectangle{image.Rect(0, 0, 10, 10), image.Rect(1900, 1000, 1920, 1080)}, []image.Rectangle{image.Rect(0, 0, 10, 10), image.Rect(1900, 1000, 1920, 1080)}},
		"odd glyph":    {[]image.Rectangle{image.Rect(11, 11, 12, 12)}, []image.Rectangle{image.Rect(10, 10, 12, 12)}},
		"chain of all": {[]image.Rectangle{image.Rect(0, 0, 100, 100), image.Rect(140, 0, 250, 150), image.Rect(50, 50, 150, 150)}, []image.Rectangle{image.Rect(0, 0, 250, 150)}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, plan(tc.in, bounds)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Guards the governor: it gives way within seconds, comes back when there is
// room, and does not swing.
func TestGovernor(t *testing.T) {
	g := newGovernor(60)
	second := func(frames, missed int, lag time.Duration, load float64) bool {
		for range frames {
			g.frame(lag)
		}
		for range missed {
			g.miss()
		}
		return g.judge(load)
	}
	step := func(what string, changed bool, rate int, want bool) {
		t.Helper()
		if changed != want || g.rate() != rate {
			t.Fatalf("%s: changed %v, rate %d, want %v, %d", what, changed, g.rate(), want, rate)
		}
	}
	step("calm", second(60, 0, 0, 0.3), 60, false)
	step("one bad second", second(30, 30, 0, 1), 60, false)
	step("two bad seconds", second(30, 30, 0, 1), 30, true)
	step("late ticks", second(30, 0, 20*ms, 0.5), 30, false)
	step("late ticks again", second(30, 0, 20*ms, 0.5), 20, true)
	for range 4 {
		step("calm again", second(20, 0, 0, 0.2), 20, false)
	}
	step("calm for five seconds", second(20, 0, 0, 0.2), 30, true)
	for range 8 {
		step("calm but without room", second(30, 0, 0, 0.6), 30, false)
	}
	step("room", second(30, 0, 0, 0.2), 60, true)
	second(30, 30, 0, 1)
	step("the raise was too early", second(30, 30, 0, 1), 30, true)
	for range 9 {
		step("so it waits twice as long", second(30, 0, 0, 0.2), 30, false)
	}
	step("and then raises", second(30, 0, 0, 0.2), 60, true)
	for range 20 {
		step("a still screen says nothing", second(1, 1, 0, 0), 60, false)
	}
}

// Guards the floor: a slow grid is not thinned out further.
func TestGovernorFloor(t *testing.T) {
	for fps, want := range map[int]int{1: 1, 5: 1, 9: 1, 10: 2, 15: 3, 30: 5, 60: 5} {
		if got := len(newGovernor(fps).strides); got != want {
			t.Errorf("fps %d: %d levels, want %d", fps, got, want)
		}
	}
}

func TestParseDisplay(t *testing.T) {
	good := map[string]address{
		":0": {"", 0, 0}, ":12.3": {"", 12, 3}, "unix:4": {"", 4, 0}, "host:1": {"host", 1, 0}, "::1:2.0": {"::1", 2, 0},
	}
	for name, want := range good {
		if got, err := parseDisplay(name); err != nil || got != want {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "0", ":", ":x", ":-1", ":1.", ":1.x", ":99999", "host:"} {
		if got, err := parseDisplay(name); err == nil {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

// entry is one record of an Xauthority file.
func entry(family uint16, addr, number, protocol, data string) []byte {
	b := binary.BigEndian.AppendUint16(nil, family)
	for _, f := range []string{addr, number, protocol, data} {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(f))), f...)
	}
	return b
}

// Guards the choice among entries: of another display, machine or protocol.
func TestFindCookie(t *testing.T) {
	want := strings.Repeat("k", 16)
	other := strings.Repeat("o", 16)
	tests := map[string]struct {
		file []byte
		ok   bool
	}{
		"local":          {entry(familyLocal, "me", "7", magicCookie, want), true},
		"wild":           {entry(familyWild, "", "7", magicCookie, want), true},
		"any number":     {entry(familyWild, "", "", magicCookie, want), true},
		"other display":  {entry(familyLocal, "me", "8", magicCookie, other), false},
		"other machine":  {entry(familyLocal, "you", "7", magicCookie, other), false},
		"other protocol": {entry(familyLocal, "me", "7", "XDM-AUTHORIZATION-1", other), false},
		"short cookie":   {entry(familyLocal, "me", "7", magicCookie, "abc"), false},
		"second entry":   {append(entry(familyLocal, "me", "8", magicCookie, other), entry(familyLocal, "me", "7", magicCookie, want)...), true},
		"torn":           {entry(familyLocal, "me", "7", magicCookie, want)[:20], false},
		"empty":          {nil, false},
	}
	for name, tc := range tests {
		got, err := address{number: 7}.findCookie(bytes.NewReader(tc.file), "me")
		if (err == nil) != tc.ok || tc.ok && string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// FuzzFindCookie feeds foreign bytes to the reader of Xauthority files: a
// cookie is 16 bytes or none, whatever they are.
func FuzzFindCookie(f *testing.F) {
	f.Add(entry(familyLocal, "me", "7", magicCookie, strings.Repeat("k", 16)))
	f.Add(entry(familyWild, "", "", "X", ""))
	f.Add([]byte{1, 0, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := address{number: 7}.findCookie(bytes.NewReader(file), "me")
		if err == nil && len(got) != 16 {
			t.Fatalf("cookie of %d bytes", len(got))
		}
	})
}

// Guards the blending in each layout: nothing, half and full cover, without
// overflow where the picture's colours are larger than its alpha (a broken one).
func TestBlend(t *testing.T) {
	tests := map[string]struct {
		format      pixel.Format
		under, over uint32
		want        uint32
	}{
		"full cover":     {pixel.BGRX, 0x00123456, 0xffaabbcc, 0xaabbcc},
		"half of black":  {pixel.BGRX, 0x00ffffff, 0x80000000, 0x7f7f7f},
		"overflow":       {pixel.BGRX, 0x00ffffff, 0x01ffffff, 0xffffff},
		"565 full":       {pixel.RGB565, 0x1234, 0xffff0000, 0xf800},
		"565 half":       {pixel.RGB565, 0xffff, 0x80000000, 0x7bef},
		"30-bit full":    {pixel.X2R10G10B10, 0, 0xffffffff, 0x3fffffff},
		"30-bit through": {pixel.X2R10G10B10, 0x3ff, 0x00000000, 0x3ff},
	}
	for name, tc := range tests {
		p := binary.LittleEndian.AppendUint32(nil, tc.under)
		blend(p, tc.over, tc.format)
		if got := binary.LittleEndian.Uint32(p); got != tc.want {
			t.Errorf("%s: %x, want %x", name, got, tc.want)
		}
	}
}
