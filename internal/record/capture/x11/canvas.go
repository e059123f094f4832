package x11

import (
	"fmt"
	"image"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// canvas is the film's standing picture.
type canvas struct {
	frame  *pixel.Frame
	format pixel.Format
	zero   []byte // two black rows
}

func newCanvas(width, height int, format pixel.Format) (*canvas, error) {
	frame, err := pixel.NewFrame(width, height)
	if err != nil {
		return nil, &UnsupportedError{err.Error()}
	}
	return &canvas{frame: frame, format: format, zero: make([]byte, 2*width*format.BytesPerPixel())}, nil
}

// bounds is the part of the film that a screen of this size fills. A smaller
// screen's last odd column or row is left out: its chroma would need pixels
// that are not there.
func (c *canvas) bounds(screen image.Point) image.Rectangle {
	film := c.frame.Picture
	b := image.Rectangle{Max: film}
	if screen.X < film.X {
		b.Max.X = screen.X &^ 1
	}
	if screen.Y < film.Y {
		b.Max.Y = screen.Y &^ 1
	}
	return b
}

// paint converts the pixels of r, rows stride bytes apart, and appends what
// changed to changed.
func (c *canvas) paint(changed []capture.Rect, r image.Rectangle, pixels []byte, stride int) ([]capture.Rect, error) {
	ch, err := pixel.Convert(c.frame, r, pixels, stride, c.format)
	if err != nil {
		return changed, fmt.Errorf("convert %v: %w", r, err)
	}
	return appendRect(changed, ch), nil
}

// blacken paints what the screen does not fill, and appends what changed.
func (c *canvas) blacken(changed []capture.Rect, filled image.Rectangle) ([]capture.Rect, error) {
	film := c.frame.Bounds()
	right := image.Rect(filled.Max.X, 0, film.Max.X, film.Max.Y)
	below := image.Rect(0, filled.Max.Y, filled.Max.X, film.Max.Y)
	for _, r := range []image.Rectangle{right, below} {
		var all image.Rectangle
		for y := r.Min.Y; y < r.Max.Y && !r.Empty(); y += 2 {
			rows := image.Rect(r.Min.X, y, r.Max.X, min(y+2, r.Max.Y))
			ch, err := pixel.Convert(c.frame, rows, c.zero, r.Dx()*c.format.BytesPerPixel(), c.format)
			if err != nil {
				return changed, fmt.Errorf("blacken %v: %w", rows, err)
			}
			all = all.Union(ch)
		}
		changed = appendRect(changed, all)
	}
	return changed, nil
}

func appendRect(to []capture.Rect, r image.Rectangle) []capture.Rect {
	if r.Empty() {
		return to
	}
	return append(to, capture.Rect{X: r.Min.X, Y: r.Min.Y, W: r.Dx(), H: r.Dy()})
}
