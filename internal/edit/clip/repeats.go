package clip

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// findRepeats tells each sample which picture it shows: its own, or that of an
// earlier sample which it only repeats. A film at constant rate is mostly
// repeats: pictures that change nothing, and in a long stillness the last
// keyframe again. What they look like is asked of the package that writes them;
// a sample that differs in a bit is a picture of its own.
func (s *source) findRepeats() error {
	first, err := s.read(0, nil)
	if err != nil {
		return err
	}
	repeats, err := s.repeatsOf(first)
	if err != nil {
		return err
	}
	s.shows = make([]int32, len(s.samples))
	var au []byte
	var again againKey
	for i, sm := range s.samples {
		s.shows[i] = int32(i)
		switch {
		case i == 0:
		case sm.Key && s.samples[s.shows[i-1]].Key:
			same, err := again.is(s, i, int(s.shows[i-1]))
			if err != nil {
				return err
			}
			if same {
				s.shows[i] = s.shows[i-1]
			}
		case !sm.Key && sm.Size <= int64(repeats.longest):
			if au, err = s.read(i, au[:0]); err != nil {
				return err
			}
			if repeats.all[string(au)] {
				s.shows[i] = s.shows[i-1]
			}
		}
	}
	return nil
}

// repeatSet is every access unit that repeats the picture before it: they
// differ in the numbers of their headers, which come round.
type repeatSet struct {
	all     map[string]bool
	longest int
}

// maxRepeats is more than the numbers of a header take to come round.
const maxRepeats = 1 << 17

func (s *source) repeatsOf(first []byte) (repeatSet, error) {
	set := repeatSet{all: map[string]bool{}}
	seq, err := h264.NewSequencer(s.track.SPS, s.track.PPS)
	if err != nil {
		return set, fmt.Errorf("read the parameter sets: %w", err)
	}
	if _, err := seq.Picture(first, nil); err != nil {
		return set, fmt.Errorf("read the first picture: %w", err)
	}
	for range maxRepeats {
		au, err := seq.Repeat(nil)
		if err != nil {
			return set, fmt.Errorf("make a repeat: %w", err)
		}
		if set.all[string(au)] {
			break
		}
		set.all[string(au)] = true
		set.longest = max(set.longest, len(au))
	}
	return set, nil
}

// againKey knows what the repeats of one keyframe look like.
type againKey struct {
	key   int
	looks [][]byte
	au    []byte
}

// is says whether sample i is the keyframe key once more: neighbouring
// keyframes have different numbers, of which there are few.
func (a *againKey) is(s *source, i, key int) (same bool, err error) {
	if d := s.samples[i].Size - s.samples[key].Size; d > 4 || d < -4 {
		return false, nil
	}
	if a.looks == nil || a.key != key {
		a.key = key
		if a.looks, err = s.keyRepeats(key); err != nil {
			return false, err
		}
	}
	if a.au, err = s.read(i, a.au[:0]); err != nil {
		return false, err
	}
	return slices.ContainsFunc(a.looks, func(b []byte) bool { return bytes.Equal(a.au, b) }), nil
}

func (s *source) keyRepeats(key int) ([][]byte, error) {
	au, err := s.read(key, nil)
	if err != nil {
		return nil, err
	}
	seq, err := h264.NewSequencer(s.track.SPS, s.track.PPS)
	if err != nil {
		return nil, fmt.Errorf("read the parameter sets: %w", err)
	}
	if _, err := seq.Picture(au, nil); err != nil {
		return nil, fmt.Errorf("read keyframe %d: %w", key, err)
	}
	looks := [][]byte{au}
	for range 3 {
		again, err := seq.IDR(au, nil)
		if err != nil {
			return nil, fmt.Errorf("repeat keyframe %d: %w", key, err)
		}
		looks = append(looks, again)
	}
	return looks, nil
}

// read appends a sample's bytes to dst.
func (s *source) read(sample int, dst []byte) ([]byte, error) {
	sm := s.samples[sample]
	dst = append(dst, make([]byte, sm.Size)...)
	n, err := s.film.ReadAt(dst[len(dst)-int(sm.Size):], sm.Offset)
	if int64(n) < sm.Size {
		return nil, &decodeError{fmt.Errorf("read sample %d: %w", sample, err)}
	}
	return dst, nil
}
