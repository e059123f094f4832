package mp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// checkNALs follows the NAL lengths of a sample, which must end where the
// sample does, and tells whether it holds an IDR slice.
func checkNALs(r io.ReaderAt, off, size int64) (key bool, err error) {
	var h [minSample]byte
	idr, other := 0, 0
	for end := off + size; off < end; {
		if end-off < minSample {
			return false, fmt.Errorf("%d bytes left where a NAL unit was due", end-off)
		}
		if err := readFull(r, h[:], off); err != nil {
			return false, err
		}
		n := int64(binary.BigEndian.Uint32(h[:]))
		if n == 0 || n > end-off-4 {
			return false, fmt.Errorf("NAL length %d with %d bytes left", n, end-off-4)
		}
		switch h264.Type(h[4:]) {
		case h264.TypeIDR:
			idr++
		case h264.TypeSlice:
			other++
		default: // parameter sets, SEI and delimiters are no picture
		}
		off += 4 + n
	}
	switch {
	case idr+other == 0:
		return false, errors.New("no slice")
	case idr > 0 && other > 0:
		return false, errors.New("slices of an IDR picture and of another")
	}
	return idr > 0, nil
}

// readAhead serves small reads that move forward from one large one.
type readAhead struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	at   int64
}

const readAheadSize = 64 << 10

func (a *readAhead) ReadAt(b []byte, off int64) (int, error) {
	if off < a.at || off+int64(len(b)) > a.at+int64(len(a.buf)) {
		n := max(min(readAheadSize, a.size-off), 0)
		if int64(cap(a.buf)) < n {
			a.buf = make([]byte, n)
		}
		a.buf, a.at = a.buf[:n], off
		if err := readFull(a.r, a.buf, off); err != nil {
			a.buf = a.buf[:0]
			return 0, err
		}
	}
	n := copy(b, a.buf[off-a.at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
