package overlay

import (
	"image"
	"image/color"
	"math"
	"sort"
	"time"
)

// Point is a place in the recording's picture, in its pixels.
type Point struct{ X, Y float64 }

// Move is where the pointer was at a moment.
type Move struct {
	At time.Duration
	Point
}

// Button of a pointing device, as X11 numbers them.
type Button int

// The buttons that are drawn.
const (
	Left   Button = 1
	Middle Button = 2
	Right  Button = 3
)

// Click is a button that went down.
type Click struct {
	At time.Duration
	Point
	Button Button
}

// Path is the way of the pointer through a clip.
type Path struct{ moves []Move }

const (
	jump     = 12.0                   // pixels that a hand moves between two samples
	dense    = 120 * time.Millisecond // samples of a real hand come closer than this
	minTrip  = 180 * time.Millisecond
	maxTrip  = 650 * time.Millisecond
	tripEach = 500 * time.Microsecond // for each pixel of distance
)

// NewPath takes the moves in any order. Clicks are moves as well: the pointer
// is where it clicks.
func NewPath(moves []Move, clicks []Click) *Path {
	all := append([]Move(nil), moves...)
	for _, c := range clicks {
		all = append(all, Move{c.At, c.Point})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].At < all[j].At })
	return &Path{all}
}

// At returns where the pointer is. A hand's path is followed as it was. A
// program's pointer jumps: there a trip is drawn that sets out early enough to
// arrive at the logged time, because what happens there happens then. It is
// false before the first known place when there is none.
func (p *Path) At(at time.Duration) (Point, bool) {
	n := sort.Search(len(p.moves), func(i int) bool { return p.moves[i].At > at })
	if n == 0 {
		if len(p.moves) == 0 {
			return Point{}, false
		}
		return p.moves[0].Point, true
	}
	from := p.moves[n-1]
	if n == len(p.moves) {
		return from.Point, true
	}
	to := p.moves[n]
	gap, distance := to.At-from.At, math.Hypot(to.X-from.X, to.Y-from.Y)
	if gap <= dense || distance <= jump {
		return between(from.Point, to.Point, float64(at-from.At)/float64(gap)), true
	}
	trip := min(max(time.Duration(distance)*tripEach, minTrip), maxTrip, gap)
	start := to.At - trip
	if at <= start {
		return from.Point, true
	}
	return between(from.Point, to.Point, ease(float64(at-start)/float64(trip))), true
}

func between(a, b Point, t float64) Point {
	return Point{a.X + (b.X-a.X)*t, a.Y + (b.Y-a.Y)*t}
}

// ease goes from 0 to 1 and is slow at both ends: quintic, so that neither
// speed nor acceleration jumps.
func ease(t float64) float64 {
	t = min(max(t, 0), 1)
	return t * t * t * (t*(6*t-15) + 10)
}

// DrawPointer draws an arrow whose hot spot is at a place of the clip's frame.
// size is its height in pixels; 24 suits a clip of 720 lines.
func DrawPointer(at Point, size float64) *Sprite {
	u := size / 24
	margin := int(math.Ceil(4 * u))
	left, top := int(math.Floor(at.X)), int(math.Floor(at.Y))
	x, y := at.X-float64(left)+float64(margin), at.Y-float64(top)+float64(margin)
	img := image.NewRGBA(image.Rect(0, 0, int(17*u)+2*margin+2, int(24*u)+2*margin+2))
	// The usual arrow, on a grid of 24.
	var corners [][2]float64
	for _, c := range [][2]float64{{0, 0}, {0, 19}, {4.6, 14.8}, {7.8, 22.2}, {11, 20.8}, {7.9, 13.6}, {14, 13.6}} {
		corners = append(corners, [2]float64{x + c[0]*u, y + c[1]*u})
	}
	outline := polygon(1.5*u, corners...)
	shadow(img, outline, 4*u, 1*u, 0.35)
	paint(img, img.Bounds(), outline, color.NRGBA{R: 255, G: 255, B: 255, A: 255})
	paint(img, img.Bounds(), polygon(0, corners...), color.NRGBA{R: 0x11, G: 0x12, B: 0x14, A: 255})
	return NewSprite(img, image.Pt(left-margin, top-margin))
}

// RingTime is how long the ring of a click is seen.
const RingTime = 520 * time.Millisecond

// DrawRing draws the ring of a click, age after it went down; nil when it is
// over. size is its last radius in pixels. The left button's is blue, others
// are amber.
func DrawRing(at Point, button Button, age time.Duration, size float64) *Sprite {
	if age < 0 || age >= RingTime {
		return nil
	}
	t := float64(age) / float64(RingTime)
	grown := 1 - (1-t)*(1-t)*(1-t) // fast first: the eye must catch where it began
	radius, width := size*(0.25+0.75*grown), size*0.16*(1-0.6*t)
	reach := int(math.Ceil(size*1.1)) + 2
	left, top := int(math.Floor(at.X))-reach, int(math.Floor(at.Y))-reach
	x, y := at.X-float64(left), at.Y-float64(top)
	img := image.NewRGBA(image.Rect(0, 0, 2*reach, 2*reach))
	c := color.NRGBA{R: 0x2F, G: 0x8F, B: 0xFF}
	if button != Left {
		c = color.NRGBA{R: 0xFF, G: 0xA6, B: 0x2B}
	}
	white := color.NRGBA{R: 255, G: 255, B: 255, A: uint8(150 * (1 - t))}
	paint(img, img.Bounds(), ring(x, y, radius, width+max(2, size*0.07)), white) // seen over blue, too
	c.A = uint8(90 * (1 - t))
	paint(img, img.Bounds(), disc(x, y, radius), c)
	c.A = uint8(240 * (1 - t*t))
	paint(img, img.Bounds(), ring(x, y, radius, width), c)
	return NewSprite(img, image.Pt(left, top))
}
