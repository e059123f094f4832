package h264

import "math/bits"

// bitReader reads an RBSP bit by bit. Reading past the end yields zeros and
// sets failed, so that a parser checks once, at its end.
type bitReader struct {
	data   []byte
	pos    int
	failed bool
}

func (r *bitReader) bit() uint32 {
	if r.pos >= len(r.data)*8 {
		r.failed = true
		return 0
	}
	b := r.data[r.pos>>3] >> (7 - r.pos&7) & 1
	r.pos++
	return uint32(b)
}

func (r *bitReader) flag() bool { return r.bit() == 1 }

// u reads an unsigned value of n bits, n at most 32.
func (r *bitReader) u(n int) uint32 {
	var v uint32
	for ; n >= 8 && r.pos&7 == 0 && r.pos+8 <= len(r.data)*8; n -= 8 {
		v = v<<8 | uint32(r.data[r.pos>>3])
		r.pos += 8
	}
	for ; n > 0; n-- {
		v = v<<1 | r.bit()
	}
	return v
}

// ue reads an Exp-Golomb code (9.1). Codes over 32 bits long are no value of
// the standard and fail.
func (r *bitReader) ue() uint32 {
	zeros := 0
	for r.bit() == 0 {
		zeros++
		if zeros > 31 || r.failed {
			r.failed = true
			return 0
		}
	}
	return uint32(uint64(1)<<zeros - 1 + uint64(r.u(zeros)))
}

func (r *bitReader) se() int32 {
	v := r.ue()
	if v&1 == 1 {
		return int32(v/2 + 1)
	}
	return -int32(v / 2)
}

// moreData tells whether anything but the trailing bits is left (7.2).
func (r *bitReader) moreData() bool {
	return r.pos < lastOne(r.data)
}

// lastOne returns the position of the last set bit, the rbsp_stop_one_bit of
// a well-formed RBSP, or -1.
func lastOne(data []byte) int {
	for i := len(data) - 1; i >= 0; i-- {
		if data[i] != 0 {
			return i*8 + 7 - bits.TrailingZeros8(data[i])
		}
	}
	return -1
}

// bitWriter appends bits to a byte slice.
type bitWriter struct {
	data []byte
	free int // unused low bits of the last byte
}

func (w *bitWriter) bit(b uint32) {
	if w.free == 0 {
		w.data = append(w.data, 0)
		w.free = 8
	}
	w.free--
	w.data[len(w.data)-1] |= byte(b&1) << w.free
}

// u writes the low n bits of v, n at most 32.
func (w *bitWriter) u(v uint32, n int) {
	for ; n > 0; n-- {
		w.bit(v >> (n - 1))
	}
}

func (w *bitWriter) ue(v uint32) {
	x := uint64(v) + 1
	n := bits.Len64(x)
	w.u(0, n-1)
	w.bit(1)
	w.u(uint32(x), n-1)
}

func (w *bitWriter) se(v int32) {
	if v > 0 {
		w.ue(uint32(2*v - 1))
		return
	}
	w.ue(uint32(-2 * int64(v)))
}

// pos is the number of bits written.
func (w *bitWriter) pos() int { return len(w.data)*8 - w.free }

// align fills the last byte with b.
func (w *bitWriter) align(b uint32) {
	for w.free > 0 {
		w.bit(b)
	}
}

// trailing writes rbsp_trailing_bits.
func (w *bitWriter) trailing() {
	w.bit(1)
	w.align(0)
}

// copyBits appends the bits [from, to) of data.
func (w *bitWriter) copyBits(data []byte, from, to int) {
	for from < to && (w.free != 0 || to-from < 8) {
		w.bit(uint32(data[from>>3] >> (7 - from&7)))
		from++
	}
	// Whole bytes go out whole: slice data may be a megabyte.
	shift := from & 7
	for ; from+8 <= to; from += 8 {
		b := data[from>>3] << shift
		if shift != 0 {
			b |= data[from>>3+1] >> (8 - shift)
		}
		w.data = append(w.data, b)
	}
	for ; from < to; from++ {
		w.bit(uint32(data[from>>3] >> (7 - from&7)))
	}
}

// setBits overwrites n bits of data at bit position pos with the low bits of v.
func setBits(data []byte, pos, n int, v uint32) {
	for i := range n {
		p := pos + i
		mask := byte(1) << (7 - p&7)
		data[p>>3] &^= mask
		if v>>(n-1-i)&1 == 1 {
			data[p>>3] |= mask
		}
	}
}
