package overlay

import (
	"math"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// View is the part of the recording's picture that fills the clip's frame, in
// pixels of the recording.
type View struct{ X, Y, W, H float64 }

// Camera is where a clip looks, over its time.
type Camera struct {
	whole View
	keys  []viewAt
}

type viewAt struct {
	at   time.Duration
	view View
}

// Zoom says how a camera moves.
type Zoom struct {
	// Scale of a close view: 1.2 to 4. 1.8 keeps text around a click readable.
	Scale float64
	// Travel is the time of a move, Hold how long a view is kept after the
	// last action in it.
	Travel, Hold time.Duration
}

// DefaultZoom is calm: at most one move in and one out in three seconds.
func DefaultZoom() Zoom {
	return Zoom{Scale: 1.8, Travel: 700 * time.Millisecond, Hold: 1600 * time.Millisecond}
}

// NewCamera follows clicks over a picture of width by height pixels. Clicks
// that follow each other closely are one scene: the camera only moves inside
// it as far as it must to keep a click in the middle two thirds.
func NewCamera(width, height float64, clicks []Click, z Zoom) *Camera {
	whole := View{0, 0, width, height}
	c := &Camera{whole: whole}
	z.Scale = min(max(z.Scale, 1.2), 4)
	z.Travel = max(z.Travel, time.Millisecond)
	clicks = append([]Click(nil), clicks...)
	sort.SliceStable(clicks, func(i, j int) bool { return clicks[i].At < clicks[j].At })
	view, until := whole, time.Duration(math.MinInt64)
	for _, click := range clicks {
		arrive := click.At - z.Travel/4 // the view stands before the click is seen
		if near := until + z.Travel; view != whole && arrive-z.Travel > near {
			c.move(until, view, z.Travel, whole)
			view = whole
		}
		next := follow(view, click.Point)
		if view == whole {
			next = View{click.X - width/z.Scale/2, click.Y - height/z.Scale/2, width / z.Scale, height / z.Scale}
		}
		next = clampView(next, whole)
		if next != view {
			c.move(arrive-z.Travel, view, z.Travel, next)
			view = next
		}
		until = max(until, click.At+z.Hold)
	}
	if view != whole {
		c.move(until, view, z.Travel, whole)
	}
	return c
}

// move appends a travel; one that would begin before the last has ended begins
// where that one ends.
func (c *Camera) move(at time.Duration, from View, travel time.Duration, to View) {
	at = max(at, 0)
	if n := len(c.keys); n > 0 {
		at = max(at, c.keys[n-1].at)
	}
	c.keys = append(c.keys, viewAt{at, from}, viewAt{at + travel, to})
}

// follow shifts a view so that a point lies in its middle two thirds.
func follow(v View, p Point) View {
	v.X = min(max(v.X, p.X-v.W*5/6), p.X-v.W/6)
	v.Y = min(max(v.Y, p.Y-v.H*5/6), p.Y-v.H/6)
	return v
}

func clampView(v, whole View) View {
	v.X = min(max(v.X, whole.X), whole.X+whole.W-v.W)
	v.Y = min(max(v.Y, whole.Y), whole.Y+whole.H-v.H)
	return v
}

// At returns the view at a clip time. Its aspect is always the picture's, and
// it never leaves it.
func (c *Camera) At(at time.Duration) View {
	n := sort.Search(len(c.keys), func(i int) bool { return c.keys[i].at > at })
	switch n {
	case 0:
		return c.whole
	case len(c.keys):
		return c.keys[n-1].view
	}
	a, b := c.keys[n-1], c.keys[n]
	if b.at <= a.at {
		return b.view
	}
	t := ease(float64(at-a.at) / float64(b.at-a.at))
	mix := func(x, y float64) float64 { return x + (y-x)*t }
	return clampView(View{mix(a.view.X, b.view.X), mix(a.view.Y, b.view.Y), mix(a.view.W, b.view.W), mix(a.view.H, b.view.H)}, c.whole)
}

// Whole tells whether a view is the whole picture, which needs no scaling.
func (c *Camera) Whole(v View) bool { return v == c.whole }

// Project returns where a point of the recording lies in a frame of w by h
// pixels that shows the view.
func (v View) Project(p Point, w, h int) Point {
	return Point{(p.X - v.X) * float64(w) / v.W, (p.Y - v.Y) * float64(h) / v.H}
}

// Render fills dst with a view of src: interpolated where the view enlarges,
// averaged where it shrinks.
func Render(dst, src *pixel.Frame, v View) {
	sample := sample
	if v.W > float64(dst.Width) || v.H > float64(dst.Height) {
		sample = shrink
	}
	sample(dst.Y, dst.Width, dst.Height, src.Y, src.Width, src.Height, v)
	half := View{v.X / 2, v.Y / 2, v.W / 2, v.H / 2}
	sample(dst.U, dst.Width/2, dst.Height/2, src.U, src.Width/2, src.Height/2, half)
	sample(dst.V, dst.Width/2, dst.Height/2, src.V, src.Width/2, src.Height/2, half)
}

// sample resamples one plane. Weights are in 1/256.
func sample(dst []byte, dw, dh int, src []byte, sw, sh int, v View) {
	type tap struct{ a, b, w int }
	taps := func(n, limit int, from, length float64) []tap {
		all := make([]tap, n)
		for i := range all {
			p := min(max(from+(float64(i)+0.5)*length/float64(n)-0.5, 0), float64(limit-1))
			a := int(p)
			all[i] = tap{a, min(a+1, limit-1), int((p - float64(a)) * 256)}
		}
		return all
	}
	columns := taps(dw, sw, v.X, v.W)
	for y, t := range taps(dh, sh, v.Y, v.H) {
		above, below, out := src[t.a*sw:][:sw], src[t.b*sw:][:sw], dst[y*dw:][:dw]
		for x, c := range columns {
			top := int(above[c.a])*(256-c.w) + int(above[c.b])*c.w
			bottom := int(below[c.a])*(256-c.w) + int(below[c.b])*c.w
			out[x] = uint8((top*(256-t.w) + bottom*t.w + 1<<15) >> 16)
		}
	}
}
