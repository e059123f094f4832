package picture

import "encoding/binary"

// gif takes a picture of one frame (GIF89a, and 87a, which it extends). The
// frame may be larger than the screen that it lies on: readers enlarge it.
func (c *cursor) gif() (Size, error) {
	if v := string(c.take(6)); v != "GIF89a" && v != "GIF87a" {
		return Size{}, ErrMalformed
	}
	screen := c.take(7)
	size := Size{Width: le16(screen), Height: le16(screen[2:])}
	c.palette(screen[4])
	frame := false
	for !c.short {
		switch c.byte() {
		case 0x3b:
			if !frame {
				return Size{}, ErrMalformed
			}
			return c.ended(size)
		case 0x2c:
			if frame {
				return Size{}, ErrFrames
			}
			frame = true
			at := c.take(9)
			size.grow(Size{Width: le16(at) + le16(at[4:]), Height: le16(at[2:]) + le16(at[6:])})
			c.palette(at[8])
			c.byte() // the least size of a code
			c.subBlocks()
		case 0x21:
			if !c.extension() {
				return Size{}, ErrMalformed
			}
		default:
			return Size{}, ErrMalformed
		}
	}
	return Size{}, ErrMalformed
}

// extension skips one. Readers that take the first block's length for granted
// must come to the same end as those that don't. Plain text (1) is drawn by
// nobody, or as a frame of its own.
func (c *cursor) extension() bool {
	label := c.byte()
	if len(c.rest) == 0 {
		return false
	}
	first := c.rest[0]
	switch label {
	case 0xf9: // graphic control: one block of 4
		return first == 4 && len(c.rest) >= 6 && c.take(6)[5] == 0
	case 0xff: // an application's name, and its data
		if first != 11 {
			return false
		}
	case 0xfe: // a comment
	default:
		return false
	}
	c.subBlocks()
	return true
}

// palette skips the table of colours that flags tell of.
func (c *cursor) palette(flags byte) {
	if flags&0x80 != 0 {
		c.take(3 << (1 + flags&7))
	}
}

func (c *cursor) subBlocks() {
	for n := c.byte(); n > 0; n = c.byte() {
		c.take(int(n))
	}
}

func le16(b []byte) int { return int(binary.LittleEndian.Uint16(b)) }
