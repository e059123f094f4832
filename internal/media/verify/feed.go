package verify

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

const (
	startCode = "\x00\x00\x00\x01"
	// delimiter is an access unit delimiter (any slice type). It tells two
	// pictures apart that have the same numbers in their headers, as repeated
	// keyframes do.
	delimiter = startCode + "\x09\xF0"
)

// feed writes a segment to the decoder, from disk, and checks that the disk
// holds what was written to it.
func (d *decoder) feed(s segment.Segment) error {
	_ = d.in.SetWriteDeadline(time.Now().Add(patience)) // a hung decoder must not hang us
	crc := uint32(0)
	err := s.Each(func(f mp4.Sample, data []byte) error {
		crc = crc32.Update(crc, crc32.IEEETable, data)
		if f.Key && bytes.Equal(data, d.lastKey) {
			d.repeats.Add(1)
			return nil // the picture before once more: decoded already
		}
		d.fed++
		d.lastKey = d.lastKey[:0]
		if f.Key {
			d.lastKey = append(d.lastKey, data...)
		}
		return d.picture(f.Key, data)
	})
	d.pending = append(d.pending, pending{upTo: d.fed, frames: int64(len(s.Frames))})
	if err == nil {
		err = d.w.Flush()
	}
	if err == nil && crc != s.CRC {
		err = fmt.Errorf("segment has CRC %08x on disk, %08x was written", crc, s.CRC)
	}
	return err
}

func (d *decoder) picture(key bool, data []byte) error {
	_, _ = d.w.WriteString(delimiter) // a bufio.Writer keeps its first error for Flush
	if key {
		for _, set := range [][]byte{d.track.SPS, d.track.PPS} {
			_, _ = d.w.WriteString(startCode)
			_, _ = d.w.Write(set)
		}
	}
	for nal, err := range h264.SplitAVCC(data) {
		if err != nil {
			return fmt.Errorf("split the access unit: %w", err)
		}
		_, _ = d.w.WriteString(startCode)
		_, _ = d.w.Write(nal)
	}
	return nil
}
