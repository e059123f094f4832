package mp4

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files of others must be read, and told apart from ours: index at the end,
// B pictures, fragments, another codec.
func TestInspectForeignFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want Info
	}{
		{"index last", []string{"-c:v", "libx264", "-g", "5", "-bf", "2", "-pix_fmt", "yuv420p"}, Info{
			Brand: "isom", Tracks: 2, Codec: "avc1.64000b", Width: 160, Height: 90, Timescale: 12800, Samples: 15,
			Keyframes: []int{0, 5, 10}, Deltas: Deltas{512, 512, true}, Duration: Rational{3, 5}, Colour: Colour{Primaries: 2, Transfer: 2, Matrix: 2},
		}},
		{"index first", []string{"-c:v", "libx264", "-g", "15", "-bf", "0", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}, Info{
			Brand: "isom", MoovBeforeMdat: true, Tracks: 2, Codec: "avc1.64000b", Width: 160, Height: 90, Timescale: 12800, Samples: 15,
			Keyframes: []int{0}, Deltas: Deltas{512, 512, true}, Duration: Rational{3, 5}, Colour: Colour{Primaries: 2, Transfer: 2, Matrix: 2},
		}},
		{"fragments", []string{"-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+frag_keyframe+empty_moov"}, Info{
			Brand: "isom", MoovBeforeMdat: true, Fragmented: true, Tracks: 2, Codec: "avc1.64000b", Width: 160, Height: 90,
			Timescale: 12800, Duration: Rational{0, 1}, Colour: Colour{Primaries: 2, Transfer: 2, Matrix: 2},
		}},
		{"another codec", []string{"-c:v", "mpeg4", "-g", "15", "-bf", "0"}, Info{
			Brand: "isom", Tracks: 2, Codec: "mp4v", Width: 160, Height: 90, Timescale: 12800, Samples: 15,
			Keyframes: []int{0, 12}, Deltas: Deltas{512, 512, true}, Duration: Rational{3, 5}, Colour: Colour{Primaries: 2, Transfer: 2, Matrix: 2},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.mp4")
			args := append([]string{"-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=25", "-f", "lavfi", "-i", "anullsrc"}, c.args...)
			run(t, "ffmpeg", append(args, "-frames:v", "15", "-t", "0.6", "-c:a", "aac", path)...)
			got, err := Inspect(path)
			if err != nil {
				t.Fatal(err)
			}
			got.AVCC = nil
			// Where encoders of different versions put keyframes is theirs.
			if c.name == "another codec" {
				got.Keyframes = c.want.Keyframes
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			err = CheckSamples(path)
			var format *FormatError
			if isH264 := c.want.Codec != "mp4v"; isH264 && err != nil || !isH264 && !errors.As(err, &format) {
				t.Errorf("CheckSamples: %v", err)
			}
		})
	}
}

