package picture

import (
	"bytes"
	"encoding/binary"
)

// Markers of ITU-T T.81, table B.1.
const (
	markSOF0 = 0xc0 // baseline; 0xc1 extended, 0xc2 progressive
	markSOF2 = 0xc2
	markDHT  = 0xc4
	markRST0 = 0xd0
	markRST7 = 0xd7
	markSOI  = 0xd8
	markEOI  = 0xd9
	markSOS  = 0xda
	markDQT  = 0xdb
	markDRI  = 0xdd
	markAPP0 = 0xe0
	markAPPF = 0xef
	markCOM  = 0xfe
)

// jpeg takes one frame of a baseline, extended or progressive picture. Lossless,
// arithmetic and hierarchical ones, and a number of lines that is told only
// after the scan, are what hardly anybody reads.
func (c *cursor) jpeg() (Size, error) {
	if !bytes.HasPrefix(c.rest, []byte{0xff, markSOI}) {
		return Size{}, ErrMalformed
	}
	c.take(2)
	var size Size
	var frame, scan bool
	for !c.short {
		mark := c.marker()
		if mark == markEOI {
			if !scan {
				return Size{}, ErrMalformed
			}
			return c.ended(size)
		}
		if mark == markSOI {
			return Size{}, ErrFrames
		}
		if !hasSegment(mark) {
			return Size{}, ErrMalformed
		}
		segment := c.take(int(binary.BigEndian.Uint16(c.take(2))) - 2)
		switch {
		case c.short:
			return Size{}, ErrMalformed
		case mark >= markSOF0 && mark <= markSOF2:
			if frame {
				return Size{}, ErrFrames
			}
			if len(segment) < 6 || len(segment) != 6+3*int(segment[5]) {
				return Size{}, ErrMalformed
			}
			frame = true
			size = Size{Width: int(binary.BigEndian.Uint16(segment[3:])), Height: int(binary.BigEndian.Uint16(segment[1:]))}
		case mark == markSOS:
			if !frame {
				return Size{}, ErrMalformed
			}
			scan = true
			c.entropy()
		}
	}
	return Size{}, ErrMalformed
}

// marker reads a marker with the fill bytes before it; 0 where there is none.
func (c *cursor) marker() byte {
	if c.byte() != 0xff {
		return 0
	}
	for !c.short {
		if b := c.byte(); b != 0xff {
			return b
		}
	}
	return 0
}

func hasSegment(mark byte) bool {
	switch mark {
	case markDHT, markSOS, markDQT, markDRI, markCOM:
		return true
	}
	return mark >= markSOF0 && mark <= markSOF2 || mark >= markAPP0 && mark <= markAPPF
}

// entropy goes to the marker that ends a scan's coded data. In them 0xff is
// followed by 0, or is a restart marker.
func (c *cursor) entropy() {
	for {
		at := bytes.IndexByte(c.rest, 0xff)
		if at < 0 || at+1 == len(c.rest) {
			c.take(len(c.rest) + 1)
			return
		}
		next := c.rest[at+1]
		switch {
		case next == 0 || next >= markRST0 && next <= markRST7:
			c.take(at + 2)
		case next == 0xff: // a fill byte, and the next may be a marker's first
			c.take(at + 1)
		default:
			c.take(at)
			return
		}
	}
}
