// Package beacon reads and draws the frame beacon of the test rig: the strip of
// black and white cells in which the rig's page writes the number of each frame
// that it paints, so that a film of the page tells which frames are in it.
//
// Here live the strip's layout, the drawing of it, the reading of one luma plane,
// and the scan of a whole film through ffmpeg. Judging a film (how many missing
// frames are too many) belongs to the tests and benchmarks that ask; nothing of
// the product imports this package.
//
// # Layout
//
// A strip is 50 cells wide, as wide as the page, and two rows high:
//
//	½ quiet | 7 fiducial | 1 gap | 33 payload | 1 gap | 7 fiducial | ½ quiet
//
// The fiducial is black, white, 3 black, white, black: the 1:1:3:1:1 pattern of QR
// codes, the same in both rows. The payload is, from the left, one cell that says
// whether a twin strip stands at the page's foot, 24 cells of the frame number in
// Gray code (highest bit first), and 8 cells of CRC-8 (polynomial 0x07, start 0xFF)
// over the four bytes {twin, gray>>16, gray>>8, gray}. Black is 1. The second row
// holds the complement of the first, so a cell is read by comparing its two halves
// and no brightness has to be guessed. White quiet bands lie above and below.
//
// The page draws the same layout in index.html; a test holds the two together.
package beacon

import (
	"image"
	"image/color"
	"math"
)

// NumberMask is the largest number that a strip can hold; the page counts modulo
// NumberMask+1, which is 77 hours at 60 frames a second.
const NumberMask = 1<<24 - 1

const (
	cells         = 50 // across the strip, quiet halves included
	fiducialCells = 7
	numberBits    = 24
	crcBits       = 8
	payloadCells  = 1 + numberBits + crcBits
	// payloadStart counts cells from the left fiducial's outer edge.
	payloadStart = fiducialCells + 1
	// span is the distance between the fiducials' outer edges, in cells.
	span = cells - 1
)

// fiducial is the locating pattern; true is black.
func fiducial() [fiducialCells]bool {
	return [fiducialCells]bool{true, false, true, true, true, false, true}
}

// payload returns the 33 cells that stand for a number; true is black.
func payload(number uint32, twin bool) [payloadCells]bool {
	number &= NumberMask
	gray := number ^ number>>1
	sum := checksum(gray, twin)
	var p [payloadCells]bool
	p[0] = twin
	for i := range numberBits {
		p[1+i] = gray>>(numberBits-1-i)&1 == 1
	}
	for i := range crcBits {
		p[1+numberBits+i] = sum>>(crcBits-1-i)&1 == 1
	}
	return p
}

// parse is payload's inverse; ok is false when the checksum does not match.
func parse(p [payloadCells]bool) (number uint32, twin, ok bool) {
	var gray uint32
	for i := range numberBits {
		gray = gray<<1 | bit(p[1+i])
	}
	var sum uint32
	for i := range crcBits {
		sum = sum<<1 | bit(p[1+numberBits+i])
	}
	if sum != uint32(checksum(gray, p[0])) {
		return 0, false, false
	}
	number = gray
	for shift := 1; shift < numberBits; shift *= 2 {
		number ^= number >> shift
	}
	return number, p[0], true
}

func checksum(gray uint32, twin bool) uint8 {
	sum := uint8(0xFF)
	for _, b := range [4]uint8{uint8(bit(twin)), uint8(gray >> 16), uint8(gray >> 8), uint8(gray)} {
		sum ^= b
		for range 8 {
			carry := sum&0x80 != 0
			sum <<= 1
			if carry {
				sum ^= 0x07
			}
		}
	}
	return sum
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Draw paints one strip with its white quiet bands into r of dst, as the page does:
// the bands take an eighth of r's height each. twin says that the caller draws the
// same number a second time near the foot of the picture.
func Draw(dst *image.Gray, r image.Rectangle, number uint32, twin bool) {
	fill(dst, r, color.Gray{Y: 255})
	quiet := r.Dy() / 8
	top, bottom := r.Min.Y+quiet, r.Max.Y-quiet
	middle := (top + bottom) / 2
	edge := func(cell float64) int {
		return r.Min.X + int(math.Round(cell*float64(r.Dx())/cells))
	}
	cell := func(at float64, y0, y1 int) {
		fill(dst, image.Rect(edge(at), y0, edge(at+1), y1), color.Gray{})
	}
	for i, black := range fiducial() {
		if black {
			cell(0.5+float64(i), top, bottom)
			cell(0.5+span-fiducialCells+float64(i), top, bottom)
		}
	}
	for i, black := range payload(number, twin) {
		at := 0.5 + payloadStart + float64(i)
		if black {
			cell(at, top, middle)
		} else {
			cell(at, middle, bottom)
		}
	}
}

func fill(dst *image.Gray, r image.Rectangle, c color.Gray) {
	r = r.Intersect(dst.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			dst.SetGray(x, y, c)
		}
	}
}
