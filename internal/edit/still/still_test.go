package still

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/media/recording"
)

const (
	testW, testH = 320, 180 // a height that is no multiple of 16
	testFPS      = 30
	testFrames   = 8 * testFPS
)

// scene is what happens on a screen: draw alters the page for frame i.
type scene struct {
	name    string
	draw    func(s *screen, i int)
	still   []Stretch
	ignored []Kind
}

func once(draw func(s *screen)) func(*screen, int) {
	return func(s *screen, i int) {
		if i >= 4*testFPS {
			draw(s)
		}
	}
}

func blink(s *screen, i, period int, x, y, w, h int) {
	if i/period%2 == 0 {
		s.fill(x, y, w, h, 16)
	}
}

func scenes() []scene {
	halves := []Stretch{{0, ms(4000)}, {ms(4000), ms(8000)}}
	whole := []Stretch{{0, ms(8000)}}
	return []scene{
		{"nothing", func(*screen, int) {}, whole, nil},
		{"1 px", once(func(s *screen) { s.fill(101, 77, 1, 1, 100) }), halves, nil},
		{"1 px, faint", once(func(s *screen) { s.fill(101, 77, 1, 1, 205) }), halves, nil},
		{"1 px line", once(func(s *screen) { s.fill(20, 111, 200, 1, 205) }), halves, nil},
		{"one glyph", once(func(s *screen) { s.glyph(60, 150, 3, 120) }), halves, nil},
		{"72x72 box", once(func(s *screen) { s.fill(40, 50, 72, 72, 16) }), halves, nil},
		{"a hover's tint", once(func(s *screen) { s.fill(16, 64, 96, 24, 222) }), halves, nil},
		{"colour alone", once(func(s *screen) { s.tint(40, 100, 4, 4, 100, 160) }), halves, nil},
		{"the last column and row", once(func(s *screen) { s.fill(testW-1, testH-1, 1, 1, 120) }), halves, nil},
		{"caret", func(s *screen, i int) { blink(s, i, 15, 61, 101, 2, 18) }, whole, []Kind{Caret}},
		{"tall caret off the grid's beat", func(s *screen, i int) { blink(s, i*100/3, 530, 61, 101, 4, 39) }, whole, []Kind{Caret}},
		{"uneven caret", func(s *screen, i int) { // xterm: 0.6 s on, 0.3 s off
			if i%27 < 18 {
				s.fill(61, 101, 2, 13, 16)
			}
		}, whole, []Kind{Caret}},
		{"block caret", func(s *screen, i int) { blink(s, i, 18, 61, 101, 8, 16) }, whole, []Kind{Caret}},
		{"clock", func(s *screen, i int) { // the tens change at 5 s
			n := (i + 11) / testFPS
			s.glyph(60, 20, 100+n, 16)
			s.glyph(52, 20, 200+n/5, 16)
		}, whole, []Kind{Clock}},
		{"clock, and a large change on its beat over it", func(s *screen, i int) {
			if i >= 4*testFPS {
				s.fill(0, 0, 200, 100, 225)
			}
			s.glyph(60, 20, 100+i/testFPS, 16)
		}, halves, []Kind{Clock}},
		{"timer that starts and stops", func(s *screen, i int) { // its first and last sight are news
			s.glyph(60, 20, 100+max(0, min((i-30)/30, 5)), 16)
		}, []Stretch{{0, ms(2000)}, {ms(2000), ms(6000)}, {ms(6000), ms(8000)}}, []Kind{Clock}},
		{"caret and glyph beside it", func(s *screen, i int) {
			x := 61
			if i >= 4*testFPS { // typed: the glyph and the caret's way
				s.glyph(61, 101, 3, 16)
				x = 70
			}
			blink(s, i, 15, x, 101, 1, 18)
		}, halves, []Kind{Caret, Caret}},
		{"caret, and a change elsewhere on its beat", func(s *screen, i int) {
			blink(s, i, 15, 61, 101, 2, 18)
			if i >= 4*testFPS {
				s.glyph(200, 150, 3, 120)
			}
		}, halves, []Kind{Caret}},
		{"glyph that comes, goes and comes", func(s *screen, i int) { // no beat
			if (i > 30 && i < 70) || i > 140 {
				s.glyph(60, 150, 3, 120)
			}
		}, []Stretch{{0, tick(31)}, {tick(31), tick(70)}, {tick(70), tick(141)}, {tick(141), ms(8000)}}, nil},
		{"typing in an even beat", func(s *screen, i int) {
			n := i / 30
			for k := range n {
				s.glyph(40+8*k, 150, 5, 16)
			}
			s.fill(40+8*n, 150, 1, 16, 16)
		}, seconds(8), nil},
		{"typing narrow letters in an even beat", func(s *screen, i int) {
			n := i / 30
			for k := range n {
				s.fill(40+3*k, 150, 1, 12, 16)
			}
		}, seconds(8), nil},
		{"typing in an even beat, aligned right", func(s *screen, i int) {
			n := i / 30
			for k := range n {
				s.glyph(140-8*(n-k), 150, k, 16)
			}
		}, seconds(8), nil},
		{"spinner", func(s *screen, i int) {
			k := i / 3 % 8
			s.fill(100+[]int{0, 7, 10, 7, 0, -7, -10, -7}[k], 100+[]int{-10, -7, 0, 7, 10, 7, 0, -7}[k], 4, 4, 16)
		}, nil, nil},
		{"small text spinner", func(s *screen, i int) { s.glyph(60, 150, i/3%4, 16) }, nil, nil},
		{"slow fade", func(s *screen, i int) { // a step of one every two frames
			s.fill(32, 64, 64, 64, byte(235-i/2))
		}, nil, nil},
	}
}

