package still

import (
	"encoding/binary"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// block is the size of the compared blocks in pixels.
const block = 16

// thresholds say how much a block must differ to have changed, in steps of 8
// bits.
type thresholds struct {
	luma, chroma         int // of one sample
	meanLuma, meanChroma int // of the block's mean, in 256ths
}

// calibrated are thresholds above what x264 at the recording's profile does to
// a still screen (keyframes differ from what they repeat by up to 5 in luma, 3
// in chroma, and 0.3 and 0.5 in a block's mean; at -qp 16 by 7, 4, 0.3 and
// 0.9), and below what it leaves of the smallest changes (of one pixel that
// differs by 15, 13; at -qp 16, 11). TestThresholds measures both again.
func calibrated() thresholds {
	return thresholds{luma: 10, chroma: 8, meanLuma: 256, meanChroma: 384}
}

// difference is how a block differs.
type difference byte

const (
	same   difference = iota
	points            // single samples do
	wash              // none does, but the block as a whole
)

// hit is a block that changed.
type hit struct {
	box  recording.Rect
	kind difference
}

// run is a box of changed pixels in one row of blocks.
type run struct {
	box recording.Rect
	row int // its block row
}

// differs compares one block of the picture with the reference.
func (d *Detector) differs(p Picture, b recording.Rect) difference {
	t := d.change
	y := differs(d.ref.Y[b.Y*d.w+b.X:], p.Y[b.Y*p.YStride+b.X:], d.w, p.YStride, b.W, b.H, t.luma, t.meanLuma)
	if y == points {
		return points
	}
	cx, cy, cw, ch := b.X/2, b.Y/2, (b.W+1)/2, (b.H+1)/2
	ref, cur := cy*d.ref.CStride+cx, cy*p.CStride+cx
	u := differs(d.ref.U[ref:], p.U[cur:], d.ref.CStride, p.CStride, cw, ch, t.chroma, t.meanChroma)
	v := differs(d.ref.V[ref:], p.V[cur:], d.ref.CStride, p.CStride, cw, ch, t.chroma, t.meanChroma)
	if u == points || v == points {
		return points
	}
	return max(y, u, v)
}

// differs compares w by h samples of two planes.
func differs(ref, cur []byte, refStride, curStride, w, h, limit, mean int) difference {
	var far bool
	var sum int
	if w%8 == 0 {
		far, sum = compare8(ref, cur, refStride, curStride, w, h, limit)
	} else {
		far, sum = compare1(ref, cur, refStride, curStride, w, h, limit)
	}
	switch {
	case far:
		return points
	case abs(sum)*256 >= mean*w*h:
		return wash
	default:
		return same
	}
}

// compare1 says whether any sample differs by limit or more; if none does, the
// sum of all differences.
func compare1(ref, cur []byte, refStride, curStride, w, h, limit int) (far bool, sum int) {
	for y := range h {
		a, b := ref[y*refStride:][:w], cur[y*curStride:][:w]
		for x := range a {
			diff := int(b[x]) - int(a[x])
			sum += diff
			if abs(diff) >= limit {
				return true, 0
			}
		}
	}
	return false, sum
}

// compare8 is compare1 for widths of 8 and 16, eight samples at a time: the
// even and the odd bytes of a word lie in lanes of 16 bits, where 256 and the
// difference can be added up without a borrow.
func compare8(ref, cur []byte, refStride, curStride, w, h, limit int) (far bool, sum int) {
	const (
		lanes = 0x00ff00ff00ff00ff
		one   = 0x0001000100010001
		bias  = 256 * one
		bit9  = 512 * one
	)
	high := uint64(256-limit) * one // a difference of limit carries into bit 9
	low := uint64(255+limit) * one  // one of -limit just fails to
	var out, acc uint64             // acc: 16 rows of 4 words at most 511 each fit
	words := 0
	for y := range h {
		for x := 0; x < w; x += 8 {
			a := binary.LittleEndian.Uint64(ref[y*refStride+x:])
			b := binary.LittleEndian.Uint64(cur[y*curStride+x:])
			if a == b {
				continue
			}
			even := (b & lanes) + bias - (a & lanes)
			odd := (b >> 8 & lanes) + bias - (a >> 8 & lanes)
			out |= (even+high)&bit9 | (odd+high)&bit9 | ^(even+low)&bit9 | ^(odd+low)&bit9
			acc += even + odd
			words++
		}
		if out != 0 {
			return true, 0
		}
	}
	for shift := 0; shift < 64; shift += 16 {
		sum += int(acc >> shift & 0xffff)
	}
	return false, sum - words*8*256
}

// boxes gives the boxes of the changed pixels and takes the changed blocks
// over into the reference.
func (d *Detector) boxes(p Picture) []recording.Rect {
	blocks := (d.w + block - 1) / block * ((d.h + block - 1) / block)
	coarse := len(d.hits) > max(blocks/4, manyBoxes)
	d.runs = d.runs[:0]
	var all recording.Rect
	for _, h := range d.hits {
		box := h.box
		if h.kind == points && !coarse {
			box = d.tight(p, h.box)
		}
		d.takeOver(p, h.box)
		if coarse {
			all = union(all, box)
			continue
		}
		row := h.box.Y / block
		if n := len(d.runs); n > 0 && d.runs[n-1].row == row && near(d.runs[n-1].box, box, nearX, block) {
			d.runs[n-1].box = union(d.runs[n-1].box, box)
			continue
		}
		d.runs = append(d.runs, run{box, row})
	}
	if coarse {
		return []recording.Rect{all}
	}
	boxes := make([]recording.Rect, len(d.runs))
	for i, r := range d.runs {
		boxes[i] = r.box
	}
	return joinNear(boxes)
}

// tight is the box of the samples in a block that differ by themselves.
func (d *Detector) tight(p Picture, b recording.Rect) recording.Rect {
	var box recording.Rect
	for y := b.Y; y < b.Y+b.H; y++ {
		for x := b.X; x < b.X+b.W; x++ {
			if abs(int(d.ref.Y[y*d.w+x])-int(p.Y[y*p.YStride+x])) >= d.change.luma {
				box = union(box, recording.Rect{X: x, Y: y, W: 1, H: 1})
			}
		}
	}
	if box.W > 0 {
		return box // chroma is blurred by subsampling: where luma knows, it knows better
	}
	for y := b.Y / 2; y < (b.Y+b.H+1)/2; y++ {
		for x := b.X / 2; x < (b.X+b.W+1)/2; x++ {
			ref, cur := y*d.ref.CStride+x, y*p.CStride+x
			if abs(int(d.ref.U[ref])-int(p.U[cur])) >= d.change.chroma || abs(int(d.ref.V[ref])-int(p.V[cur])) >= d.change.chroma {
				box = union(box, common(recording.Rect{X: 2 * x, Y: 2 * y, W: 2, H: 2}, b))
			}
		}
	}
	return box
}

// takeOver makes a block's content the reference.
func (d *Detector) takeOver(p Picture, b recording.Rect) {
	for y := b.Y; y < b.Y+b.H; y++ {
		copy(d.ref.Y[y*d.w+b.X:][:b.W], p.Y[y*p.YStride+b.X:])
	}
	cx, cw := b.X/2, (b.W+1)/2
	for y := b.Y / 2; y < (b.Y+b.H+1)/2; y++ {
		copy(d.ref.U[y*d.ref.CStride+cx:][:cw], p.U[y*p.CStride+cx:])
		copy(d.ref.V[y*d.ref.CStride+cx:][:cw], p.V[y*p.CStride+cx:])
	}
}
