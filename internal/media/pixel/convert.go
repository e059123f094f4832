package pixel

import (
	"fmt"
	"image"
)

// Align widens r to the chroma grid: even edges, but no further than bounds,
// so an edge stays odd only where the picture itself ends there. A rectangle
// must be aligned before its pixels are fetched, because a chroma sample needs
// the real pixels of its whole 2x2 block.
func Align(r, bounds image.Rectangle) image.Rectangle {
	r = r.Intersect(bounds)
	if r.Empty() {
		return image.Rectangle{}
	}
	r.Min.X &^= 1
	r.Min.Y &^= 1
	r.Max.X = (r.Max.X + 1) &^ 1
	r.Max.Y = (r.Max.Y + 1) &^ 1
	return r.Intersect(bounds)
}

// block is the width in pixels of the columns in which change is reported.
const block = 32

// Convert writes the pixels of r into dst and returns the part of r that
// changed in dst, empty when the pixels convert to what was there already.
//
// src holds the rows of r, stride bytes apart; its first byte is the pixel at
// r.Min. r must be aligned to dst (see Align).
//
// The returned rectangle covers every changed sample. It is exact to two rows
// and to columns of 32 pixels counted from r's left edge, and lies inside r.
//
// An unaligned rectangle or a source too short for it is an error, and dst is
// untouched then.
func Convert(dst *Frame, r image.Rectangle, src []byte, stride int, format Format) (image.Rectangle, error) {
	return convert(dst, r, src, stride, format, hasSIMD())
}

// rowPair converts two rows: n BGRX pixels of each, n even, into n luma samples
// of each row and n/2 samples of each chroma plane. It returns the first and
// the last changed block, or first -1.
func rowPair(simd bool, y0, y1, u, v, src0, src1 []byte, n int) (first, last int) {
	if simd && n >= block {
		return rowPairSIMD(y0, y1, u, v, src0, src1, n)
	}
	return rowPairGo(y0, y1, u, v, src0, src1, n)
}

func convert(dst *Frame, r image.Rectangle, src []byte, stride int, format Format, simd bool) (image.Rectangle, error) {
	if err := check(dst, r, src, stride, format); err != nil {
		return image.Rectangle{}, err
	}
	var changed image.Rectangle
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		row0 := src[(y-r.Min.Y)*stride:]
		row1 := row0 // the last row of an odd picture pairs with itself
		if y+1 < r.Max.Y {
			row1 = row0[stride:]
		}
		first, last := convertRows(dst, image.Pt(r.Min.X, y), r.Dx(), row0, row1, format, simd)
		if first < 0 {
			continue
		}
		changed = changed.Union(image.Rect(r.Min.X+first*block, y, r.Min.X+(last+1)*block, y+2))
	}
	return changed.Intersect(r), nil
}

func check(dst *Frame, r image.Rectangle, src []byte, stride int, format Format) error {
	if r.Empty() || r != Align(r, dst.Bounds()) {
		return fmt.Errorf("rectangle %v is not on the chroma grid of a %v picture", r, dst.Picture)
	}
	width := r.Dx() * format.BytesPerPixel()
	if stride < width || len(src) < (r.Dy()-1)*stride+width {
		return fmt.Errorf("source of %d bytes with stride %d does not hold %v", len(src), stride, r)
	}
	return nil
}

// convertRows converts two rows of width pixels at p. BGRX goes straight to
// rowPair; other layouts, and the odd last column, pass through a small buffer.
func convertRows(dst *Frame, p image.Point, width int, row0, row1 []byte, format Format, simd bool) (first, last int) {
	y0 := dst.Y[p.Y*dst.Width+p.X:]
	y1 := dst.Y[(p.Y+1)*dst.Width+p.X:]
	chroma := p.Y/2*(dst.Width/2) + p.X/2
	u, v := dst.U[chroma:], dst.V[chroma:]

	first, last = -1, -1
	done := 0
	if format == BGRX {
		done = width &^ 1
		first, last = rowPair(simd, y0, y1, u, v, row0, row1, done)
	}
	bytes := format.BytesPerPixel()
	for done < width {
		n := min(width-done, chunk)
		var buf0, buf1 [4 * (chunk + 1)]byte
		format.expand(buf0[:4*n], row0[done*bytes:])
		format.expand(buf1[:4*n], row1[done*bytes:])
		if n&1 != 0 { // the padding column repeats the last one
			copy(buf0[4*n:], buf0[4*(n-1):4*n])
			copy(buf1[4*n:], buf1[4*(n-1):4*n])
		}
		even := (n + 1) &^ 1
		f, l := rowPair(simd, y0[done:], y1[done:], u[done/2:], v[done/2:], buf0[:4*even], buf1[:4*even], even)
		first, last = merge(first, last, f, l, done)
		done += n
	}
	return first, last
}

// chunk is how many pixels of a foreign layout are expanded at a time: a
// multiple of block, and small enough for the stack.
const chunk = 256

// merge adds the blocks f..l of a part that starts at pixel offset.
func merge(first, last, f, l, offset int) (int, int) {
	if f < 0 {
		return first, last
	}
	f, l = (offset+f*block)/block, (offset+l*block)/block
	if first < 0 {
		return f, l
	}
	return min(first, f), max(last, l)
}
