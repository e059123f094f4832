package mp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/Eyevinn/mp4ff/mp4"
)

// FragmentWriter writes a fragmented file with one fragment a picture, so
// that a kill at any time loses no picture already written. A fragment costs
// 104 bytes besides the picture.
type FragmentWriter struct {
	w    io.Writer
	buf  []byte
	seq  uint32
	next int64 // the lowest tick allowed
	err  error // of an earlier write: the file may be torn there
}

// NewFragmentWriter writes the file's head, ftyp and moov, in one call of
// w.Write.
func NewFragmentWriter(w io.Writer, t Track) (*FragmentWriter, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	m := movie{track: t, extends: true}
	moov, err := m.box()
	if err != nil {
		return nil, err
	}
	ftyp := mp4.NewFtyp("iso5", 512, []string{"iso5", "iso6", "avc1", "mp41"})
	head, err := encodeBoxes(ftyp, moov)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(head); err != nil {
		return nil, fmt.Errorf("mp4: write the head of a fragmented file: %w", err)
	}
	return &FragmentWriter{w: w}, nil
}

// Write writes the picture of a tick, an access unit with 4-byte NAL lengths,
// as one fragment in one call of w.Write. Its duration is one tick; where the
// next picture comes later, the last one stands until then. Ticks must rise
// and the first picture must be a key. After a failed write every further one
// returns the same error.
func (f *FragmentWriter) Write(tick int64, key bool, au []byte) error {
	switch {
	case f.err != nil:
		return f.err
	case tick < f.next || tick > math.MaxInt64/unitsPerTick:
		return fmt.Errorf("mp4: tick %d where %d or later was due", tick, f.next)
	case f.seq == 0 && !key:
		return errors.New("mp4: the first picture of a fragmented file is no key")
	case len(au) == 0 || len(au) > math.MaxInt32:
		return fmt.Errorf("mp4: access unit of %d bytes", len(au))
	}
	f.buf = appendFragment(f.buf[:0], f.seq+1, tick*unitsPerTick, key, au)
	if _, err := f.w.Write(f.buf); err != nil {
		f.err = fmt.Errorf("mp4: write the fragment of tick %d: %w", tick, err)
		return f.err
	}
	f.seq++
	f.next = tick + 1
	return nil
}

// Sizes of the boxes of a fragment, headers included.
const (
	sizeMfhd = 16
	sizeTfhd = 16
	sizeTfdt = 20
	sizeTrun = 28
	sizeTraf = 8 + sizeTfhd + sizeTfdt + sizeTrun
	sizeMoof = 8 + sizeMfhd + sizeTraf
)

func appendFragment(b []byte, seq uint32, time int64, key bool, au []byte) []byte {
	u32 := func(v uint32) { b = binary.BigEndian.AppendUint32(b, v) }
	head := func(size uint32, typ string) {
		u32(size)
		b = append(b, typ...)
	}
	head(sizeMoof, "moof")
	head(sizeMfhd, "mfhd")
	u32(0)
	u32(seq)
	head(sizeTraf, "traf")
	head(sizeTfhd, "tfhd")
	u32(0x020000) // default-base-is-moof; duration is trex's
	u32(trackID)
	head(sizeTfdt, "tfdt")
	u32(1 << 24)
	b = binary.BigEndian.AppendUint64(b, uint64(time))
	head(sizeTrun, "trun")
	u32(0x000205)     // data offset, first sample's flags, sizes
	u32(1)            // sample_count
	u32(sizeMoof + 8) // data_offset
	if key {
		u32(flagSync)
	} else {
		u32(flagNonSync)
	}
	u32(uint32(len(au)))
	head(uint32(8+len(au)), "mdat")
	return append(b, au...)
}
