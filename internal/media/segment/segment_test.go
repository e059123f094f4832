package segment_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/mediatest"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// pictures gives the track of a real stream, and frames of the given kinds on
// the ticks 0, 1, ...: K a keyframe, p another. Their data is real.
func pictures(t testing.TB, kinds string) (mp4.Track, []segment.Frame) {
	t.Helper()
	track, got := mediatest.Stream(t, 64, 48, 10, 3)
	if !got[0].Key || got[1].Key {
		t.Fatal("the test stream does not begin with one keyframe")
	}
	frames := make([]segment.Frame, len(kinds))
	for i, k := range kinds {
		frames[i] = segment.Frame{Tick: int64(i), Data: got[1].Data}
		if k == 'K' {
			frames[i].Key, frames[i].Data = true, got[0].Data
		}
	}
	return track, frames
}

// record writes frames, with a hold at each of the given ticks.
func record(t testing.TB, dir string, track mp4.Track, frames []segment.Frame, holds ...int64) (segs []segment.Segment) {
	t.Helper()
	w := segment.NewWriter(dir, track, 0, func(s segment.Segment) { segs = append(segs, s) })
	hold := func(before int64) {
		for len(holds) > 0 && holds[0] < before {
			if err := w.Hold(holds[0]); err != nil {
				t.Fatal(err)
			}
			holds = holds[1:]
		}
	}
	for _, f := range frames {
		hold(f.Tick)
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	hold(1 << 40)
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return segs
}

// names shows segments as number-tick, with their numbers of frames.
func names(segs []segment.Segment) string {
	var out []string
	for _, s := range segs {
		still := map[bool]string{true: " still"}[s.Still]
		out = append(out, fmt.Sprintf("%s %d%s", strings.TrimSuffix(filepath.Base(s.Path), ".mp4"), len(s.Frames), still))
	}
	return strings.Join(out, ", ")
}

// Where segments begin decides what a power cut costs and how fast a film is
// verified; a frame on the wrong side of a border would not decode.
func TestWhereSegmentsBegin(t *testing.T) {
	cases := []struct {
		name, kinds string // at 10 fps: half a second is 5 ticks
		holds       []int64
		want        string
	}{
		{"one frame", "K", nil, "0000000-0000000000 1"},
		{"a keyframe each second", "KpppppppppKppp", nil, "0000000-0000000000 10, 0000001-0000000010 4"},
		{"a keyframe too early", "KpppKpp", nil, "0000000-0000000000 7"},
		{"a keyframe after half a second", "KppppKp", nil, "0000000-0000000000 5, 0000001-0000000005 2"},
		{"still", "K", []int64{3, 10, 20}, "0000000-0000000000 1, 0000001-0000000010 1 still, 0000002-0000000020 1 still"},
		{"still, but the last picture is no keyframe", "Kp", []int64{10, 20}, "0000000-0000000000 2"},
		{"still after a late keyframe", "KpppppK", []int64{10, 16}, "0000000-0000000000 6, 0000001-0000000006 1, 0000002-0000000016 1 still"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			track, frames := pictures(t, c.kinds)
			segs := record(t, dir, track, frames, c.holds...)
			if got := names(segs); got != c.want {
				t.Errorf("\n%s, want\n%s", got, c.want)
			}
			// Another process must find the same on disk as the writer said.
			gotTrack, scanned, problems, err := segment.Scan(dir)
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(segs, scanned); diff != "" {
				t.Errorf("scanned: %s", diff)
			}
			if diff := cmp.Diff(track, gotTrack); diff != "" {
				t.Errorf("track: %s", diff)
			}
		})
	}
}

// What is read of a segment must be the encoder's bytes.
func TestEachGivesTheFramesBack(t *testing.T) {
	track, frames := pictures(t, "KpppppKpppppKp")
	i := 0
	for _, s := range record(t, t.TempDir(), track, frames) {
		err := s.Each(func(got mp4.Sample, data []byte) error {
			want := frames[i]
			if got.Tick != want.Tick || got.Key != want.Key || string(data) != string(want.Data) {
				t.Errorf("frame %d is tick %d, key %v, %d bytes", i, got.Tick, got.Key, len(data))
			}
			i++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		enough := errors.New("enough")
		if err := s.Each(func(mp4.Sample, []byte) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("the callback's error became %v", err)
		}
	}
	if i != len(frames) {
		t.Errorf("%d frames of %d", i, len(frames))
	}
}

// A film can't begin with a picture that needs one before it, and what can't
// be written must be told: silence would be a hole in the film.
func TestWriterRefuses(t *testing.T) {
	track, frames := pictures(t, "Kp")
	t.Run("no keyframe", func(t *testing.T) {
		w := segment.NewWriter(t.TempDir(), track, 0, func(segment.Segment) { t.Error("a segment of nothing") })
		if err := w.Write(frames[1]); !errors.Is(err, segment.ErrNoKeyframe) {
			t.Errorf("error %v", err)
		}
		if err := w.Hold(50); err != nil {
			t.Errorf("a hold before any frame: %v", err)
		}
		if err := w.Finish(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a tick twice", func(t *testing.T) {
		n := 0
		w := segment.NewWriter(t.TempDir(), track, 0, func(s segment.Segment) { n = len(s.Frames) })
		err := w.Write(frames[0])
		again := frames[1]
		again.Tick = 0
		if werr := w.Write(again); err != nil || werr == nil {
			t.Errorf("errors %v, %v", err, werr)
		}
		if err := w.Finish(); err != nil || n != 1 {
			t.Errorf("%d frames kept, %v", n, err)
		}
	})
	t.Run("no directory", func(t *testing.T) {
		w := segment.NewWriter(filepath.Join(t.TempDir(), "none"), track, 0, func(segment.Segment) {})
		if err := w.Write(frames[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
		if err := w.Finish(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a file of that name", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, "0000000-0000000000.mp4", []byte("mine"))
		w := segment.NewWriter(dir, track, 0, func(segment.Segment) {})
		if err := w.Write(frames[0]); !errors.Is(err, fs.ErrExist) {
			t.Errorf("error %v", err)
		}
		if err := w.Finish(); err != nil {
			t.Error(err)
		}
	})
}

func put(t testing.TB, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A film that ends on a tick must end there at every rate, and not one later
// because of a rounding error.
func TestTicksAndLengths(t *testing.T) {
	cases := []struct {
		fps    int
		length time.Duration
		ticks  int64
	}{
		{60, 0, 0},
		{60, 1, 1},
		{60, time.Second, 60},
		{60, time.Second + 1, 61},
		{60, time.Second - 1, 60},
		{1, 90 * time.Second, 90},
		{30, 24 * time.Hour, 24 * 3600 * 30},
	}
	for _, c := range cases {
		if got := segment.Ticks(c.length, c.fps); got != c.ticks {
			t.Errorf("%v at %d fps takes %d ticks, want %d", c.length, c.fps, got, c.ticks)
		}
	}
	for fps := 1; fps <= 60; fps++ {
		for n := int64(0); n < 10_000; n += 7 {
			if got := segment.Ticks(segment.Length(n, fps), fps); got != n {
				t.Fatalf("%d ticks at %d fps last %v, which takes %d", n, fps, segment.Length(n, fps), got)
			}
		}
	}
}
