package picture

import (
	"encoding/binary"
	"slices"
)

// webp takes a still picture (RFC 9649): one chunk of VP8 or VP8L, alone or on
// the canvas of VP8X. The canvas should be of the picture's size; it is not
// taken for granted.
func (c *cursor) webp() (Size, error) {
	head := c.take(12)
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" {
		return Size{}, ErrMalformed
	}
	// The size counts from behind itself, so with "WEBP".
	n := int64(binary.LittleEndian.Uint32(head[4:])) - 4
	switch have := int64(len(c.rest)); {
	case n < 0 || n > have || n%2 != 0:
		return Size{}, ErrMalformed
	case n < have:
		return Size{}, ErrTrailing
	}
	var size Size
	var frame, extended bool
	for first := true; len(c.rest) > 0 && !c.short; first = false {
		kind, body, ok := c.webpChunk()
		if !ok {
			return Size{}, ErrMalformed
		}
		var part Size
		switch kind {
		case "VP8X":
			extended = true
			ok = first && len(body) == 10
			if ok && body[0]&0x02 != 0 {
				return Size{}, ErrFrames
			}
			if ok {
				part = Size{Width: 1 + le24(body[4:]), Height: 1 + le24(body[7:])}
			}
		case "VP8 ", "VP8L":
			if frame {
				return Size{}, ErrFrames
			}
			frame = true
			part, ok = vp8(kind, body)
		case "ANIM", "ANMF":
			return Size{}, ErrFrames
		default:
			if frame && !extended {
				return Size{}, ErrTrailing // a simple file is its one chunk
			}
			ok = extended && slices.Contains([]string{"ICCP", "ALPH", "EXIF", "XMP "}, kind)
		}
		if !ok {
			return Size{}, ErrMalformed
		}
		size.grow(part)
	}
	if !frame {
		return Size{}, ErrMalformed
	}
	return c.ended(size)
}

// webpChunk reads one chunk with the byte that makes it even.
func (c *cursor) webpChunk() (kind string, body []byte, ok bool) {
	head := c.take(8)
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	if n+n%2 > int64(len(c.rest)) {
		return "", nil, false
	}
	body = c.take(int(n))
	if n%2 == 1 && c.byte() != 0 {
		return "", nil, false
	}
	return string(head[:4]), body, !c.short
}

// vp8 reads the sides of a lossy key frame (RFC 6386, 9.1), or of a lossless
// picture (RFC 9649, 3.4).
func vp8(kind string, b []byte) (Size, bool) {
	if kind == "VP8L" {
		if len(b) < 5 || b[0] != 0x2f || b[4]>>5 != 0 {
			return Size{}, false
		}
		bits := binary.LittleEndian.Uint32(b[1:])
		return Size{Width: 1 + int(bits&0x3fff), Height: 1 + int(bits>>14&0x3fff)}, true
	}
	if len(b) < 10 || b[0]&1 != 0 || string(b[3:6]) != "\x9d\x01\x2a" {
		return Size{}, false
	}
	return Size{Width: le16(b[6:]) & 0x3fff, Height: le16(b[8:]) & 0x3fff}, true
}

func le24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