func TestInspectBadFiles(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":     nil,
		"text":      []byte("this is no film, whatever it is called"),
		"only ftyp": appendBox(nil, "ftyp", []byte("isom\x00\x00\x02\x00")),
		"huge moov": append(appendBox(nil, "ftyp", []byte("isom")), 0xff, 0xff, 0xff, 0xff, 'm', 'o', 'o', 'v'),
		"no tracks": appendBox(appendBox(nil, "ftyp", []byte("isom")), "moov"),
	} {
		t.Run(name, func(t *testing.T) {
			var format *FormatError
			if _, err := InspectReader(bytes.NewReader(data), int64(len(data))); !errors.As(err, &format) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Inspect(filepath.Join(t.TempDir(), "none.mp4")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// One wrong byte in the media's framing must be found, and told with its sample.
func TestCheckSamplesFindsDamage(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "12")
	path := writeFilm(t, track, FilmPlan{Durations: ConstantRate(12), Keys: []int{0, 10}}, aus)
	film, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, samples, err := ReadFilm(bytes.NewReader(film), int64(len(film)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sample int
		damage func(sample []byte)
	}{
		"length too long": {3, func(b []byte) { b[1] = 0x10 }},
		"length short":    {4, func(b []byte) { b[3]-- }},
		"length zero":     {5, func(b []byte) { clear(b[:4]) }},
		"key turned":      {10, func(b []byte) { b[4] = 0x41 }},
		"no key turned":   {11, func(b []byte) { b[4] = 0x65 }},
	} {
		t.Run(name, func(t *testing.T) {
			data := bytes.Clone(film)
			s := samples[c.sample]
			c.damage(data[s.Offset : s.Offset+s.Size])
			err := CheckSamplesReader(bytes.NewReader(data), int64(len(data)))
			var bad *SampleError
			if !errors.As(err, &bad) || bad.Index != c.sample {
				t.Errorf("got %v, want a fault in sample %d", err, c.sample)
			}
		})
	}
	t.Run("sample outside mdat", func(t *testing.T) {
		data := bytes.Clone(film)
		i := bytes.Index(data, []byte("stco"))
		copy(data[i+12:], []byte{0, 0, 0, 40})
		var bad *SampleError
		if err := CheckSamplesReader(bytes.NewReader(data), int64(len(data))); !errors.As(err, &bad) || bad.Index != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cut", func(t *testing.T) {
		var format *FormatError
		if err := CheckSamplesReader(bytes.NewReader(film), int64(len(film))-1); !errors.As(err, &format) {
			t.Errorf("got %v", err)
		}
	})
}

// typed fails the test if err is none that callers are promised.
func typed(t *testing.T, err error) {
	t.Helper()
	var format *FormatError
	var torn *TruncatedError
	var sample *SampleError
	if err != nil && !errors.As(err, &format) && !errors.As(err, &torn) && !errors.As(err, &sample) {
		t.Fatalf("%T: %v", err, err)
	}
}

func FuzzInspect(f *testing.F) {
	track, aus := encode(f, "64x48", 30, "3", "-crf", "51")
	film, err := os.ReadFile(writeFilm(f, track, FilmPlan{Durations: VariableRate([]int64{0, 1, 5}, 70), Keys: []int{0}, Title: "t"}, aus))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(film)
	f.Add(film[:len(film)-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		r, size := bytes.NewReader(data), int64(len(data))
		info, err := InspectReader(r, size)
		typed(t, err)
		if err == nil && info.Samples > len(data) {
			t.Fatalf("%d samples in %d bytes", info.Samples, len(data))
		}
		typed(t, CheckSamplesReader(r, size))
		_, samples, err := ReadFilm(r, size)
		typed(t, err)
		inside(t, samples, size)
	})
}

func FuzzReadFragments(f *testing.F) {
	track, aus := encode(f, "64x48", 30, "3", "-crf", "51")
	r, _ := writeFragments(f, track, aus, 5)
	f.Add(r.Bytes())
	f.Add(r.Bytes()[:r.Len()-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		size := int64(len(data))
		_, samples, err := ReadFragments(bytes.NewReader(data), size)
		typed(t, err)
		inside(t, samples, size)
		for i := 1; i < len(samples); i++ {
			if samples[i].Tick <= samples[i-1].Tick {
				t.Fatal("ticks do not rise")
			}
		}
	})
}

func inside(t *testing.T, samples []Sample, size int64) {
	t.Helper()
	for i, s := range samples {
		if s.Offset < 0 || s.Size < minSample || s.Offset > size-s.Size {
			t.Fatalf("sample %d of %d bytes: %+v", i, size, s)
		}
	}
}

// A disk error while looking is neither a format nor a sample fault of the file.
func TestInspectReadError(t *testing.T) {
	track, aus := encode(t, "160x90", 30, "2")
	film, err := os.ReadFile(writeFilm(t, track, FilmPlan{Durations: ConstantRate(2), Keys: []int{0}}, aus))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := InspectReader(brokenReader{bytes.NewReader(film)}, 1<<20); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}
