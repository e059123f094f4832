package h264

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// expand puts repeats and IDR pictures into s and returns the access units
// with, for each, the index of the source picture that it must show.
func expand(t *testing.T, s stream, rng *rand.Rand, maxRun int) (aus [][]byte, shows []int) {
	t.Helper()
	q, err := NewSequencer(s.sps, s.pps)
	if err != nil {
		t.Fatal(err)
	}
	add := func(show int) func(au []byte, err error) {
		return func(au []byte, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("after %d access units: %v", len(aus), err)
			}
			aus, shows = append(aus, au), append(shows, show)
		}
	}
	for i, au := range s.aus {
		add(i)(q.Picture(au, nil))
		for range []int{0, 1, 2, 17, maxRun}[rng.IntN(5)] {
			add(i)(q.Repeat(nil))
		}
		if !q.Still() {
			continue
		}
		for range rng.IntN(4) { // next to each other, and next to a repeat
			add(i)(q.IDR(au, nil))
		}
		for range max(0, rng.IntN(20)-8) {
			add(i)(q.Repeat(nil))
		}
	}
	return aus, shows
}

// The heart of the matter: decoded by ffmpeg, every repeat must equal the
// picture before it and every real picture what it was in the source. Each
// case is a header layout of its own, on which a wrong bit would show.
func TestExpandedStreamDecodesIdentically(t *testing.T) {
	const small = "testsrc2=s=640x360:r=30"
	// bframes=1 makes the encoder use POC type 0 and two reference frames;
	// noise and the bias keep it from using a B picture.
	const noise = "nullsrc=s=160x96:r=30,geq=lum='random(1)*255':cb=128:cr=128"
	const noB = "bframes=1:b-adapt=1:b-bias=-100:rc-lookahead=10"
	for _, c := range []struct {
		name, source, frames, params string
		args                         []string
		pocType                      uint32
		maxRun                       int
	}{
		{name: "CABAC, sliced", source: small, frames: "30", params: "sliced-threads=1", pocType: 2, maxRun: 300},
		{name: "CAVLC, sliced", source: small, frames: "30", params: "sliced-threads=1", args: []string{"-coder", "0"}, pocType: 2, maxRun: 300},
		{name: "CABAC, one slice", source: small, frames: "30", params: "sliced-threads=0", pocType: 2, maxRun: 300},
		{name: "CAVLC, one slice", source: small, frames: "30", params: "sliced-threads=0", args: []string{"-coder", "0"}, pocType: 2, maxRun: 300},
		{name: "CABAC, POC type 0", source: noise, frames: "30", params: noB, pocType: 0, maxRun: 300},
		{name: "CAVLC, POC type 0", source: noise, frames: "30", params: noB, args: []string{"-coder", "0"}, pocType: 0, maxRun: 300},
		{name: "explicit weights", source: small + ",fade=out:0:30", frames: "30", params: "weightp=2:rc-lookahead=10", pocType: 2, maxRun: 40},
		{name: "keyframes in a row", source: small, frames: "8", params: "min-keyint=1", args: []string{"-force_key_frames", "expr:lt(n,5)"}, pocType: 2, maxRun: 40},
		{name: "keyframes in a row, CAVLC", source: small, frames: "8", params: "min-keyint=1", args: []string{"-force_key_frames", "expr:lt(n,5)", "-coder", "0"}, pocType: 2, maxRun: 40},
		{name: "baseline", source: "mandelbrot=s=320x180:r=30", frames: "30", params: "sliced-threads=1", args: []string{"-profile:v", "baseline"}, pocType: 2, maxRun: 40},
		{name: "odd size", source: "mandelbrot=s=1280x722:r=30", frames: "14", params: "sliced-threads=1", pocType: 2, maxRun: 20},
		{name: "1080 of 1088 lines", source: "testsrc2=s=1920x1080:r=30", frames: "14", params: "sliced-threads=1", pocType: 2, maxRun: 20},
		{name: "1080 of 1088 lines, CAVLC", source: "testsrc2=s=1920x1080:r=30", frames: "14", params: "sliced-threads=1", args: []string{"-coder", "0"}, pocType: 2, maxRun: 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := encode(t, c.source, c.frames, c.params, c.args...)
			if sps, err := ParseSPS(s.sps); err != nil || sps.POCType != c.pocType {
				t.Fatalf("the encoder wrote another stream than this case is for: %+v, %v", sps, err)
			}
			original := hashes(t, s, s.aus)
			if len(original) != len(s.aus) {
				t.Fatalf("%d pictures decoded of %d access units", len(original), len(s.aus))
			}
			aus, shows := expand(t, s, rand.New(rand.NewPCG(1, uint64(len(c.name)))), c.maxRun)
			var want []string
			for _, i := range shows {
				want = append(want, original[i])
			}
			if diff := cmp.Diff(want, hashes(t, s, aus)); diff != "" {
				t.Errorf("%d access units of %d (-want +got):\n%s", len(aus), len(s.aus), diff)
			}
		})
	}
}

