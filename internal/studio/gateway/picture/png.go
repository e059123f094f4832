package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// png takes a picture of one frame. Each chunk's sum is compared: readers
// differ in what they do with a chunk whose sum is wrong.
func (c *cursor) png() (Size, error) {
	if !bytes.Equal(c.take(8), []byte("\x89PNG\r\n\x1a\n")) {
		return Size{}, ErrMalformed
	}
	var size Size
	var last string
	var data bool
	for first := true; !c.short; first = false {
		kind, body, ok := c.pngChunk()
		if !ok || first != (kind == "IHDR") {
			return Size{}, ErrMalformed
		}
		switch kind {
		case "IHDR":
			if len(body) != 13 {
				return Size{}, ErrMalformed
			}
			w, h := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
			if w > 1<<31-1 || h > 1<<31-1 {
				return Size{}, ErrMalformed
			}
			size = Size{Width: int(w), Height: int(h)}
		case "acTL", "fcTL", "fdAT": // APNG; of one frame too, whose size may be another
			return Size{}, ErrFrames
		case "IDAT":
			if data && last != kind { // they follow each other
				return Size{}, ErrMalformed
			}
			data = true
		case "IEND":
			if len(body) > 0 || !data {
				return Size{}, ErrMalformed
			}
			return c.ended(size)
		case "PLTE":
		default:
			if kind[0]&0x20 == 0 { // a chunk that must be understood
				return Size{}, ErrMalformed
			}
		}
		last = kind
	}
	return Size{}, ErrMalformed
}

// pngChunk reads one chunk; ok is false when it is cut, misnamed or damaged.
func (c *cursor) pngChunk() (kind string, body []byte, ok bool) {
	n := binary.BigEndian.Uint32(c.take(4))
	if int64(n) > int64(len(c.rest))-8 {
		return "", nil, false
	}
	summed := c.take(4 + int(n))
	sum := binary.BigEndian.Uint32(c.take(4))
	for _, b := range summed[:4] {
		if l := b | 0x20; l < 'a' || l > 'z' {
			return "", nil, false
		}
	}
	return string(summed[:4]), summed[4:], crc32.ChecksumIEEE(summed) == sum
}
