package overlay

import (
	"image"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Guards truth: an eased pointer still is where it was when it clicked, and it
// doesn't jump on its way.
func TestPointerArrivesInTimeAndNeverJumps(t *testing.T) {
	clicks := []Click{{sec(1), Point{100, 100}, Left}, {sec(3), Point{900, 600}, Left}, {sec(3.3), Point{200, 50}, Right}, {sec(8), Point{210, 55}, Left}}
	path := NewPath([]Move{{sec(5), Point{700, 20}}}, clicks)
	for _, c := range clicks {
		if p, ok := path.At(c.At); !ok || p != c.Point {
			t.Errorf("at %v: %v, clicked at %v", c.At, p, c.Point)
		}
	}
	last, _ := path.At(0)
	for at := time.Duration(0); at < sec(10); at += sec(1.0 / 60) {
		p, _ := path.At(at)
		if d := math.Hypot(p.X-last.X, p.Y-last.Y); d > 110 {
			t.Errorf("at %v: %v pixels in a frame", at, d)
		}
		last = p
	}
	if _, ok := NewPath(nil, nil).At(0); ok {
		t.Error("a pointer that nobody saw is drawn")
	}
}

// Guards a real hand's path: close samples are followed, not eased over.
func TestDensePathIsFollowed(t *testing.T) {
	var moves []Move
	for i := range 50 {
		moves = append(moves, Move{time.Duration(i) * 16 * time.Millisecond, Point{float64(i * 20), 0}})
	}
	p, _ := NewPath(moves, nil).At(24 * 16 * time.Millisecond / 2)
	if math.Abs(p.X-240) > 0.01 {
		t.Errorf("%v, want 240", p.X)
	}
}

func TestRingEnds(t *testing.T) {
	for _, age := range []time.Duration{-1, RingTime, time.Hour} {
		if DrawRing(Point{}, Left, age, 20) != nil {
			t.Errorf("a ring at %v", age)
		}
	}
}

// Guards the caps: typing is a word, a shortcut stands alone, nothing overlaps.
func TestChords(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	got := Chords([]Key{
		{At: ms(200), Text: "i"},
		{At: ms(100), Text: "h"},
		{At: ms(300), Text: "S", Modifiers: []string{"Ctrl", "Shift"}},
		{At: ms(400), Text: "a"},
		{At: ms(3000), Text: "b"},
		{At: ms(3100), Text: "Enter"},
	})
	want := []Chord{
		{[]string{"h"}, ms(100), ms(200)},
		{[]string{"hi"}, ms(200), ms(300)},
		{[]string{"Ctrl", "Shift", "S"}, ms(300), ms(400)},
		{[]string{"a"}, ms(400), ms(1900)},
		{[]string{"b"}, ms(3000), ms(3100)},
		{[]string{"Enter"}, ms(3100), ms(4600)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, caps := range [][]string{nil, {""}, {"…", "漢", "🎉", "a very long name of a key that no keyboard has"}} {
		if _, err := DrawKeys(typeset.New(), caps, image.Pt(10, 10), 1); err != nil {
			t.Errorf("%q: %v", caps, err)
		}
	}
}

// Guards the zoom: the view stays inside the picture with its aspect, moves
// smoothly, holds every click while it happens, and comes back.
func TestCamera(t *testing.T) {
	clicks := []Click{{sec(2), Point{5, 5}, Left}, {sec(3), Point{1915, 1075}, Left}, {sec(3.1), Point{900, 20}, Left}, {sec(12), Point{400, 900}, Left}}
	c := NewCamera(1920, 1080, clicks, DefaultZoom())
	last := c.At(0)
	for at := time.Duration(0); at < sec(20); at += sec(1.0 / 60) {
		v := c.At(at)
		if v.X < -1e-6 || v.Y < -1e-6 || v.X+v.W > 1920+1e-6 || v.Y+v.H > 1080+1e-6 || math.Abs(v.W/v.H-1920.0/1080) > 1e-6 {
			t.Fatalf("at %v: %+v", at, v)
		}
		if d := math.Abs(v.X-last.X) + math.Abs(v.W-last.W); d > 160 {
			t.Errorf("at %v: the view jumps by %.0f", at, d)
		}
		last = v
	}
	if !c.Whole(c.At(0)) || !c.Whole(c.At(sec(8))) || !c.Whole(c.At(sec(19))) {
		t.Error("the camera doesn't come back")
	}
	for _, click := range []Click{clicks[0], clicks[3]} {
		if p := c.At(click.At).Project(click.Point, 1280, 720); p.X < 0 || p.X > 1280 || p.Y < 0 || p.Y > 720 || c.At(click.At).W > 1200 {
			t.Errorf("click at %v isn't close: %+v in %+v", click.At, p, c.At(click.At))
		}
	}
}

// Guards the sampling: the whole view at the same size is the same picture.
func TestRenderWholeIsIdentity(t *testing.T) {
	src, dst := frame(t, 64, 48), frame(t, 64, 48)
	for i := range src.Data {
		src.Data[i] = byte(i * 7)
	}
	Render(dst, src, View{0, 0, 64, 48})
	if string(src.Data) != string(dst.Data) {
		t.Error("the picture changed")
	}
	Render(frame(t, 1280, 720), src, View{-5, -5, 200, 100}) // outside: edges repeat
}

func TestBackdropRefuses(t *testing.T) {
	if _, err := NewBackdrop(10, 10); err == nil {
		t.Error("a tiny backdrop")
	}
	b, err := NewBackdrop(640, 360)
	if err != nil {
		t.Fatal(err)
	}
	if b.Compose(frame(t, 640, 360), frame(t, 64, 36)) == nil {
		t.Error("a picture of a wrong size")
	}
}
