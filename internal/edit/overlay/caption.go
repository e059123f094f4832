package overlay

import (
	"errors"
	"fmt"
	"image"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Kind is what a caption tells.
type Kind int

// The kinds of captions.
const (
	Step   Kind = iota // what is being done
	Passed             // its result: as it should be
	Failed             // its result: wrong
	Skip               // how much time was cut out, "18 s later"
	Speed              // how fast the clip runs, "2x"
)

// Caption is a text with the clip times between which it is up: In is its
// first moment, Out the first without it.
type Caption struct {
	Kind    Kind
	Text    string
	In, Out time.Duration
}

// Position is where steps and results stand.
type Position int

// The places of steps and results.
const (
	Top    Position = iota // at the top centre, the result under its step
	Bottom                 // above a dock or taskbar, the step over its result
)

// Screen is the clip's frame.
type Screen struct {
	// Width and Height in pixels, at least 64 each.
	Width, Height int
	// Position of the captions. Skip and speed stand in the right corner of
	// the other edge.
	Position Position
	// Frame is the time of one frame. A caption that comes from nothing or
	// goes into nothing fades for two of them, unless they are long; one that
	// replaces another doesn't, for text that flickers is read twice.
	Frame time.Duration
}

// ErrScreen is the error of a frame that is too small for captions.
var ErrScreen = errors.New("overlay: a frame needs at least 64x64 pixels and a time")

// Track is the captions of one clip. Pictures are drawn when their time comes
// and dropped after it, so a thousand captions need no more memory than three.
// It is for one goroutine, and fastest when times only grow.
type Track struct {
	set      *typeset.Setter
	screen   Screen
	captions []Caption // by In
	sprites  map[int]*Sprite
	pills    map[int]*pill
}

// NewTrack takes the captions in any order. Those that end before they begin
// are left out.
func NewTrack(set *typeset.Setter, captions []Caption, screen Screen) (*Track, error) {
	if screen.Width < 64 || screen.Height < 64 || screen.Frame <= 0 {
		return nil, fmt.Errorf("%w: %dx%d, %v", ErrScreen, screen.Width, screen.Height, screen.Frame)
	}
	t := &Track{set: set, screen: screen, sprites: map[int]*Sprite{}, pills: map[int]*pill{}}
	for _, c := range captions {
		if c.Out > c.In {
			t.captions = append(t.captions, c)
		}
	}
	sort.SliceStable(t.captions, func(i, j int) bool { return t.captions[i].In < t.captions[j].In })
	return t, nil
}

// Shown is a sprite at a moment.
type Shown struct {
	Sprite  *Sprite
	Opacity int // 1 to Opaque
}

// At returns what is up at a clip time, in drawing order. Of two captions in
// one place the later one shows.
func (t *Track) At(at time.Duration) ([]Shown, error) {
	t.forget(at)
	var slots [4]int // index+1 of what is up: step, result, skip, speed
	for i, c := range t.captions {
		if c.In > at {
			break
		}
		if at < c.Out {
			slots[slot(c.Kind)] = i + 1
		}
	}
	var shown []Shown
	for _, i := range slots {
		if i == 0 {
			continue
		}
		sprite, err := t.sprite(i - 1)
		if err != nil {
			return nil, fmt.Errorf("drawing caption %d: %w", i-1, err)
		}
		shown = append(shown, Shown{sprite, t.opacity(i-1, at)})
	}
	return shown, nil
}

// BlendI420 draws what is up at a clip time onto its frame. It returns what
// it touched.
func (t *Track) BlendI420(f *pixel.Frame, at time.Duration) (image.Rectangle, error) {
	shown, err := t.At(at)
	var touched image.Rectangle
	for _, s := range shown {
		touched = touched.Union(s.Sprite.BlendI420(f, s.Opacity))
	}
	return touched, err
}

// BlendRGBA is BlendI420 for a picture in premultiplied RGBA.
func (t *Track) BlendRGBA(img *image.RGBA, at time.Duration) (image.Rectangle, error) {
	shown, err := t.At(at)
	var touched image.Rectangle
	for _, s := range shown {
		touched = touched.Union(s.Sprite.BlendRGBA(img, s.Opacity))
	}
	return touched, err
}

func slot(k Kind) int {
	switch k {
	case Passed, Failed:
		return 1
	case Skip:
		return 2
	case Speed:
		return 3
	default:
		return 0
	}
}

// forget drops the pictures whose time is over.
func (t *Track) forget(at time.Duration) {
	for i := range t.sprites {
		if t.captions[i].Out <= at || t.captions[i].In > at {
			delete(t.sprites, i)
		}
	}
	for i := range t.pills {
		if t.captions[i].Out <= at || t.captions[i].In > at+time.Minute {
			delete(t.pills, i)
		}
	}
}

const (
	// longestFade is how long a caption may stand half drawn. A frame that
	// lasts longer is drawn in full.
	longestFade = 130 * time.Millisecond
	// reading is how long a step or a result is up in full at least, when it
	// is up for so long at all.
	reading = 2 * time.Second
)

// opacity of a caption: two frames of fade at each end that has no neighbour,
// the first of them half drawn.
func (t *Track) opacity(i int, at time.Duration) int {
	c, o := t.captions[i], Opaque
	before, after := t.neighbours(i)
	if t.screen.Frame > longestFade {
		return o
	}
	if slot(c.Kind) < 2 && c.Out-c.In < reading+2*t.screen.Frame {
		return o
	}
	fade := 2 * t.screen.Frame
	if !before {
		o = min(o, int(Opaque*(at-c.In+t.screen.Frame)/fade))
	}
	if !after {
		o = min(o, int(Opaque*(c.Out-at)/fade))
	}
	return max(o, 1)
}

// neighbours tells whether another caption stands in the same place right
// before and right after.
func (t *Track) neighbours(i int) (before, after bool) {
	c := t.captions[i]
	for j, o := range t.captions {
		if o.In > c.Out {
			break
		}
		if j == i || slot(o.Kind) != slot(c.Kind) {
			continue
		}
		before = before || o.In <= c.In && o.Out >= c.In
		after = after || o.In <= c.Out && o.Out > c.Out
	}
	return before, after
}

func (t *Track) sprite(i int) (*Sprite, error) {
	if s, ok := t.sprites[i]; ok {
		return s, nil
	}
	p, err := t.pill(i)
	if err != nil {
		return nil, err
	}
	at, err := t.place(i, p)
	if err != nil {
		return nil, err
	}
	s := NewSprite(p.draw(), at.Sub(image.Pt(p.margin, p.margin)))
	t.sprites[i] = s
	return s, nil
}

func (t *Track) pill(i int) (*pill, error) {
	if p, ok := t.pills[i]; ok {
		return p, nil
	}
	p, err := newPill(t.set, t.captions[i], t.em(), t.screen.Width-2*t.edge())
	if err != nil {
		return nil, err
	}
	t.pills[i] = p
	return p, nil
}
