// Package flv reads H.264 out of an FLV stream, which is how the encoder
// child hands its packets over: FLV's muxer holds nothing back, each tag is
// written as soon as the packet is made, and times are exact to 1 ms. Only
// what such a stream holds is read; nothing is written here.
//
// The layout is that of Adobe's "Video File Format Specification", version 10.1.
package flv

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// Packet is one tag's worth of H.264.
type Packet struct {
	Time time.Duration // presentation time, whole milliseconds
	Key  bool
	Data []byte // access unit, each NAL unit behind its length in 4 bytes
	// Config holds the AVCDecoderConfigurationRecord (avcC) when this is the
	// sequence header; Data is empty then.
	Config []byte
}

// ErrFormat says that the bytes are not an FLV stream with H.264 in it.
var ErrFormat = errors.New("not an FLV stream of H.264")

const (
	tagVideo  = 9
	codecAVC  = 7
	frameKey  = 1
	avcConfig = 0
	avcNALU   = 1

	// maxTag bounds one tag. The largest picture that is filmed, 7680x4320 at
	// 4:2:0, is 50 MB raw; no encoded one comes near. FLV's own limit is 16 MB.
	maxTag = 1<<24 - 1
)

// Reader reads packets.
type Reader struct {
	r       *bufio.Reader
	started bool
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 256<<10)} }

// Next reads the next packet of video. It returns io.EOF at the stream's end,
// also when the last tag was cut off: what was whole has been returned.
func (r *Reader) Next() (Packet, error) {
	if !r.started {
		if err := r.header(); err != nil {
			return Packet{}, err
		}
		r.started = true
	}
	for {
		kind, at, body, err := r.tag()
		if err != nil {
			return Packet{}, err
		}
		if kind != tagVideo {
			continue
		}
		p, ok, err := parseVideo(at, body)
		if err != nil {
			return Packet{}, err
		}
		if ok {
			return p, nil
		}
	}
}

func (r *Reader) header() error {
	var h [13]byte // 9 bytes of header, then the first PreviousTagSize
	if _, err := io.ReadFull(r.r, h[:]); err != nil {
		return eof(err)
	}
	if string(h[:3]) != "FLV" || binary.BigEndian.Uint32(h[5:9]) != 9 {
		return fmt.Errorf("%w: header % x", ErrFormat, h[:9])
	}
	return nil
}

// tag reads one tag and the size field behind it.
func (r *Reader) tag() (kind byte, at time.Duration, body []byte, err error) {
	var h [11]byte
	if _, err := io.ReadFull(r.r, h[:]); err != nil {
		return 0, 0, nil, eof(err)
	}
	size := int(h[1])<<16 | int(h[2])<<8 | int(h[3])
	if size > maxTag || h[0]&0xE0 != 0 {
		return 0, 0, nil, fmt.Errorf("%w: tag header % x", ErrFormat, h)
	}
	ms := uint32(h[7])<<24 | uint32(h[4])<<16 | uint32(h[5])<<8 | uint32(h[6])
	body, err = readN(r.r, size+4)
	if err != nil {
		return 0, 0, nil, err
	}
	return h[0], time.Duration(int32(ms)) * time.Millisecond, body[:size], nil
}

// readN reads n bytes without trusting n: memory grows with what arrives.
func readN(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	if n <= step {
		buf := make([]byte, n)
		_, err := io.ReadFull(r, buf)
		return buf, eof(err)
	}
	buf := make([]byte, 0, step)
	for len(buf) < n {
		k := min(step, n-len(buf))
		buf = append(buf, make([]byte, k)...)
		if _, err := io.ReadFull(r, buf[len(buf)-k:]); err != nil {
			return nil, eof(err)
		}
	}
	return buf, nil
}

// parseVideo parses the body of a video tag; ok is false for tags that hold
// no picture (end of sequence).
func parseVideo(at time.Duration, body []byte) (p Packet, ok bool, err error) {
	if len(body) < 5 {
		return Packet{}, false, fmt.Errorf("%w: video tag of %d bytes", ErrFormat, len(body))
	}
	if body[0]&0x0F != codecAVC {
		return Packet{}, false, fmt.Errorf("%w: codec %d", ErrFormat, body[0]&0x0F)
	}
	cts := int32(uint32(body[2])<<24|uint32(body[3])<<16|uint32(body[4])<<8) >> 8
	switch body[1] {
	case avcConfig:
		return Packet{Time: at, Config: body[5:]}, true, nil
	case avcNALU:
		return Packet{
			Time: at + time.Duration(cts)*time.Millisecond,
			Key:  body[0]>>4 == frameKey,
			Data: body[5:],
		}, len(body) > 5, nil
	default:
		return Packet{}, false, nil
	}
}

// eof makes a stream that was cut off in mid-tag end like any other.
func eof(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
