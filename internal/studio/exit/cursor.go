package exit

import "encoding/binary"

// cursor reads the big-endian fields of a box's payload. Reading past the end
// yields zeros and sets bad, so that a reader checks once, at its end.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.bad, c.b = true, nil
		return make([]byte, n)
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.BigEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.BigEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.BigEndian.Uint64(c.take(8)) }

// word reads 64 bits in version 1 of a box and 32 in version 0.
func (c *cursor) word(version byte) uint64 {
	if version == 1 {
		return c.u64()
	}
	return uint64(c.u32())
}

// full reads version and flags and sets bad for a version over newest.
func (c *cursor) full(newest byte) (version byte, flags uint32) {
	v := c.u32()
	version, flags = byte(v>>24), v&0xffffff
	c.want(version <= newest)
	return version, flags
}

// plain reads version 0 and flags 0.
func (c *cursor) plain() {
	c.want(c.u32() == 0)
}

// zeros reads n bytes that must be zero.
func (c *cursor) zeros(n int) {
	c.want(allZero(c.take(n)))
}

func (c *cursor) want(ok bool) {
	if !ok {
		c.bad = true
	}
}

// whole tells whether all fields were there, had allowed values, and nothing
// is left.
func (c *cursor) whole() bool { return !c.bad && len(c.b) == 0 }

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// matrix reads a transformation matrix, which must be the identity (6.2.2).
func (c *cursor) matrix() {
	for _, v := range identityMatrix() {
		c.want(c.u32() == v)
	}
}

func identityMatrix() []uint32 {
	return []uint32{0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000}
}
