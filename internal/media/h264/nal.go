package h264

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// NALType is nal_unit_type (table 7-1).
type NALType byte

// The NAL unit types this package knows.
const (
	TypeSlice     NALType = 1
	TypeIDR       NALType = 5
	TypeSEI       NALType = 6
	TypeSPS       NALType = 7
	TypePPS       NALType = 8
	TypeAUD       NALType = 9
	TypeEndOfSeq  NALType = 10
	TypeEndOfStrm NALType = 11
	TypeFiller    NALType = 12
)

// Type returns the type of a NAL unit, 0 for an empty one.
func Type(nal []byte) NALType {
	if len(nal) == 0 {
		return 0
	}
	return NALType(nal[0] & 0x1f)
}

// RefIDC returns nal_ref_idc, 0..3; 0 for an empty NAL unit.
func RefIDC(nal []byte) byte {
	if len(nal) == 0 {
		return 0
	}
	return nal[0] >> 5 & 3
}

// StartsPicture tells whether nal is a slice with first_mb_in_slice 0. In
// streams without arbitrary slice order that is the first slice of a picture.
func StartsPicture(nal []byte) bool {
	t := Type(nal)
	return (t == TypeSlice || t == TypeIDR) && len(nal) > 1 && nal[1]&0x80 != 0
}

// IsKey tells whether an access unit with 4-byte lengths holds an IDR slice.
// Malformed bytes hold none.
func IsKey(au []byte) bool {
	for nal, err := range SplitAVCC(au) {
		if err == nil && Type(nal) == TypeIDR {
			return true
		}
	}
	return false
}

// SplitAVCC iterates over the NAL units of an access unit in which each has
// its length before it in 4 bytes, big endian. The units alias au. A length of
// zero or past the end ends the walk with a [SyntaxError].
func SplitAVCC(au []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for rest := au; len(rest) > 0; {
			if len(rest) < 4 {
				yield(nil, malformed("access unit", "%d bytes left where a NAL length was due", len(rest)))
				return
			}
			n := uint64(binary.BigEndian.Uint32(rest))
			if n == 0 || n > uint64(len(rest)-4) {
				yield(nil, malformed("access unit", "NAL length %d with %d bytes left", n, len(rest)-4))
				return
			}
			nal := rest[4 : 4+n]
			rest = rest[4+n:]
			if !yield(nal, nil) {
				return
			}
		}
	}
}

// SplitAnnexB iterates over the NAL units of a byte stream with start codes
// (annex B). The units alias stream. Bytes before the first start code are
// skipped; zero bytes that trail a unit are not part of it.
func SplitAnnexB(stream []byte) iter.Seq[[]byte] {
	startCode := []byte{0, 0, 1}
	return func(yield func([]byte) bool) {
		i := bytes.Index(stream, startCode)
		for i >= 0 {
			stream = stream[i+3:]
			nal := stream
			if i = bytes.Index(stream, startCode); i >= 0 {
				nal = stream[:i]
			}
			nal = bytes.TrimRight(nal, "\x00")
			if len(nal) > 0 && !yield(nal) {
				return
			}
		}
	}
}

// AppendAVCC appends a NAL unit with its length in 4 bytes.
func AppendAVCC(dst, nal []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(nal)))
	return append(dst, nal...)
}

// AppendAnnexB appends a NAL unit with a 4-byte start code.
func AppendAnnexB(dst, nal []byte) []byte {
	dst = append(dst, 0, 0, 0, 1)
	return append(dst, nal...)
}

// AVCCToAnnexB appends to dst the access unit au with start codes in place of
// lengths.
func AVCCToAnnexB(dst, au []byte) ([]byte, error) {
	for nal, err := range SplitAVCC(au) {
		if err != nil {
			return dst, err
		}
		dst = AppendAnnexB(dst, nal)
	}
	return dst, nil
}

// AnnexBToAVCC appends to dst the byte stream with lengths in place of start
// codes.
func AnnexBToAVCC(dst, stream []byte) []byte {
	for nal := range SplitAnnexB(stream) {
		dst = AppendAVCC(dst, nal)
	}
	return dst
}

// Unescape appends to dst the bytes of a NAL unit without the
// emulation_prevention_three_bytes (7.3.1).
func Unescape(dst, nal []byte) []byte {
	escape := []byte{0, 0, 3}
	for {
		i := bytes.Index(nal, escape)
		if i < 0 {
			return append(dst, nal...)
		}
		dst = append(dst, nal[:i+2]...)
		nal = nal[i+3:]
	}
}

// Escape appends to dst the bytes rbsp, NAL header included, with
// emulation_prevention_three_bytes. It is the inverse of [Unescape].
func Escape(dst, rbsp []byte) []byte {
	zeros := []byte{0, 0}
	for {
		i := bytes.Index(rbsp, zeros)
		if i < 0 {
			return append(dst, rbsp...)
		}
		dst = append(dst, rbsp[:i+2]...)
		rbsp = rbsp[i+2:]
		// The last two bytes being zero are a cabac_zero_word: it is closed
		// by a 3, too (7.4.1).
		if len(rbsp) == 0 || rbsp[0] <= 3 {
			dst = append(dst, 3)
		}
	}
}
