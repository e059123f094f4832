package mp4

import (
	"fmt"
	"io"
	"math"
	"os"
)

// Rational is a number of seconds, Num/Den.
type Rational struct {
	Num, Den int64
}

// Seconds is the value as a floating-point number.
func (r Rational) Seconds() float64 { return float64(r.Num) / float64(r.Den) }

// Colour is a colr box of type nclx in the code points of ITU-T H.273; 2 is
// "unspecified".
type Colour struct {
	Present                     bool
	Primaries, Transfer, Matrix int
	FullRange                   bool
}

// Deltas sums up how long samples last, in units of the time scale.
type Deltas struct {
	Min, Max int64
	// Equal tells whether all samples, the last included, last equally long.
	Equal bool
}

// Info is what [Inspect] finds in a file's index.
type Info struct {
	// Brand is ftyp's major brand.
	Brand string
	// MoovBeforeMdat tells whether a player can start while it downloads.
	MoovBeforeMdat bool
	// Fragmented files hold samples outside the index; Samples, Keyframes,
	// Deltas and Duration count only those in it.
	Fragmented bool
	// Tracks counts all tracks; the rest is of the first video track.
	Tracks int
	// Codec is the codecs parameter of RFC 6381 for H.264, such as
	// "avc1.640028", and the sample entry's type for others.
	Codec         string
	Width, Height int
	Timescale     int
	Samples       int
	// Keyframes are indices of samples, counted from 0.
	Keyframes []int
	Deltas    Deltas
	Duration  Rational
	Colour    Colour
	// AVCC is the decoder configuration record; nil for other codecs.
	AVCC []byte
}

// FrameRate is samples a second where all samples last equally long, and 0/1
// otherwise.
func (i Info) FrameRate() Rational {
	if !i.Deltas.Equal || i.Deltas.Min == 0 {
		return Rational{Num: 0, Den: 1}
	}
	return reduce(int64(i.Timescale), i.Deltas.Min)
}

// Inspect reads the index of an MP4 file. Bytes that are none, and indexes
// that contradict themselves, are a [FormatError].
func Inspect(path string) (Info, error) {
	var info Info
	err := withFile(path, func(r io.ReaderAt, size int64) (err error) {
		info, err = InspectReader(r, size)
		return err
	})
	return info, err
}

// InspectReader is [Inspect] of a file already open.
func InspectReader(r io.ReaderAt, size int64) (Info, error) {
	f, err := openFilm(r, size)
	if err != nil {
		return Info{}, err
	}
	x := f.index
	info := Info{
		Brand: f.brand, MoovBeforeMdat: f.moovFirst, Fragmented: x.fragmented || f.hasFragments, Tracks: x.tracks,
		Codec: x.entry, Width: x.width, Height: x.height, Timescale: int(x.timescale), Colour: x.colour, AVCC: x.avcC,
	}
	if x.avcC != nil {
		info.Codec = x.entry + x.sps.CodecString()[len("avc1"):]
	}
	info.Deltas.Min = math.MaxInt64
	total := int64(0)
	err = f.samples(func(s rawSample) error {
		info.Samples++
		if s.key {
			info.Keyframes = append(info.Keyframes, s.index)
		}
		info.Deltas.Min = min(info.Deltas.Min, s.duration)
		info.Deltas.Max = max(info.Deltas.Max, s.duration)
		total = s.time + s.duration
		return nil
	})
	if err != nil {
		return Info{}, err
	}
	if info.Samples == 0 {
		info.Deltas.Min = 0
	}
	info.Deltas.Equal = info.Samples > 0 && info.Deltas.Min == info.Deltas.Max
	info.Duration = reduce(total, int64(x.timescale))
	return info, nil
}

// CheckSamples reads the frame of every sample of an H.264 film: that it lies
// inside mdat, that its NAL lengths add up, and that it holds an IDR slice
// exactly when the index says that it is a key. The first fault is a
// [SampleError]; the errors of [Inspect] come before.
func CheckSamples(path string) error {
	return withFile(path, CheckSamplesReader)
}

// CheckSamplesReader is [CheckSamples] of a file already open.
func CheckSamplesReader(r io.ReaderAt, size int64) error {
	f, err := openFilm(r, size)
	if err != nil {
		return err
	}
	if f.index.avcC == nil {
		return atMoov(badBox(f.index.entry, "no H.264 track"), f.moov)
	}
	ahead := &readAhead{r: r, size: size}
	return f.samples(func(s rawSample) error {
		if !f.inMdat(s) {
			return &SampleError{Index: s.index, Reason: fmt.Sprintf("%d bytes at byte %d are not inside mdat", s.size, s.offset)}
		}
		key, err := checkNALs(ahead, s.offset, s.size)
		if err != nil {
			return &SampleError{Index: s.index, Reason: "read its NAL units", Err: err}
		}
		if key != s.key {
			return &SampleError{Index: s.index, Reason: fmt.Sprintf("indexed as key: %t, is IDR: %t", s.key, key)}
		}
		return nil
	})
}

func (f *film) inMdat(s rawSample) bool {
	for _, mdat := range f.mdats {
		if s.offset >= mdat.payload && s.offset+s.size <= mdat.end {
			return true
		}
	}
	return false
}

func withFile(path string, do func(io.ReaderAt, int64) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("mp4: open: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		return fmt.Errorf("mp4: stat: %w", err)
	}
	return do(f, stat.Size())
}

func reduce(num, den int64) Rational {
	a, b := num, den
	for b != 0 {
		a, b = b, a%b
	}
	if a == 0 {
		return Rational{Num: 0, Den: 1}
	}
	return Rational{Num: num / a, Den: den / a}
}