func tick(n int64) time.Duration { return newCollector(testFPS).time(n) }

func seconds(n int) []Stretch {
	var out []Stretch
	for i := range n {
		out = append(out, Stretch{ms(1000 * i), ms(1000 * (i + 1))})
	}
	return out
}

func (sc scene) frames() []*screen {
	base := page(testW, testH)
	frames := make([]*screen, testFrames)
	for i := range frames {
		frames[i] = base.clone()
		sc.draw(frames[i], i)
	}
	return frames
}

func (sc scene) check(t *testing.T, got Analysis) {
	t.Helper()
	if diff := cmp.Diff(sc.still, got.Still); diff != "" {
		t.Errorf("still (-want +got):\n%s\nchanges: %v\nignored: %v", diff, got.Changes, got.Ignored)
	}
	var kinds []Kind
	for _, p := range got.Ignored {
		kinds = append(kinds, p.Kind)
	}
	if diff := cmp.Diff(sc.ignored, kinds); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
}

// What the encoder does to a screen must neither hide the smallest change nor
// look like one: every scene goes through x264 as the recorder runs it.
func TestDetectorOnEncodedFilms(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			sc.check(t, detect(t, testW, testH, testFPS, film(t, testFPS, encodeArgs(), sc.frames()...)))
		})
	}
}

// The damage log tells the same of the same scenes.
func TestFromDamage(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			frames := sc.frames()
			entries := []recording.Damage{{Rects: []recording.Rect{rect(0, 0, testW, testH)}}}
			for i := 1; i < len(frames); i++ {
				if r := damaged(frames[i-1], frames[i]); r.W > 0 {
					at := tick(int64(i)).Truncate(time.Millisecond) // as the log keeps it
					entries = append(entries, recording.Damage{At: at, Rects: []recording.Rect{r}})
				}
			}
			if sc.name == "caret, and a change elsewhere on its beat" {
				for i, e := range entries { // the capture told them apart
					if r := e.Rects[0]; r.W > 100 && i > 0 {
						entries[i].Rects = []recording.Rect{rect(60, 100, 4, 20), rect(200, 150, 8, 16)}
					}
				}
			}
			rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
			sc.check(t, FromDamage(entries, testFPS, ms(8000)))
		})
	}
}

// damaged is the box of what differs, on the chroma grid as captures log it.
func damaged(a, b *screen) recording.Rect {
	var box recording.Rect
	cw := (a.w + 1) / 2
	for y := range a.h {
		row, c := y*a.w, y/2*cw
		if bytes.Equal(a.y[row:][:a.w], b.y[row:][:a.w]) && bytes.Equal(a.u[c:][:cw], b.u[c:][:cw]) && bytes.Equal(a.v[c:][:cw], b.v[c:][:cw]) {
			continue
		}
		for x := range a.w {
			c := y/2*cw + x/2
			if a.y[y*a.w+x] != b.y[y*a.w+x] || a.u[c] != b.u[c] || a.v[c] != b.v[c] {
				box = union(box, rect(x&^1, y&^1, 2, 2))
			}
		}
	}
	return box
}

