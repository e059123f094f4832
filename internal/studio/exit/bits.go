package exit

// bits reads an RBSP bit by bit. Reading past the end yields zeros and sets
// bad. Package h264 reads parameter sets as far as it uses them; here every
// bit up to the last must be accounted for.
type bits struct {
	b   []byte
	pos int
	bad bool
}

func (r *bits) bit() uint32 {
	if r.pos >= len(r.b)*8 {
		r.bad = true
		return 0
	}
	v := r.b[r.pos>>3] >> (7 - r.pos&7) & 1
	r.pos++
	return uint32(v)
}

func (r *bits) flag() bool { return r.bit() == 1 }

func (r *bits) u(n int) uint32 {
	var v uint32
	for range n {
		v = v<<1 | r.bit()
	}
	return v
}

// ue reads an Exp-Golomb code (9.1) of at most most.
func (r *bits) ue(most uint32) uint32 {
	zeros := 0
	for r.bit() == 0 {
		zeros++
		if zeros > 31 || r.bad {
			r.bad = true
			return 0
		}
	}
	v := uint32(uint64(1)<<zeros - 1 + uint64(r.u(zeros)))
	r.want(v <= most)
	return v
}

// se reads a signed Exp-Golomb code (9.1.1) of least to most.
func (r *bits) se(least, most int32) int32 {
	k := r.ue(1 << 20)
	v := int32(k/2 + k&1)
	if k&1 == 0 {
		v = -v
	}
	r.want(v >= least && v <= most)
	return v
}

func (r *bits) want(ok bool) {
	if !ok {
		r.bad = true
	}
}

// more tells whether anything but the trailing bits is left (7.2).
func (r *bits) more() bool {
	last := len(r.b)*8 - 1
	for last > r.pos && r.b[last>>3]>>(7-last&7)&1 == 0 {
		last--
	}
	return last > r.pos
}

// whole reads rbsp_trailing_bits (7.3.2.11) and tells whether the bytes end
// with them and all before was allowed.
func (r *bits) whole() bool {
	r.want(r.flag())
	for r.pos&7 != 0 {
		r.want(!r.flag())
	}
	return !r.bad && r.pos == len(r.b)*8
}