// Without insertions the stream must come out as it went in, but for the
// parameter sets, or a plain remux would be a rewrite.
func TestPicturesPassUntouched(t *testing.T) {
	s := encode(t, "testsrc2=s=320x180:r=30", "25", "sliced-threads=1")
	q, err := NewSequencer(s.sps, s.pps)
	if err != nil {
		t.Fatal(err)
	}
	for i, au := range s.aus {
		var want []byte
		for nal, err := range SplitAVCC(au) {
			if err != nil {
				t.Fatal(err)
			}
			if Type(nal) != TypeSPS && Type(nal) != TypePPS {
				want = AppendAVCC(want, nal)
			}
		}
		got, err := q.Picture(au, []byte("kept"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("kept"+string(want), string(got)); diff != "" {
			t.Fatalf("access unit %d changed", i)
		}
	}
}

// What cannot be proven exact must be refused, and refusing must not move the
// sequence on.
func TestSequencerRefuses(t *testing.T) {
	const source = "testsrc2=s=320x180:r=30,fade=out:0:20"
	plain := encode(t, source, "20", "sliced-threads=1")
	fresh := func(s stream) *Sequencer {
		q, err := NewSequencer(s.sps, s.pps)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	must := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("nothing to repeat", func(t *testing.T) {
		if _, err := fresh(plain).Repeat(nil); !errors.Is(err, ErrNoPicture) {
			t.Errorf("got %v", err)
		}
		if _, err := fresh(plain).IDR(plain.aus[0], nil); !errors.Is(err, ErrNoPicture) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("IDR after another picture", func(t *testing.T) {
		q := fresh(plain)
		must(q.Picture(plain.aus[0], nil))
		must(q.Picture(plain.aus[1], nil))
		must(q.Repeat(nil))
		if _, err := q.IDR(plain.aus[0], nil); !errors.Is(err, ErrNotStill) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("missing picture", func(t *testing.T) {
		q := fresh(plain)
		must(q.Picture(plain.aus[0], nil))
		var gap *GapError
		if _, err := q.Picture(plain.aus[2], nil); !errors.As(err, &gap) || gap.Got != 2 || gap.Want != 1 {
			t.Errorf("got %v", err)
		}
		must(q.Picture(plain.aus[1], nil))
	})
	t.Run("first picture no IDR", func(t *testing.T) {
		var bad *SyntaxError
		if _, err := fresh(plain).Picture(plain.aus[1], nil); !errors.As(err, &bad) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("two pictures in one access unit", func(t *testing.T) {
		q := fresh(plain)
		must(q.Picture(plain.aus[0], nil))
		var bad *SyntaxError
		if _, err := q.Picture(append(plain.aus[1], plain.aus[2]...), nil); !errors.As(err, &bad) {
			t.Errorf("got %v", err)
		}
	})
	for name, s := range map[string]stream{
		"B slices":           encode(t, source, "20", "bframes=2:b-adapt=0"),
		"several references": encode(t, source, "20", "ref=4"),
	} {
		t.Run(name, func(t *testing.T) {
			q := fresh(s)
			var err error
			for i, au := range s.aus {
				var unsupported *UnsupportedError
				if _, err = q.Picture(au, nil); errors.As(err, &unsupported) {
					return
				}
				if err != nil {
					t.Fatalf("access unit %d: %v", i, err)
				}
				must(q.Repeat(nil))
			}
			t.Error("every picture was taken")
		})
	}
}

func TestUnsupportedStreams(t *testing.T) {
	for name, params := range map[string]string{
		"interlaced":    "tff=1",
		"no references": "keyint=1",
	} {
		t.Run(name, func(t *testing.T) {
			s := encode(t, "testsrc2=s=320x192:r=30", "2", params)
			var unsupported *UnsupportedError
			if _, err := NewSequencer(s.sps, s.pps); !errors.As(err, &unsupported) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A repeat must stay a few bytes, or a still hour would cost megabytes.
func TestRepeatSize(t *testing.T) {
	for name, c := range map[string]struct {
		coder string
		max   int
	}{"CABAC": {"1", 72}, "CAVLC": {"0", 16}} {
		t.Run(name, func(t *testing.T) {
			s := encode(t, "testsrc2=s=1920x1080:r=30", "1", "sliced-threads=1", "-coder", c.coder)
			q, err := NewSequencer(s.sps, s.pps)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := q.Picture(s.aus[0], nil); err != nil {
				t.Fatal(err)
			}
			au, err := q.Repeat(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", len(au))
			if len(au) > c.max {
				t.Errorf("a repeat of 1920x1080 takes %d bytes", len(au))
			}
		})
	}
}

func BenchmarkRepeat(b *testing.B) {
	s := encode(b, "testsrc2=s=1920x1080:r=30", "1", "sliced-threads=1")
	q, err := NewSequencer(s.sps, s.pps)
	if err != nil {
		b.Fatal(err)
	}
	dst, err := q.Picture(s.aus[0], nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = q.Repeat(dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	s := encode(b, "mandelbrot=s=1920x1080:r=30", "17", "keyint=60:sliced-threads=1")
	q, err := NewSequencer(s.sps, s.pps)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	for i, au := range s.aus {
		if i == 1 {
			if dst, err = q.Repeat(dst[:0]); err != nil {
				b.Fatal(err)
			}
		}
		if dst, err = q.Picture(au, dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(s.aus[1])))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if dst, err = q.Picture(s.aus[1+i%16], dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
