package beacon

import (
	"errors"
	"fmt"
	"math"
)

// Errors of Read. They say why a picture has no number, so that a film's report can
// tell a page that was not there from one that was spoilt.
var (
	// ErrNoBeacon means that no strip was found anywhere in the picture.
	ErrNoBeacon = errors.New("no beacon in the picture")
	// ErrDamaged means that a strip was found and its cells do not add up, or that
	// its twin at the foot of the page is missing.
	ErrDamaged = errors.New("beacon damaged")
	// ErrPlane means that the sizes given do not describe the bytes given.
	ErrPlane = errors.New("not a luma plane")
)

// minContrast is the least luma distance between black and white that is taken for
// a strip, in steps of 0 to 255.
const minContrast = 48

// Frame is what one picture says.
type Frame struct {
	// Number is the page's painted-frame number, 0 to NumberMask. Of a torn picture
	// it is the number nearest the top.
	Number uint32
	// Torn says that the picture holds parts of two painted frames.
	Torn bool
}

// Read finds the beacon in a luma plane of w by h samples whose rows lie stride
// bytes apart, and reads it. The strip may lie anywhere and have any scale down to
// 3 pixels a cell; full and limited range are both read. The errors are ErrNoBeacon,
// ErrDamaged and ErrPlane.
func Read(gray []byte, w, h, stride int) (Frame, error) {
	if w <= 0 || h <= 0 || stride < w || h-1 > (len(gray)-w)/stride || len(gray) < w {
		return Frame{}, fmt.Errorf("%w: %d bytes for %dx%d, stride %d", ErrPlane, len(gray), w, h, stride)
	}
	p := plane{pix: gray, w: w, h: h, stride: stride}
	top, found := p.locate(0, h, 1)
	if !found {
		return Frame{}, ErrNoBeacon
	}
	head, err := p.readStrip(top)
	if err != nil {
		return Frame{}, err
	}
	if !head.twin {
		return head.Frame, nil
	}
	bottom, found := p.locate(h-1, top.y1, -1)
	if !found {
		return Frame{}, fmt.Errorf("%w: number %d, but no strip at the foot", ErrDamaged, head.Number)
	}
	foot, err := p.readStrip(bottom)
	if err != nil {
		return Frame{}, fmt.Errorf("strip at the foot: %w", err)
	}
	return Frame{Number: head.Number, Torn: head.Torn || foot.Torn || head.Number != foot.Number}, nil
}

type reading struct {
	Frame
	twin bool
}

// readStrip reads both rows of a located strip. Rows that are complements of each
// other give the number; rows that each check and differ are of two frames.
func (p plane) readStrip(s strip) (reading, error) {
	module := (s.x1 - s.x0) / span
	height := float64(s.y1 - s.y0)
	rowA := func(cell float64) float64 { return p.cell(s, cell, module, 0.1*height, 0.4*height) }
	rowB := func(cell float64) float64 { return p.cell(s, cell, module, 0.6*height, 0.9*height) }
	black := (rowA(0) + rowB(0)) / 2
	contrast := (rowA(1)+rowB(1))/2 - black
	if contrast < minContrast {
		return reading{}, fmt.Errorf("%w: contrast %.0f", ErrDamaged, contrast)
	}
	var joint, a, b [payloadCells]bool
	complementary := true
	for i := range payloadCells {
		va, vb := rowA(float64(payloadStart+i)), rowB(float64(payloadStart+i))
		joint[i] = va < vb
		a[i] = va < black+contrast/2
		b[i] = vb >= black+contrast/2
		complementary = complementary && math.Abs(va-vb) >= 0.3*contrast
	}
	if complementary {
		if number, twin, ok := parse(joint); ok {
			return reading{Frame{Number: number}, twin}, nil
		}
	}
	numberA, twin, okA := parse(a)
	numberB, _, okB := parse(b)
	if okA && okB && numberA != numberB {
		return reading{Frame{Number: numberA, Torn: true}, twin}, nil
	}
	return reading{}, fmt.Errorf("%w: cells do not check", ErrDamaged)
}

// cell averages the middle half of a cell between two heights, counted from the
// strip's upper edge.
func (p plane) cell(s strip, cell, module, from, to float64) float64 {
	x0, x1 := s.x0+(cell+0.25)*module, s.x0+(cell+0.75)*module
	return p.mean(int(math.Round(x0)), int(math.Round(x1)), s.y0+int(math.Round(from)), s.y0+int(math.Round(to)))
}
