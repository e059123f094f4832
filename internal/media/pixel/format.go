package pixel

import "encoding/binary"

// Format is the memory layout of one source pixel. Layouts are little-endian,
// named from the most significant bit down.
type Format int

// Formats that X servers use for their root window.
const (
	// BGRX is 8:8:8 in 32 bits, bytes B, G, R, unused: depth 24.
	BGRX Format = iota
	// RGB565 is 5:6:5 in 16 bits: depth 16.
	RGB565
	// X2R10G10B10 is 10:10:10 in the low 30 of 32 bits: depth 30.
	X2R10G10B10
)

// BytesPerPixel is the size of one pixel: 2 or 4.
func (f Format) BytesPerPixel() int {
	if f == RGB565 {
		return 2
	}
	return 4
}

// String is the name that answers and logs show.
func (f Format) String() string {
	switch f {
	case BGRX:
		return "bgrx"
	case RGB565:
		return "rgb565"
	case X2R10G10B10:
		return "x2r10g10b10"
	default:
		return "unknown"
	}
}

// expand writes len(dst)/4 pixels of src as BGRX. Each channel keeps full
// range: the largest value becomes 255. src may be longer than needed.
func (f Format) expand(dst, src []byte) {
	switch f {
	case RGB565:
		for ; len(dst) >= 4 && len(src) >= 2; dst, src = dst[4:], src[2:] {
			p := uint32(binary.LittleEndian.Uint16(src))
			high := p&0xf800<<8 | p&0x07e0<<5 | p&0x001f<<3
			low := p&0xe000<<3 | p&0x0600>>1 | p&0x001c>>2
			binary.LittleEndian.PutUint32(dst, high|low)
		}
	case X2R10G10B10:
		for ; len(dst) >= 4 && len(src) >= 4; dst, src = dst[4:], src[4:] {
			p := binary.LittleEndian.Uint32(src)
			binary.LittleEndian.PutUint32(dst, narrow10(p)|narrow10(p>>10)<<8|narrow10(p>>20)<<16)
		}
	default:
		copy(dst, src)
	}
}

// narrow10 rounds the low 10 bits of v, a value of 0..1023, to 0..255: the
// nearest of v*255/1023, as a multiplication that is exact for all 1024 values.
func narrow10(v uint32) uint32 {
	return ((v&1023)*16336 + 1<<15) >> 16
}
