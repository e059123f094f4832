package exit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// film is what the walker knows of a file that it has accepted.
type film struct {
	want    Want
	sets    parameterSets
	samples []sample
	show    []int32 // show[i] is the place of sample i in the order of display
}

// sample is one coded picture in the file.
type sample struct {
	offset int64
	size   int64
	key    bool // an IDR picture, as the tables and the NAL units say
}

// span is a box of the file itself: [body, end) is its payload, in bytes from
// the file's start.
type span struct {
	typ       string
	body, end int64
}

// maxPadding bounds a free box in bytes. The film writer leaves room for its
// index: 24 bytes, and 4 a second.
const maxPadding = 4096

// walk examines a film of size bytes from its first byte to its last: boxes,
// tables, parameter sets and every NAL unit, each against a list of what is
// allowed. What it reads into memory is bounded by want, never by a number in
// the file. A fault in the file is a [RefusedError]; other errors are r's.
func walk(r io.ReaderAt, size int64, want Want) (*film, error) {
	if size < 1 || size > want.MaxBytes {
		return nil, refuse(TooLarge, "film")
	}
	moov, mdat, err := topLevel(r, size)
	if err != nil {
		return nil, err
	}
	if moov.end-moov.body > want.maxIndex() {
		return nil, refuse(SampleTable, "moov")
	}
	body := make([]byte, moov.end-moov.body)
	if err := readAt(r, body, moov.body); err != nil {
		return nil, err
	}
	x := &index{want: want}
	if err := descend(body, x.movie()); err != nil {
		return nil, err
	}
	f := &film{want: want}
	if f.samples, err = x.layOut(mdat); err != nil {
		return nil, err
	}
	if f.show, err = x.order(); err != nil {
		return nil, err
	}
	if f.sets, err = readConfig(x.config, want); err != nil {
		return nil, err
	}
	return f, f.pictures(r, nil)
}

// topLevel reads the boxes of the file itself: ftyp first, one moov, one
// mdat, and padding.
func topLevel(r io.ReaderAt, size int64) (moov, mdat span, err error) {
	padding := 0
	for at := int64(0); at < size; {
		b, err := boxAt(r, at, size)
		if err != nil {
			return moov, mdat, err
		}
		if (at == 0) != (b.typ == "ftyp") {
			if at == 0 {
				return moov, mdat, refuse(BoxMissing, "ftyp")
			}
			return moov, mdat, refuse(BoxRepeated, "ftyp")
		}
		switch b.typ {
		case "ftyp":
			err = fileType(r, b)
		case "free":
			padding++
			err = checkPadding(r, b, padding)
		case "moov":
			err = once(&moov, b, "moov")
		case "mdat":
			err = once(&mdat, b, "mdat")
		default:
			err = refuse(BoxUnknown, "file")
		}
		if err != nil {
			return moov, mdat, err
		}
		at = b.end
	}
	if moov.end == 0 {
		return moov, mdat, refuse(BoxMissing, "moov")
	}
	if mdat.end == 0 {
		return moov, mdat, refuse(BoxMissing, "mdat")
	}
	return moov, mdat, nil
}

func once(to *span, b span, rule string) error {
	if to.end != 0 {
		return refuse(BoxRepeated, rule)
	}
	*to = b
	return nil
}

// boxAt reads a box's header (4.2). Only mdat may have a 64-bit size, and no
// box one that is open to the end of the file.
func boxAt(r io.ReaderAt, at, size int64) (span, error) {
	var h [16]byte
	if size-at < 8 {
		return span{}, refuse(BoxSize, "file")
	}
	if err := readAt(r, h[:8], at); err != nil {
		return span{}, err
	}
	b := span{typ: string(h[4:8]), body: at + 8}
	length := uint64(binary.BigEndian.Uint32(h[:4]))
	if length == 1 && b.typ == "mdat" && size-at >= 16 {
		if err := readAt(r, h[8:], at+8); err != nil {
			return span{}, err
		}
		length, b.body = binary.BigEndian.Uint64(h[8:]), at+16
	}
	if length < uint64(b.body-at) || length > uint64(size-at) {
		return span{}, refuse(BoxSize, "file")
	}
	b.end = at + int64(length)
	return b, nil
}

// fileType reads ftyp (4.3): brands of plain MP4 files only.
func fileType(r io.ReaderAt, b span) error {
	n := b.end - b.body
	if n < 8 || n > 8+8*4 || n%4 != 0 {
		return refuse(Brand, "ftyp")
	}
	body := make([]byte, n)
	if err := readAt(r, body, b.body); err != nil {
		return err
	}
	version := binary.BigEndian.Uint32(body[4:])
	if version > 1 && version != 0x200 {
		return refuse(Brand, "ftyp")
	}
	for i := 0; i < len(body); i += 4 {
		if i == 4 {
			continue
		}
		switch string(body[i : i+4]) {
		case "isom", "iso2", "iso4", "iso5", "iso6", "avc1", "mp41", "mp42":
		default:
			return refuse(Brand, "ftyp")
		}
	}
	return nil
}

func checkPadding(r io.ReaderAt, b span, count int) error {
	n := b.end - b.body
	if count > 2 || n > maxPadding {
		return refuse(Padding, "free")
	}
	body := make([]byte, n)
	if err := readAt(r, body, b.body); err != nil {
		return err
	}
	if !allZero(body) {
		return refuse(Padding, "free")
	}
	return nil
}

// readAt fills b. An end of file before that is an error like any other: the
// file is our own copy and has the size it had.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes of the copy at byte %d: %w", len(b), at, err)
}
