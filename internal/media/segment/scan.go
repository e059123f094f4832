package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proofreel/proofreel/internal/media/mp4"
)

// Scan reads what is in a directory of segments, in their order: also one
// whose writer was killed. What can't be used is left out and told in
// problems; the error says that the directory can't be read at all. A frame
// that was cut off at the end of a segment is left out without a word: a
// killed writer leaves that.
func Scan(dir string) (track mp4.Track, segs []Segment, problems []error, err error) {
	entries, err := os.ReadDir(dir) // sorted by name: by number
	if err != nil {
		return mp4.Track{}, nil, nil, fmt.Errorf("read the segments: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".mp4") {
			continue
		}
		t, s, err := read(filepath.Join(dir, e.Name()))
		switch {
		case err != nil:
			problems = append(problems, err)
			continue
		case len(segs) == 0:
			track = t
		case !sameTrack(track, t):
			problems = append(problems, fmt.Errorf("segment %s has other parameter sets than the first", e.Name()))
			continue
		case s.First() <= segs[len(segs)-1].Last():
			problems = append(problems, fmt.Errorf("segment %s goes back in time", e.Name()))
			continue
		}
		if n := len(segs); n > 0 {
			s.Still = repeats(segs[n-1], s)
		}
		segs = append(segs, s)
	}
	return track, segs, problems, nil
}

// repeats says whether s is what Writer.Hold writes behind prev: one keyframe,
// the same as the frame before. Frames that differ and have the same length and
// the same CRC-32 are not taken for the same: that would lose a change once in
// four billion such pairs, and the two would have to follow each other.
func repeats(prev, s Segment) bool {
	return len(prev.Frames) == 1 && len(s.Frames) == 1 && prev.Frames[0].Key &&
		prev.Frames[0].Size == s.Frames[0].Size && prev.CRC == s.CRC
}

func sameTrack(a, b mp4.Track) bool {
	return a.Width == b.Width && a.Height == b.Height && a.FPS == b.FPS &&
		slices.Equal(a.SPS, b.SPS) && slices.Equal(a.PPS, b.PPS)
}

// ErrEmpty says that a segment holds no whole frame.
var ErrEmpty = errors.New("no whole frame")

func read(path string) (mp4.Track, Segment, error) {
	fail := func(err error) (mp4.Track, Segment, error) {
		return mp4.Track{}, Segment{}, fmt.Errorf("segment %s: %w", filepath.Base(path), err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	track, frames, err := mp4.ReadFragments(f, st.Size())
	var cut *mp4.TruncatedError
	if err != nil && !errors.As(err, &cut) {
		return fail(err)
	}
	if len(frames) == 0 || !frames[0].Key {
		return fail(ErrEmpty)
	}
	s := Segment{Path: path, Bytes: st.Size(), Frames: frames}
	err = s.Each(func(_ mp4.Sample, data []byte) error {
		s.CRC = crc32.Update(s.CRC, crc32.IEEETable, data)
		return nil
	})
	if err != nil {
		return fail(err)
	}
	return track, s, nil
}

// Each reads the segment's frames from disk and gives them in order. The data
// is valid during the call.
func (s Segment) Each(do func(mp4.Sample, []byte) error) error {
	f, err := os.Open(s.Path)
	if err != nil {
		return fmt.Errorf("open segment: %w", err)
	}
	defer func() { _ = f.Close() }()
	var buf []byte
	for _, fr := range s.Frames {
		buf = slices.Grow(buf[:0], int(fr.Size))[:fr.Size]
		if _, err := f.ReadAt(buf, fr.Offset); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read segment %s: %w", filepath.Base(s.Path), err)
		}
		if err := do(fr, buf); err != nil {
			return err
		}
	}
	return nil
}
