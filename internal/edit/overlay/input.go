package overlay

import (
	"fmt"
	"image"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Actions are what is laid over a clip of what was done with pointer and keys.
// Times are the clip's, places the film's.
type Actions struct {
	Film image.Point // the film's size in pixels
	Size image.Point // the clip's, at least 64x64

	Path   *Path    // of the pointer; nil: it is not drawn
	Clicks []Click  // whose rings are drawn
	Chords []Chord  // whose caps are drawn
	Camera *Camera  // nil: the whole film is seen all along
	Frame  bool     // the picture stands on a background, with round corners
	Caps   Position // the edge where caps stand: the one that captions leave free
}

// Stage draws actions. It is for one goroutine.
type Stage struct {
	Actions
	set      *typeset.Setter
	backdrop *Backdrop    // nil: none
	inner    *pixel.Frame // the picture on the backdrop
	capsOf   int          // the chord that is drawn in caps, from 1
	caps     *Sprite
}

// NewStage prepares the stage of one clip.
func NewStage(set *typeset.Setter, a Actions) (*Stage, error) {
	if a.Film.X < 1 || a.Film.Y < 1 || a.Size.X < 64 || a.Size.Y < 64 {
		return nil, fmt.Errorf("%w: %v of a film of %v", ErrScreen, a.Size, a.Film)
	}
	a.Clicks = slices.SortedStableFunc(slices.Values(a.Clicks), func(x, y Click) int { return int(x.At - y.At) })
	s := &Stage{Actions: a, set: set}
	if !a.Frame {
		return s, nil
	}
	var err error
	if s.backdrop, err = NewBackdrop(a.Size.X, a.Size.Y); err != nil {
		return nil, err
	}
	s.inner, err = pixel.NewFrame(s.backdrop.Inner.Dx(), s.backdrop.Inner.Dy())
	return s, err
}

// Whole is the size in which the film's whole picture is seen.
func (s *Stage) Whole() image.Point {
	if s.backdrop == nil {
		return s.Size
	}
	return s.backdrop.Inner.Size()
}

// Look is how a stage looks at a moment: where the looks of two moments are
// equal and the film's picture is the same, so is the clip's.
type Look struct {
	view    View
	pointed bool
	pointer Point
	rings   time.Duration // the moment, while a click has its ring; else 0
	chord   int           // its number, from 1; 0: none
}

// Look says how the stage looks at a clip time.
func (s *Stage) Look(at time.Duration) Look {
	l := Look{view: View{0, 0, float64(s.Film.X), float64(s.Film.Y)}}
	if s.Camera != nil {
		l.view = s.Camera.At(at)
	}
	if s.Path != nil {
		if l.pointer, l.pointed = s.Path.At(at); l.pointed {
			const part = 4 // of a pixel
			l.pointer = Point{math.Round(l.pointer.X*part) / part, math.Round(l.pointer.Y*part) / part}
		}
	}
	if len(s.ringing(at)) > 0 {
		l.rings = at + 1
	}
	n := sort.Search(len(s.Chords), func(i int) bool { return s.Chords[i].In > at })
	if n > 0 && at < s.Chords[n-1].Out {
		l.chord = n
	}
	return l
}

// ringing are the clicks whose rings are seen.
func (s *Stage) ringing(at time.Duration) []Click {
	from := sort.Search(len(s.Clicks), func(i int) bool { return s.Clicks[i].At > at-RingTime })
	to := sort.Search(len(s.Clicks), func(i int) bool { return s.Clicks[i].At > at })
	return s.Clicks[from:max(from, to)]
}

// Draw fills dst, which has the clip's size, with the film's picture and what
// the look lays over it. The picture may have any size with the film's aspect.
// An error is about the caps alone: all else is drawn then.
func (s *Stage) Draw(dst, picture *pixel.Frame, l Look, at time.Duration) error {
	inner := dst
	if s.backdrop != nil {
		inner = s.inner
	}
	s.show(inner, picture, l.view)
	size := float64(inner.Height) / 30
	for _, c := range s.ringing(at) {
		if ring := DrawRing(l.view.Project(c.Point, inner.Width, inner.Height), c.Button, at-c.At, size); ring != nil {
			ring.BlendI420(inner, Opaque)
		}
	}
	if l.pointed {
		DrawPointer(l.view.Project(l.pointer, inner.Width, inner.Height), size).BlendI420(inner, Opaque)
	}
	if s.backdrop != nil {
		if err := s.backdrop.Compose(dst, inner); err != nil {
			return err
		}
	}
	return s.drawCaps(dst, l.chord)
}

// show fills dst with a view of the picture. The view is in the film's pixels.
func (s *Stage) show(dst, picture *pixel.Frame, v View) {
	x, y := float64(picture.Width)/float64(s.Film.X), float64(picture.Height)/float64(s.Film.Y)
	v = View{v.X * x, v.Y * y, v.W * x, v.H * y}
	if dst.Width == picture.Width && dst.Height == picture.Height && v.W == float64(dst.Width) {
		copy(dst.Data, picture.Data)
		return
	}
	Render(dst, picture, v)
}

func (s *Stage) drawCaps(dst *pixel.Frame, chord int) error {
	if chord == 0 {
		return nil
	}
	if s.capsOf != chord {
		em := min(max(dst.Height*32/1000, 12), 96)
		y := dst.Height - dst.Height*6/100
		if s.Caps == Top {
			y = dst.Height*6/100 + 2*em
		}
		caps, err := DrawKeys(s.set, s.Chords[chord-1].Caps, image.Pt(dst.Width/2, y), em)
		if err != nil {
			return fmt.Errorf("draw keys: %w", err)
		}
		s.caps, s.capsOf = caps, chord
	}
	s.caps.BlendI420(dst, Opaque)
	return nil
}
