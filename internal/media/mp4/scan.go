package mp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxIndex bounds the moov and moof boxes read into memory, in bytes: an index
// of over 24 hours at 60 pictures a second fits.
const maxIndex = 128 << 20

// maxSamples bounds the samples of one file: 155 hours at 60 a second.
const maxSamples = 1 << 25

// errCut is the reason for a box that the end of the file cuts.
var errCut = errors.New("cut off by the end of the file")

// topBox is a box of the file itself.
type topBox struct {
	typ        string
	start, end int64 // in the file
	payload    int64 // where its payload begins
}

// readTop reads the header of the box at an offset of a file of the given
// size. A box that does not fit the file is errCut; its start is still valid.
func readTop(r io.ReaderAt, off, size int64) (topBox, error) {
	var h [16]byte
	b := topBox{start: off}
	if size-off < 8 {
		return b, errCut
	}
	n := min(16, size-off)
	if err := readFull(r, h[:n], off); err != nil {
		return b, err
	}
	b.typ = string(h[4:8])
	length := int64(binary.BigEndian.Uint32(h[:]))
	b.payload = off + 8
	switch length {
	case 0: // up to the end of the file
		length = size - off
	case 1:
		if n < 16 {
			return b, errCut
		}
		large := binary.BigEndian.Uint64(h[8:])
		if large > uint64(size-off) {
			return b, errCut
		}
		length = int64(large)
		b.payload = off + 16
	}
	if length < b.payload-off {
		return b, fmt.Errorf("box of %d bytes", length)
	}
	if length > size-off {
		return b, errCut
	}
	b.end = off + length
	return b, nil
}

// readPayload reads a box's payload into memory.
func readPayload(r io.ReaderAt, b topBox) ([]byte, error) {
	n := b.end - b.payload
	if n > maxIndex {
		return nil, &FormatError{Box: b.typ, Offset: b.start, Reason: fmt.Sprintf("%d bytes, over %d", n, maxIndex)}
	}
	data := make([]byte, n)
	if err := readFull(r, data, b.payload); err != nil {
		return nil, fmt.Errorf("mp4: read box %q at byte %d: %w", b.typ, b.start, err)
	}
	return data, nil
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return &readError{err}
}

// readError tells a file that cannot be read from one with wrong bytes.
type readError struct{ err error }

func (e *readError) Error() string { return "read: " + e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// innerBox is a box inside another one in memory.
type innerBox struct {
	typ  string
	data []byte
}

// innerBoxes iterates over the boxes in a payload and ends at the first that
// does not fit.
func innerBoxes(data []byte) iter.Seq2[innerBox, error] {
	return func(yield func(innerBox, error) bool) {
		for len(data) >= 8 {
			size, head := uint64(binary.BigEndian.Uint32(data)), uint64(8)
			typ := string(data[4:8])
			switch {
			case size == 0:
				size = uint64(len(data))
			case size == 1 && len(data) >= 16:
				size, head = binary.BigEndian.Uint64(data[8:]), 16
			}
			if size < head || size > uint64(len(data)) {
				yield(innerBox{}, badBox(typ, "%d bytes in a space of %d", size, len(data)))
				return
			}
			if !yield(innerBox{typ: typ, data: data[head:size]}, nil) {
				return
			}
			data = data[size:]
		}
	}
}

// fields reads the big-endian fields of a payload. Reading past the end yields
// zeros and sets short.
type fields struct {
	data  []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.data) < n {
		f.short = true
		f.data = nil
		return make([]byte, n)
	}
	b := f.data[:n]
	f.data = f.data[n:]
	return b
}

func (f *fields) u16() uint16 { return binary.BigEndian.Uint16(f.take(2)) }
func (f *fields) u32() uint32 { return binary.BigEndian.Uint32(f.take(4)) }
func (f *fields) u64() uint64 { return binary.BigEndian.Uint64(f.take(8)) }

// full reads the version and flags of a full box.
func (f *fields) full() (version byte, flags uint32) {
	v := f.u32()
	return byte(v >> 24), v & 0xffffff
}

// word reads 64 bits in version 1 of a box and 32 in version 0.
func (f *fields) word(version byte) uint64 {
	if version == 1 {
		return f.u64()
	}
	return uint64(f.u32())
}
