package h264

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Config is an AVCDecoderConfigurationRecord, the payload of an avcC box
// (ISO/IEC 14496-15, 5.3.3.1), with one parameter set of each kind.
type Config struct {
	SPS, PPS []byte
}

// Marshal returns the record. NAL lengths are declared to take 4 bytes.
// It returns the errors of [ParseSPS].
func (c Config) Marshal() ([]byte, error) {
	sps, err := ParseSPS(c.SPS)
	if err != nil {
		return nil, err
	}
	if len(c.SPS) > 0xffff || len(c.PPS) > 0xffff || Type(c.PPS) != TypePPS {
		return nil, malformed("avcC", "parameter sets do not fit")
	}
	b := []byte{1, sps.Profile, sps.Compat, sps.Level, 0xff, 0xe1}
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.SPS)))
	b = append(b, c.SPS...)
	b = append(b, 1)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.PPS)))
	b = append(b, c.PPS...)
	switch sps.Profile {
	case 66, 77, 88:
	default:
		b = append(b, 0xfc|byte(sps.ChromaFormat), 0xf8|byte(sps.BitDepthLuma-8), 0xf8|byte(sps.BitDepthChroma-8), 0)
	}
	return b, nil
}

// ParseConfig reads a record. The parameter sets are copies. Records with
// other than one parameter set of each kind, or with NAL lengths that do not
// take 4 bytes, are an [UnsupportedError]; other faults a [SyntaxError].
func ParseConfig(b []byte) (Config, error) {
	if len(b) < 6 || b[0] != 1 {
		return Config{}, malformed("avcC", "no version 1 record")
	}
	if b[4]&3 != 3 {
		return Config{}, unsupported("NAL lengths of %d bytes", b[4]&3+1)
	}
	if n := b[5] & 0x1f; n != 1 {
		return Config{}, unsupported("%d SPS in avcC", n)
	}
	sps, rest, ok := takeSet(b[6:])
	if !ok || len(rest) < 1 {
		return Config{}, malformed("avcC", "cut short")
	}
	if rest[0] != 1 {
		return Config{}, unsupported("%d PPS in avcC", rest[0])
	}
	pps, _, ok := takeSet(rest[1:])
	if !ok {
		return Config{}, malformed("avcC", "cut short")
	}
	if Type(sps) != TypeSPS || Type(pps) != TypePPS {
		return Config{}, malformed("avcC", "NAL types %d, %d", Type(sps), Type(pps))
	}
	return Config{SPS: bytes.Clone(sps), PPS: bytes.Clone(pps)}, nil
}

func takeSet(b []byte) (set, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if n == 0 || len(b) < 2+n {
		return nil, nil, false
	}
	return b[2 : 2+n], b[2+n:], true
}

// CodecString returns the codecs parameter of the stream (RFC 6381), such as
// "avc1.640028".
func (s *SPS) CodecString() string {
	return fmt.Sprintf("avc1.%02x%02x%02x", s.Profile, s.Compat, s.Level)
}