// The transcript says what changed where: the boxes must fit the change.
func TestChangesHaveTightBoxes(t *testing.T) {
	sc := scene{draw: func(s *screen, i int) {
		if i >= 60 {
			s.fill(40, 50, 72, 72, 16)
			s.fill(201, 151, 1, 1, 30)
		}
		if i >= 90 {
			s.fill(300, 10, 6, 6, 200)
		}
	}}
	frames := sc.frames()
	pics := make([]Picture, len(frames))
	for i, f := range frames {
		pics[i] = f.picture()
	}
	want := []Change{
		{ms(2000), ms(2000), []recording.Rect{rect(40, 50, 72, 72), rect(201, 151, 1, 1)}},
		{ms(3000), ms(3000), []recording.Rect{rect(300, 10, 6, 6)}},
	}
	if diff := cmp.Diff(want, detect(t, testW, testH, testFPS, pics).Changes); diff != "" {
		t.Error(diff)
	}
}

// Times outside the recording, empty boxes and empty logs must neither panic
// nor give a stretch that is not in the recording.
func TestFromDamageOddEntries(t *testing.T) {
	big := func(at int) recording.Damage {
		return recording.Damage{At: ms(at), Rects: []recording.Rect{rect(0, 0, 100, 100)}}
	}
	for _, tc := range []struct {
		name    string
		entries []recording.Damage
		length  time.Duration
		want    []Stretch
	}{
		{"none", nil, ms(2000), []Stretch{{0, ms(2000)}}},
		{"no length", []recording.Damage{big(0)}, 0, nil},
		{"before and after", []recording.Damage{big(-500), big(5000), big(1000)}, ms(2000), []Stretch{{0, ms(1000)}, {ms(1000), ms(2000)}}},
		{"empty boxes", []recording.Damage{{At: ms(1000), Rects: []recording.Rect{{}, {X: 4, W: -3, H: 5}}}}, ms(2000), []Stretch{{0, ms(2000)}}},
		{"at the end", []recording.Damage{big(2000)}, ms(2000), []Stretch{{0, ms(2000)}}},
		{"length off the grid", []recording.Damage{big(1000)}, ms(2015), []Stretch{{0, ms(1000)}, {ms(1000), ms(2015)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FromDamage(tc.entries, 25, tc.length).Still); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the log says, stretches are disjoint, in order, inside the
// recording, and hold no change but ignored ones.
func TestStretchesHoldNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fps := rapid.SampledFrom([]int{5, 15, 25, 30, 60}).Draw(t, "fps")
		length := time.Duration(rapid.IntRange(0, 20000).Draw(t, "length")) * time.Millisecond
		c := newCollector(fps)
		var entries []recording.Damage
		for at := int64(0); ; {
			at += int64(rapid.IntRange(1, 3*fps).Draw(t, "gap"))
			if c.time(at) >= length {
				break
			}
			x := rapid.IntRange(0, 40).Draw(t, "x")
			entries = append(entries, recording.Damage{
				At:    c.time(at).Truncate(time.Millisecond),
				Rects: []recording.Rect{rect(8*x, 0, rapid.IntRange(1, 200).Draw(t, "w"), 16)},
			})
		}
		a := FromDamage(entries, fps, length)
		last := time.Duration(0)
		for _, s := range a.Still {
			if s.From < last || s.To > length || s.To-s.From <= minStretch {
				t.Fatalf("stretch %v after %v in %v", s, last, length)
			}
			last = s.To
			for _, e := range entries {
				at := c.time(c.tick(e.At))
				if at > s.From && at < s.To && !slices.ContainsFunc(a.Ignored, func(p Periodic) bool {
					return at >= p.From && at <= p.To && union(p.Box, e.Rects[0]) == p.Box
				}) {
					t.Fatalf("the change at %v lies inside %v", at, s)
				}
			}
		}
	})
}

// A log of five minutes at 60 changes a second, or of as many blinks, must not
// become a list of as many entries.
func TestMemoryIsBounded(t *testing.T) {
	for name, box := range map[string]recording.Rect{"large": rect(0, 0, 900, 500), "small": rect(0, 0, 16, 16)} {
		c := newCollector(60)
		for i := int64(0); i < 60*300; i++ {
			c.add(i, []recording.Rect{box})
		}
		if n := len(c.spans) + len(c.loose); n > 700 {
			t.Errorf("%s: %d spans for 300 s", name, n)
		}
	}
}

// A log that a capture wrote: a page in Chromium with a blinking caret and a
// running clock, and one letter that appears after 6.6 s, on the clock's beat.
func TestRecordedLog(t *testing.T) {
	entries, err := recording.At("testdata/caret-clock").DamageEntries()
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
	got := FromDamage(entries, testFPS, ms(14400))
	want := []Stretch{{0, tick(199)}, {tick(199), ms(14400)}}
	if diff := cmp.Diff(want, got.Still); diff != "" {
		t.Errorf("%s\nchanges: %v\nignored: %v", diff, got.Changes, got.Ignored)
	}
}
