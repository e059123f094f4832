package h264

import "encoding/binary"

// appendEscaped appends an RBSP as a NAL unit with a 4-byte length.
func appendEscaped(dst, rbsp []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = Escape(dst, rbsp)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// withIDRPicID appends to dst, unescaped, the slice rbsp of header h with
// another idr_pic_id. Its code may differ in length: what follows moves by
// bits. CABAC slice data starts on a byte and moves as bytes; CAVLC slice data
// follows the header at once and is shifted up to its stop bit.
func withIDRPicID(dst, rbsp []byte, h *SliceHeader, useCABAC bool, id uint32) ([]byte, error) {
	stop := lastOne(rbsp)
	if stop < h.End {
		return dst, malformed("slice", "no trailing bits")
	}
	w := &bitWriter{data: dst}
	w.copyBits(rbsp, 0, h.IDRPicIDAt)
	w.ue(id)
	w.copyBits(rbsp, h.IDRPicIDEnd, h.End)
	if useCABAC {
		w.align(1) // cabac_alignment_one_bit
		return append(w.data, rbsp[(h.End+7)/8:]...), nil
	}
	w.copyBits(rbsp, h.End, stop)
	w.trailing()
	return w.data, nil
}
