package film

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// ChecksumError says that a segment on disk is not what was recorded.
type ChecksumError struct{ Path string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("segment %s has changed on disk since it was recorded", filepath.Base(e.Path))
}

// Write writes the film to path, which must not exist, and syncs it. title is
// shown by players. On error there is no file.
func (p *Plan) Write(ctx context.Context, path, title string, created time.Time) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create the film: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close the film: %w", cerr)
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	w, err := mp4.NewFilmWriter(f, p.Track, mp4.FilmPlan{Durations: p.runs, Keys: p.keys, Title: title, Created: created})
	if err != nil {
		return fmt.Errorf("begin the film: %w", err)
	}
	if err := p.samples(ctx, w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write the film's index: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync the film: %w", err)
	}
	return nil
}

// samples writes all samples of the plan.
func (p *Plan) samples(ctx context.Context, w *mp4.FilmWriter) error {
	seq, err := h264.NewSequencer(p.Track.SPS, p.Track.PPS)
	if err != nil {
		return fmt.Errorf("read the parameter sets: %w", err)
	}
	src := &source{}
	defer src.close()
	var out, key []byte
	p.walk(func(s sample, seg *segment.Segment, f mp4.Sample) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		var data []byte
		if seg != nil {
			if data, err = src.read(seg, f); err != nil {
				return false
			}
		}
		switch s.kind {
		case repeat:
			out, err = seq.Repeat(out[:0])
		case again:
			out, err = seq.IDR(key, out[:0])
		case picture:
			out, err = seq.Picture(data, out[:0])
			if f.Key {
				key = append(key[:0], data...)
			}
		}
		if err == nil {
			err = w.Write(out)
		}
		if err != nil {
			err = fmt.Errorf("write the sample at tick %d: %w", s.tick, err)
		}
		return err == nil
	})
	if err == nil {
		err = src.check()
	}
	return err
}

// source reads frames from segments, in order, and compares each segment that
// was read whole with the checksum of what was recorded.
type source struct {
	seg  *segment.Segment
	f    *os.File
	n    int // frames read of seg
	crc  uint32
	data []byte
}

func (s *source) read(seg *segment.Segment, fr mp4.Sample) ([]byte, error) {
	if s.seg != seg {
		if err := s.check(); err != nil {
			return nil, err
		}
		s.close()
		f, err := os.Open(seg.Path)
		if err != nil {
			return nil, fmt.Errorf("open segment: %w", err)
		}
		*s = source{seg: seg, f: f, data: s.data}
	}
	s.data = slices.Grow(s.data[:0], int(fr.Size))[:fr.Size]
	if _, err := s.f.ReadAt(s.data, fr.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read segment %s: %w", filepath.Base(seg.Path), err)
	}
	s.crc = crc32.Update(s.crc, crc32.IEEETable, s.data)
	s.n++
	return s.data, nil
}

// check compares the segment that was read with its checksum. One that the
// film's end cuts off is not read whole; its frames were verified before.
func (s *source) check() error {
	if s.seg != nil && s.n == len(s.seg.Frames) && s.crc != s.seg.CRC {
		return &ChecksumError{s.seg.Path}
	}
	return nil
}

func (s *source) close() {
	if s.f != nil {
		_ = s.f.Close()
		s.f = nil
	}
}

// Hash is the SHA-256 of a file in hexadecimal, and its size in bytes.
func Hash(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("open the film: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	size, err = io.Copy(h, bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return "", 0, fmt.Errorf("hash the film: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}
