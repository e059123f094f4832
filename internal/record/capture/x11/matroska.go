package x11

import (
	"encoding/binary"
	"time"
)

// Frames go to the encoder as Matroska with uncompressed video (RFC 9559):
// unlike raw video it carries times, and ffmpeg reads it without a copy more.
// Only what ffmpeg's demuxer needs is written; sizes are 8 bytes wide, so that
// lengths need no second pass.

// Element IDs, RFC 9559 section 5.1, and the EBML header's, RFC 8794 section 11.2.
const (
	idEBML          = 0x1A45DFA3
	idDocType       = 0x4282
	idDocTypeVer    = 0x4287
	idDocTypeRead   = 0x4285
	idInfo          = 0x1549A966
	idScale         = 0x2AD7B1
	idTracks        = 0x1654AE6B
	idTrackEntry    = 0xAE
	idTrackNumber   = 0xD7
	idTrackUID      = 0x73C5
	idTrackType     = 0x83
	idFlagLacing    = 0x9C
	idCodecID       = 0x86
	idVideo         = 0xE0
	idPixelWidth    = 0xB0
	idPixelHeight   = 0xBA
	idFourCC        = 0x2EB524
	idCluster       = 0x1F43B675
	idTimestamp     = 0xE7
	idSimpleBlock   = 0xA3
	blockHeaderSize = 4
)

// mkvHeader opens a stream of I420 pictures. Times are in units of 1 ms.
func mkvHeader(width, height int) []byte {
	ebml := concat(
		element(idDocType, []byte("matroska")), number(idDocTypeVer, 4), number(idDocTypeRead, 2))
	video := concat(
		number(idPixelWidth, uint64(width)), number(idPixelHeight, uint64(height)), element(idFourCC, []byte("I420")))
	track := concat(
		number(idTrackNumber, 1), number(idTrackUID, 1), number(idTrackType, 1), number(idFlagLacing, 0),
		element(idCodecID, []byte("V_UNCOMPRESSED")), element(idVideo, video))
	return concat(
		element(idEBML, ebml),
		[]byte{0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, // Segment, of unknown size
		element(idInfo, number(idScale, uint64(time.Millisecond))),
		element(idTracks, element(idTrackEntry, track)))
}

// mkvFrame is what goes before the size bytes of one picture at the time at
// since the first.
func mkvFrame(at time.Duration, size int) []byte {
	stamp := number(idTimestamp, uint64(at.Milliseconds()))
	block := appendSize(appendID(nil, idSimpleBlock), blockHeaderSize+size)
	block = append(block, 0x81, 0, 0, 0x80) // track 1, at the cluster's time, a keyframe
	out := appendSize(appendID(nil, idCluster), len(stamp)+len(block)+size)
	return append(append(out, stamp...), block...)
}

func element(id uint32, body []byte) []byte {
	return append(appendSize(appendID(nil, id), len(body)), body...)
}

func number(id uint32, v uint64) []byte {
	return element(id, binary.BigEndian.AppendUint64(nil, v))
}

func appendID(b []byte, id uint32) []byte {
	switch {
	case id > 0xFFFFFF:
		return binary.BigEndian.AppendUint32(b, id)
	case id > 0xFFFF:
		return append(b, byte(id>>16), byte(id>>8), byte(id))
	case id > 0xFF:
		return binary.BigEndian.AppendUint16(b, uint16(id))
	default:
		return append(b, byte(id))
	}
}

// appendSize writes an EBML length in its 8-byte form (RFC 8794 section 4).
func appendSize(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint64(b, 1<<56|uint64(n))
}

func concat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
