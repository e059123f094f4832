package segment_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// Wherever a killed writer left off, all whole frames must be found, as they
// were, and nothing else.
func TestScanOfASegmentCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	track, frames := pictures(t, "KpppppppppKpp")
	segs := record(t, dir, track, frames)
	last := segs[1]
	raw, err := os.ReadFile(last.Path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range raw {
		put(t, dir, filepath.Base(last.Path), raw[:cut])
		whole := 0
		for _, f := range last.Frames {
			if f.Offset+f.Size <= int64(cut) {
				whole++
			}
		}
		_, got, problems, err := segment.Scan(dir)
		if err != nil {
			t.Fatal(err)
		}
		if whole == 0 {
			if len(got) != 1 || len(problems) != 1 {
				t.Fatalf("cut at %d: %d segments, problems %v", cut, len(got), problems)
			}
			continue
		}
		if len(got) != 2 || len(problems) != 0 {
			t.Fatalf("cut at %d: %d segments, problems %v", cut, len(got), problems)
		}
		if diff := cmp.Diff(last.Frames[:whole], got[1].Frames); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
	}
}

// One bad file must cost itself and nothing else, and must be told.
func TestScanLeavesOutWhatItCannotUse(t *testing.T) {
	track, frames := pictures(t, "KpppppKpppppKpppppKp")
	cases := []struct {
		name     string
		spoil    func(t *testing.T, dir string, segs []segment.Segment)
		left     string
		problems int
	}{
		{"nothing", func(*testing.T, string, []segment.Segment) {}, "0000000-0000000000 6, 0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 2", 0},
		{"an empty file", func(t *testing.T, dir string, segs []segment.Segment) {
			put(t, dir, filepath.Base(segs[1].Path), nil)
		}, "0000000-0000000000 6, 0000002-0000000012 6, 0000003-0000000018 2", 1},
		{"the first is not MP4", func(t *testing.T, dir string, segs []segment.Segment) {
			put(t, dir, filepath.Base(segs[0].Path), []byte("not a box at all, but long enough for one"))
		}, "0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 2", 1},
		{"one is missing", func(t *testing.T, _ string, segs []segment.Segment) {
			if err := os.Remove(segs[2].Path); err != nil {
				t.Fatal(err)
			}
		}, "0000000-0000000000 6, 0000001-0000000006 6, 0000003-0000000018 2", 0},
		{"a copy under a later number", func(t *testing.T, dir string, segs []segment.Segment) {
			raw, err := os.ReadFile(segs[1].Path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "0000009-0000000006.mp4", raw)
		}, "0000000-0000000000 6, 0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 2", 1},
		{"another stream", func(t *testing.T, dir string, _ []segment.Segment) {
			other := track
			other.FPS = 20
			late := frames[0]
			late.Tick = 100
			sub := t.TempDir()
			s := record(t, sub, other, []segment.Frame{late})
			if err := os.Rename(s[0].Path, filepath.Join(dir, "0000009-0000000100.mp4")); err != nil {
				t.Fatal(err)
			}
		}, "0000000-0000000000 6, 0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 2", 1},
		{"foreign names", func(t *testing.T, dir string, _ []segment.Segment) {
			put(t, dir, "notes.txt", []byte("x"))
			if err := os.Mkdir(filepath.Join(dir, "x.mp4"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "0000000-0000000000 6, 0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 2", 0},
		{"zeros at the end, as a power cut leaves them", func(t *testing.T, dir string, segs []segment.Segment) {
			raw, err := os.ReadFile(segs[3].Path)
			if err != nil {
				t.Fatal(err)
			}
			clear(raw[segs[3].Frames[1].Offset:])
			put(t, dir, filepath.Base(segs[3].Path), raw)
		}, "0000000-0000000000 6, 0000001-0000000006 6, 0000002-0000000012 6, 0000003-0000000018 1", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.spoil(t, dir, record(t, dir, track, frames))
			_, got, problems, err := segment.Scan(dir)
			if err != nil || len(problems) != c.problems {
				t.Errorf("error %v, problems %v", err, problems)
			}
			if s := names(got); s != c.left {
				t.Errorf("\n%s, want\n%s", s, c.left)
			}
		})
	}
}

// A directory that can't be read is no empty recording.
func TestScanOfNoDirectory(t *testing.T) {
	if _, _, _, err := segment.Scan(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, segs, problems, err := segment.Scan(t.TempDir()); err != nil || len(segs) != 0 || len(problems) != 0 {
		t.Errorf("empty directory: %v, %v, %v", segs, problems, err)
	}
}

// Whatever two files hold: each is a segment or a problem, ticks rise through
// all segments, each begins with a keyframe, and all frames can be read.
func FuzzScan(f *testing.F) {
	track, frames := pictures(f, "KpKpp")
	dir := f.TempDir()
	var raws [][]byte
	for _, part := range [][]segment.Frame{frames[:2], frames[2:]} {
		for _, s := range record(f, f.TempDir(), track, part) {
			raw, err := os.ReadFile(s.Path)
			if err != nil {
				f.Fatal(err)
			}
			raws = append(raws, raw)
		}
	}
	a, b := raws[0], raws[1]
	for _, seed := range [][2][]byte{{a, b}, {b, a}, {a, a}, {a, nil}, {nil, b}, {a[:len(a)-7], b[:len(b)/2]}, {a, append(b[:len(b):len(b)], b...)}, {[]byte("x"), a}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, next []byte) {
		put(t, dir, "0000000-0000000000.mp4", first)
		put(t, dir, "0000001-0000000002.mp4", next)
		_, segs, problems, err := segment.Scan(dir)
		if err != nil || len(segs)+len(problems) != 2 {
			t.Fatalf("%d segments, problems %v, error %v", len(segs), problems, err)
		}
		last := int64(-1)
		for _, s := range segs {
			if !s.Frames[0].Key {
				t.Fatal("a segment begins with no keyframe")
			}
			err := s.Each(func(f mp4.Sample, data []byte) error {
				if f.Tick <= last || int64(len(data)) != f.Size {
					t.Fatalf("tick %d after %d, %d of %d bytes", f.Tick, last, len(data), f.Size)
				}
				last = f.Tick
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
