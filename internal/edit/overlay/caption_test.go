package overlay

import (
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func kinds(t *testing.T, tr *Track, at time.Duration) []image.Rectangle {
	t.Helper()
	shown, err := tr.At(at)
	if err != nil {
		t.Fatal(err)
	}
	var all []image.Rectangle
	for _, s := range shown {
		if s.Opacity < 1 || s.Opacity > Opaque {
			t.Errorf("at %v: opacity %d", at, s.Opacity)
		}
		all = append(all, s.Sprite.Bounds())
	}
	return all
}

// Guards the order: the result stands under its step, top and bottom, and the
// step doesn't move when its result comes.
func TestResultStandsUnderItsStep(t *testing.T) {
	for _, p := range []Position{Top, Bottom} {
		tr := track(t, 1280, 720, p,
			Caption{Step, "A step", 0, sec(6)}, Caption{Failed, "It went wrong, and this takes two lines because a lot of words are needed to say in which way it did so, alas", sec(2), sec(6)},
			Caption{Step, "The next", sec(6), sec(9)})
		alone, both := kinds(t, tr, sec(1)), kinds(t, tr, sec(3))
		if len(alone) != 1 || len(both) != 2 {
			t.Fatalf("position %d: %d and %d pills", p, len(alone), len(both))
		}
		if alone[0] != both[0] {
			t.Errorf("position %d: the step moved from %v to %v", p, alone[0], both[0])
		}
		if both[1].Min.Y <= both[0].Min.Y || both[1].Max.Y > 720-40 && p == Bottom {
			t.Errorf("position %d: result %v, step %v", p, both[1], both[0])
		}
		if next := kinds(t, tr, sec(6)); len(next) != 1 {
			t.Errorf("position %d: the next step leaves %d pills", p, len(next))
		}
	}
}

// Guards the grid: half a pixel, or odd chroma, blurs the edges of a pill.
func TestPlacesAreEvenAndInside(t *testing.T) {
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 1278, Y: 718}, {X: 854, Y: 480}, {X: 390, Y: 844}, {X: 3840, Y: 2160}} {
		for _, text := range []string{"a", "abc", strings.Repeat("word ", 60)} {
			tr := track(t, size.X, size.Y, Top, long(Step, text), long(Passed, text), long(Skip, "3 min later"), long(Speed, "4x"))
			shown, err := tr.At(0)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range shown {
				b := s.Sprite.Bounds()
				if b.Min.X%2 != 0 || b.Min.Y%2 != 0 || b.Dx()%2 != 0 || b.Dy()%2 != 0 {
					t.Errorf("%v: sprite %d at %v is off the grid", size, i, b)
				}
				if p := tr.pills[i]; p != nil && !b.Inset(p.margin).In(image.Rect(0, 0, size.X, size.Y)) {
					t.Errorf("%v: pill %d at %v leaves the frame", size, i, b)
				}
			}
			for i, a := range shown[2:] {
				for _, b := range shown[:2] {
					if a.Sprite.Bounds().Overlaps(b.Sprite.Bounds()) {
						t.Errorf("%v: mark %d covers a caption", size, i)
					}
				}
			}
		}
	}
}

// Guards the fade: a caption is there from its first frame to its last, and a
// change of text doesn't flicker.
func TestFade(t *testing.T) {
	f := time.Second / 15
	tr := track(t, 640, 360, Top, Caption{Step, "one", sec(1), sec(4)}, Caption{Step, "two", sec(4), sec(7)})
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{sec(1) - 1, 0}, {sec(1), 128}, {sec(1) + f, 256}, {sec(4) - f, 256}, {sec(4), 256}, {sec(7) - f, 128}, {sec(7), 0}} {
		shown, err := tr.At(c.at)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, s := range shown {
			got += s.Opacity
		}
		if got < c.want-1 || got > c.want+1 {
			t.Errorf("at %v: opacity %d, want %d", c.at, got, c.want)
		}
	}
}

// Guards against captions that can't be read: a long frame is never half drawn,
// and the two seconds that a caption is up at least are in full.
func TestFadeTakesNoReadingTime(t *testing.T) {
	for _, fps := range []int{1, 2, 5, 7, 15, 30} {
		f := time.Second / time.Duration(fps)
		for _, length := range []time.Duration{2 * time.Second, 2*time.Second + f, 4 * time.Second} {
			set := typeset.New()
			tr, err := NewTrack(set, []Caption{{Step, "one", 0, length}, {Passed, "good", 0, length}}, Screen{Width: 320, Height: 180, Frame: f})
			if err != nil {
				t.Fatal(err)
			}
			var full time.Duration
			for at := time.Duration(0); at < length; at += f {
				shown, err := tr.At(at)
				if err != nil || len(shown) != 2 {
					t.Fatalf("at %v: %d captions, %v", at, len(shown), err)
				}
				switch {
				case shown[0].Opacity == Opaque && shown[1].Opacity == Opaque:
					full += min(f, length-at)
				case f > 130*time.Millisecond:
					t.Errorf("%d fps, at %v: opacity %d", fps, at, shown[0].Opacity)
				}
			}
			if full < 2*time.Second-time.Millisecond {
				t.Errorf("%d fps: of %v, %v in full", fps, length, full)
			}
		}
	}
}

// Guards memory: pictures of a thousand steps mustn't pile up.
func TestPicturesAreForgotten(t *testing.T) {
	var all []Caption
	for i := range 150 {
		at := time.Duration(i) * time.Second
		all = append(all, Caption{Step, "step", at, at + time.Second}, Caption{Passed, "ok", at + time.Second/2, at + time.Second})
	}
	tr := track(t, 320, 180, Bottom, all...)
	for i := range 150 {
		if _, err := tr.At(time.Duration(i)*time.Second + 600*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if len(tr.sprites) > 3 || len(tr.pills) > 130 {
			t.Fatalf("after %d s: %d pictures, %d pills are kept", i, len(tr.sprites), len(tr.pills))
		}
	}
}

// Guards against a text that breaks the clip.
func TestHostileTexts(t *testing.T) {
	set := typeset.New()
	for _, text := range []string{
		"", " ", "\x00\x01\x02", "\u202e\u2066", strings.Repeat("x", 100_000), strings.Repeat("é̀́", 3000),
		strings.Repeat("👩‍💻", 2000), strings.Repeat("\u200d", 5000), "\xff\xfe", strings.Repeat("ا ", 2000),
	} {
		all := []Caption{long(Step, text), long(Failed, text), long(Skip, text), long(Speed, text)}
		for _, p := range []Position{Top, Bottom} {
			tr, err := NewTrack(set, all, Screen{Width: 320, Height: 180, Position: p, Frame: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			blend(t, tr, light(320, 180))
		}
	}
}

func TestNewTrackRefuses(t *testing.T) {
	for _, s := range []Screen{{}, {Width: 63, Height: 100, Frame: 1}, {Width: 100, Height: 63, Frame: 1}, {Width: 100, Height: 100}} {
		if _, err := NewTrack(typeset.New(), nil, s); !errors.Is(err, ErrScreen) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	tr := track(t, 64, 64, Top, long(Step, "as small as it gets"), Caption{Kind: Step, In: 2, Out: 1})
	if len(tr.captions) != 1 {
		t.Error("a caption that ends before it begins is kept")
	}
	blend(t, tr, light(64, 64))
}
