package exit

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// pictures reads every sample and judges its NAL units. Keep, unless nil, gets
// each sample's slices, the only units that ever leave; they are valid until
// it returns.
func (f *film) pictures(r io.ReaderAt, keep func(i int, slices [][]byte) error) error {
	var buf []byte
	var slices [][]byte
	for i, s := range f.samples {
		if int64(cap(buf)) < s.size {
			buf = make([]byte, s.size)
		}
		buf = buf[:s.size]
		if err := readAt(r, buf, s.offset); err != nil {
			return err
		}
		var err error
		if slices, err = f.picture(buf, s.key, slices[:0]); err != nil {
			return err
		}
		if keep == nil {
			continue
		}
		if err := keep(i, slices); err != nil {
			return err
		}
	}
	return nil
}

// maxSlices bounds the slices of a picture.
const maxSlices = 128

// picture judges one access unit: before the slices of one picture there may
// be, in any order, a delimiter, the film's own parameter sets once more, and
// x264's description of itself. (ffmpeg puts the latter before all else, and
// twice when headers are repeated.) It appends the slices to the ones given.
func (f *film) picture(au []byte, key bool, slices [][]byte) ([][]byte, error) {
	var seen [32]int
	p := pictureSlices{f: f, key: key}
	for len(au) > 0 {
		if len(au) < 4 {
			return nil, refuse(NALUnit, "length")
		}
		n := uint64(binary.BigEndian.Uint32(au))
		if n < 2 || n > uint64(len(au)-4) {
			return nil, refuse(NALUnit, "length")
		}
		nal := au[4 : 4+n]
		au = au[4+n:]
		if nal[0]&0x80 != 0 { // forbidden_zero_bit
			return nil, refuse(NALUnit, "header")
		}
		typ := h264.Type(nal)
		seen[typ]++
		if typ == h264.TypeSlice || typ == h264.TypeIDR {
			if err := p.add(nal); err != nil {
				return nil, err
			}
			slices = append(slices, nal)
			continue
		}
		if err := f.beside(nal, p.count == 0, key, seen[typ]); err != nil {
			return nil, err
		}
	}
	if p.count == 0 {
		return nil, refuse(NALUnit, "no slice")
	}
	return slices, nil
}

// beside judges a NAL unit that is no slice: whether it comes before the
// slices, how often its type has been there, and what it says.
func (f *film) beside(nal []byte, before, key bool, times int) error {
	once := before && times == 1
	switch h264.Type(nal) {
	case h264.TypeAUD:
		if once && len(nal) == 2 && nal[0] == 9 && nal[1]&0x1f == 0x10 {
			return nil
		}
		return refuse(NALUnit, "delimiter")
	case h264.TypeSPS:
		if once && bytes.Equal(nal, f.sets.nalSPS) {
			return nil
		}
		return refuse(ParameterSet, "sample")
	case h264.TypePPS:
		if once && bytes.Equal(nal, f.sets.nalPPS) {
			return nil
		}
		return refuse(ParameterSet, "sample")
	case h264.TypeSEI:
		if before && times <= 2 && key && describesEncoder(nal) {
			return nil
		}
		return refuse(UserData, "sample")
	default:
		return refuse(NALType, "sample")
	}
}

// pictureSlices checks that slices belong to one picture.
type pictureSlices struct {
	f     *film
	key   bool
	count int
	first h264.SliceHeader
	last  uint32 // first_mb_in_slice of the one before
}

func (p *pictureSlices) add(nal []byte) error {
	if (h264.Type(nal) == h264.TypeIDR) != p.key {
		return refuse(SampleTable, "stss")
	}
	if p.count++; p.count > maxSlices {
		return refuse(Slice, "count")
	}
	if !wellEscaped(nal) {
		return refuse(NALUnit, "escaping")
	}
	h, err := h264.ParseSliceHeader(nal, &p.f.sets.sps, &p.f.sets.pps)
	if err != nil || h.IDR && h.RefIDC == 0 {
		return refuse(Slice, "header")
	}
	if p.count == 1 {
		p.first = h
		if h.FirstMb != 0 {
			return refuse(Slice, "order")
		}
		return nil
	}
	same := h.FrameNum == p.first.FrameNum && h.IDRPicID == p.first.IDRPicID && h.POCLsb == p.first.POCLsb &&
		(h.RefIDC == 0) == (p.first.RefIDC == 0)
	if !same || h.FirstMb <= p.last {
		return refuse(Slice, "order")
	}
	p.last = h.FirstMb
	return nil
}

// maxZeroWords bounds the cabac_zero_words after a slice (7.3.2.8).
const maxZeroWords = 16

// wellEscaped tells whether a NAL unit holds no start code, escapes only what
// needs it, and ends as a slice must (7.3.1, 7.4.1): after its stop bit come
// only a few cabac_zero_words.
func wellEscaped(nal []byte) bool {
	zeroWord := []byte{0, 0, 3}
	words := 0
	for bytes.HasSuffix(nal, zeroWord) {
		nal = nal[:len(nal)-3]
		if words++; words > maxZeroWords {
			return false
		}
	}
	if len(nal) < 2 || nal[len(nal)-1] == 0 {
		return false
	}
	for {
		i := bytes.Index(nal, zeroWord[:2])
		if i < 0 {
			return true
		}
		// The last byte is not zero, so one follows.
		if nal[i+2] < 3 {
			return false
		}
		if nal[i+2] > 3 {
			nal = nal[i+2:]
			continue
		}
		if i+3 >= len(nal) || nal[i+3] > 3 {
			return false
		}
		nal = nal[i+3:]
	}
}

// describesEncoder tells whether an SEI NAL unit is the one that x264 writes
// at the start of a stream: a single user_data_unregistered message (D.2.6)
// under x264's UUID. What it says is not looked at, for it never leaves.
func describesEncoder(nal []byte) bool {
	const longest = 4096
	x264 := []byte{0xdc, 0x45, 0xe9, 0xbd, 0xe6, 0xd9, 0x48, 0xb7, 0x96, 0x2c, 0xd8, 0x20, 0xd9, 0x23, 0xee, 0xef}
	if len(nal) > longest || nal[0] != 6 {
		return false
	}
	c := &cursor{b: h264.Unescape(nil, nal[1:])}
	c.want(c.u8() == 5) // payloadType
	size := 0
	for more := byte(0xff); more == 0xff && !c.bad; {
		more = c.u8()
		size += int(more)
	}
	if c.bad || size < len(x264) || size > len(c.b) {
		return false
	}
	c.want(bytes.HasPrefix(c.take(size), x264))
	c.want(c.u8() == 0x80) // rbsp_trailing_bits
	return c.whole()
}
