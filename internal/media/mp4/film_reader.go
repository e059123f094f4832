package mp4

import (
	"fmt"
	"io"
	"math"
)

// film is an opened file: its index, and where its boxes are.
type film struct {
	r            io.ReaderAt
	size         int64
	index        *index
	moov         topBox
	mdats        []topBox
	brand        string
	moovFirst    bool // moov comes before the first mdat
	hasFragments bool
}

// maxMdats bounds the media boxes remembered; more belong to fragments.
const maxMdats = 64

func openFilm(r io.ReaderAt, size int64) (*film, error) {
	f := &film{r: r, size: size}
	for off := int64(0); off < size; {
		box, err := readTop(r, off, size)
		if err != nil {
			return nil, &FormatError{Box: box.typ, Offset: off, Reason: "no whole box", Err: err}
		}
		if off == 0 && box.typ != "ftyp" {
			return nil, &FormatError{Box: box.typ, Reason: "an MP4 file begins with ftyp"}
		}
		if err := f.take(box); err != nil {
			return nil, err
		}
		off = box.end
	}
	if f.index == nil {
		return nil, &FormatError{Reason: "no moov box: not an MP4 file, or one that was not finished"}
	}
	return f, nil
}

func (f *film) take(box topBox) error {
	switch box.typ {
	case "ftyp":
		brand := make([]byte, 4)
		if box.end-box.payload < 4 {
			return &FormatError{Box: "ftyp", Offset: box.start, Reason: "cut short"}
		}
		if err := readFull(f.r, brand, box.payload); err != nil {
			return fmt.Errorf("mp4: read ftyp: %w", err)
		}
		f.brand = string(brand)
	case "moov":
		if f.index != nil {
			return &FormatError{Box: "moov", Offset: box.start, Reason: "a second one"}
		}
		data, err := readPayload(f.r, box)
		if err != nil {
			return err
		}
		if f.index, err = readMoov(data); err != nil {
			return atMoov(err, box)
		}
		f.moov = box
		f.moovFirst = len(f.mdats) == 0
	case "mdat":
		if len(f.mdats) < maxMdats {
			f.mdats = append(f.mdats, box)
		}
	case "moof":
		f.hasFragments = true
	}
	return nil
}

// rawSample is a sample in units of the file's time scale.
type rawSample struct {
	index          int
	time, duration int64
	key            bool
	offset, size   int64
}

// samples calls visit for each sample of the tables in order. Tables that
// contradict each other, and samples outside the file, are a FormatError.
func (f *film) samples(visit func(rawSample) error) error {
	if f.index.samples > maxSamples {
		return atMoov(badBox("stsz", "%d samples, over %d", f.index.samples, maxSamples), f.moov)
	}
	w := tableWalk{x: f.index}
	total := int64(0)
	for i := range int(f.index.samples) {
		s, err := w.next(i)
		if err != nil {
			return atMoov(err, f.moov)
		}
		// Samples that share bytes could make a small file take forever.
		if total += s.size; s.offset > f.size-s.size || total > f.size {
			return atMoov(badBox("stco", "sample %d, %d bytes at byte %d, of a file of %d", i, s.size, s.offset, f.size), f.moov)
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	if w.sttsLeft != 0 || w.stts < f.index.stts.len() {
		return atMoov(badBox("stts", "more samples than stsz has"), f.moov)
	}
	return nil
}

// tableWalk steps through the sample tables together.
type tableWalk struct {
	x        *index
	time     int64
	stts     int // next entry
	sttsLeft uint32
	delta    uint32
	stss     int
	chunk    int // next chunk, from 0
	stsc     int // next entry
	perChunk uint32
	left     uint32 // samples left in the chunk
	offset   int64
}

func (w *tableWalk) next(i int) (rawSample, error) {
	x := w.x
	for w.sttsLeft == 0 {
		if w.stts == x.stts.len() {
			return rawSample{}, badBox("stts", "no duration for sample %d", i)
		}
		w.sttsLeft, w.delta = x.stts.u32(w.stts, 0), x.stts.u32(w.stts, 1)
		w.stts++
	}
	if w.left == 0 {
		if err := w.nextChunk(i); err != nil {
			return rawSample{}, err
		}
	}
	s := rawSample{index: i, time: w.time, duration: int64(w.delta), offset: w.offset, size: int64(x.uniform), key: !x.hasStss}
	if x.uniform == 0 {
		s.size = int64(x.sizes.u32(i, 0))
	}
	if w.stss < x.stss.len() && x.stss.u32(w.stss, 0) == uint32(i)+1 {
		s.key = true
		w.stss++
	}
	if s.offset > math.MaxInt64-s.size || w.time > math.MaxInt64-s.duration {
		return rawSample{}, badBox("stbl", "sample %d overflows", i)
	}
	w.offset += s.size
	w.time += s.duration
	w.left--
	w.sttsLeft--
	return s, nil
}

func (w *tableWalk) nextChunk(sample int) error {
	if w.chunk == w.x.offsets.len() {
		return badBox("stco", "no chunk for sample %d", sample)
	}
	if w.stsc < w.x.stsc.len() && w.x.stsc.u32(w.stsc, 0) == uint32(w.chunk)+1 {
		w.perChunk = w.x.stsc.u32(w.stsc, 1)
		w.stsc++
	}
	if w.perChunk == 0 {
		return badBox("stsc", "no samples in chunk %d", w.chunk+1)
	}
	w.left = w.perChunk
	w.offset = w.x.offsets.offset(w.chunk)
	w.chunk++
	return nil
}

// ReadFilm reads the index of a film as [FilmWriter] writes it, in decoding
// order; sample data stays in the file. Files whose times are not on a grid of
// whole ticks, and others that we did not write, are a [FormatError].
func ReadFilm(r io.ReaderAt, size int64) (Track, []Sample, error) {
	f, err := openFilm(r, size)
	if err != nil {
		return Track{}, nil, err
	}
	t, err := f.index.track()
	if err != nil {
		return Track{}, nil, atMoov(err, f.moov)
	}
	var samples []Sample
	err = f.samples(func(s rawSample) error {
		if s.time%unitsPerTick != 0 || s.size < minSample {
			return atMoov(badBox("stts", "sample %d of %d bytes at time %d", s.index, s.size, s.time), f.moov)
		}
		samples = append(samples, Sample{Tick: s.time / unitsPerTick, Key: s.key, Offset: s.offset, Size: s.size})
		return nil
	})
	if err != nil {
		return Track{}, nil, err
	}
	return t, samples, nil
}
