package clip

import (
	"encoding/binary"
	"image"
	"time"
)

// Frames go to the encoder as Matroska with uncompressed video (RFC 9559):
// unlike raw video it carries times. Only what ffmpeg's demuxer needs is
// written. Times are in microseconds, so that each lies nearest to its place
// on the grid of any frame rate.

// rawHeader opens a stream of I420 frames.
func rawHeader(size image.Point, fps int) []byte {
	video := concat(number(0xB0, uint64(size.X)), number(0xBA, uint64(size.Y)), element(0x2EB524, []byte("I420")))
	track := concat(
		number(0xD7, 1), number(0x73C5, 1), number(0x83, 1), number(0x9C, 0), // number, UID, type, no lacing
		number(0x23E383, uint64(int(time.Second)/fps)), // how long a frame lasts at least
		element(0x86, []byte("V_UNCOMPRESSED")), element(0xE0, video))
	return concat(
		element(0x1A45DFA3, concat(element(0x4282, []byte("matroska")), number(0x4287, 4), number(0x4285, 2))), // EBML
		[]byte{0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},                         // Segment, of unknown size
		element(0x1549A966, number(0x2AD7B1, uint64(time.Microsecond))),                                        // Info: the unit of times
		element(0x1654AE6B, element(0xAE, track)))                                                              // Tracks
}

// rawFrame is what goes before the size bytes of the frame at a time: a
// cluster of one block, a keyframe of track 1.
func rawFrame(at time.Duration, size int) []byte {
	stamp := number(0xE7, uint64((at+time.Microsecond/2)/time.Microsecond))
	block := append(sized(0xA3, 4+size), 0x81, 0, 0, 0x80)
	return concat(sized(0x1F43B675, len(stamp)+len(block)+size), stamp, block)
}

func element(id uint32, body []byte) []byte { return append(sized(id, len(body)), body...) }

func number(id uint32, v uint64) []byte {
	return element(id, binary.BigEndian.AppendUint64(nil, v))
}

// sized is an element's ID and its length in 8 bytes (RFC 8794 section 4).
func sized(id uint32, n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, id)
	for b[0] == 0 {
		b = b[1:]
	}
	return binary.BigEndian.AppendUint64(b, 1<<56|uint64(n))
}

func concat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
