package exit

import "encoding/binary"

// entries reads a table of entries of width bytes, which must fill the rest
// of the box and be no more than most. It allocates nothing.
func entries(c *cursor, width, most int) ([]byte, bool) {
	count := c.u32()
	if c.bad || most < 0 || uint64(count) > uint64(most) || uint64(count)*uint64(width) != uint64(len(c.b)) {
		return nil, false
	}
	return c.b, true
}

func (x *index) most() int {
	_, most := x.want.frames()
	return most
}

// durations reads stts (8.6.1.2): one entry, for all samples last equally long.
func (x *index) durations(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	b, ok := entries(c, 8, 1)
	if c.bad {
		return refuse(BoxFields, "stts")
	}
	if !ok || len(b) != 8 {
		return refuse(FrameRate, "stts")
	}
	least, most := x.want.frames()
	count := binary.BigEndian.Uint32(b)
	x.delta = uint64(binary.BigEndian.Uint32(b[4:]))
	if uint64(count) < uint64(least) || uint64(count) > uint64(most) {
		return refuse(Duration, "stts")
	}
	x.count = int(count)
	return nil
}

// offsets reads ctts (8.6.1.3).
func (x *index) offsets(body []byte) error {
	c := &cursor{b: body}
	version, flags := c.full(1)
	c.want(flags == 0)
	b, ok := entries(c, 8, x.most())
	if c.bad {
		return refuse(BoxFields, "ctts")
	}
	if !ok || len(b) == 0 {
		return refuse(SampleTable, "ctts")
	}
	x.shifts, x.signed = b, version == 1
	return nil
}

// keyframes reads stss (8.6.2).
func (x *index) keyframes(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	b, ok := entries(c, 4, x.most())
	if c.bad {
		return refuse(BoxFields, "stss")
	}
	if !ok {
		return refuse(SampleTable, "stss")
	}
	x.keys, x.hasKey = b, true
	return nil
}

// chunkRuns reads stsc (8.7.4).
func (x *index) chunkRuns(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	b, ok := entries(c, 12, x.most())
	if c.bad {
		return refuse(BoxFields, "stsc")
	}
	if !ok || len(b) == 0 {
		return refuse(SampleTable, "stsc")
	}
	x.runs = b
	return nil
}

// sizes reads stsz (8.7.3.2).
func (x *index) sizes(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	if size := c.u32(); size != 0 { // of every sample; 0: they differ
		count := c.u32()
		if !c.whole() {
			return refuse(BoxFields, "stsz")
		}
		if uint64(count) > uint64(x.most()) {
			return refuse(SampleTable, "stsz")
		}
		x.each = make([]byte, 4*count)
		for i := range int(count) {
			binary.BigEndian.PutUint32(x.each[4*i:], size)
		}
		return nil
	}
	b, ok := entries(c, 4, x.most())
	if c.bad {
		return refuse(BoxFields, "stsz")
	}
	if !ok {
		return refuse(SampleTable, "stsz")
	}
	x.each = b
	return nil
}

// chunkOffsets32 reads stco, chunkOffsets64 co64 (8.7.5); one of them.
func (x *index) chunkOffsets32(body []byte) error { return x.chunkOffsets(body, 4) }

func (x *index) chunkOffsets64(body []byte) error { return x.chunkOffsets(body, 8) }

func (x *index) chunkOffsets(body []byte, width int) error {
	if x.placed {
		return refuse(BoxRepeated, "stco")
	}
	c := &cursor{b: body}
	c.plain()
	b, ok := entries(c, width, x.most())
	if c.bad {
		return refuse(BoxFields, "stco")
	}
	if !ok {
		return refuse(SampleTable, "stco")
	}
	x.placed, x.chunks = true, make([]uint64, len(b)/width)
	for i := range x.chunks {
		if width == 4 {
			x.chunks[i] = uint64(binary.BigEndian.Uint32(b[4*i:]))
			continue
		}
		x.chunks[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}
