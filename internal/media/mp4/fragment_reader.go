package mp4

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// ReadFragments reads the index of a fragmented file as [FragmentWriter]
// writes it, in decoding order; sample data stays in the file. If the file's
// end is torn, the whole fragments before it are returned with a
// [TruncatedError]; with no whole head that is no sample and a zero Track. A
// file of another kind is a [FormatError].
func ReadFragments(r io.ReaderAt, size int64) (Track, []Sample, error) {
	s := fragmentScan{r: r, size: size}
	torn := s.run()
	if s.fatal != nil {
		return Track{}, nil, s.fatal
	}
	if torn == nil {
		torn = s.dropZeroed()
	}
	if read := (*readError)(nil); errors.As(torn, &read) {
		return Track{}, nil, fmt.Errorf("mp4: read fragments: %w", torn)
	}
	if torn != nil {
		torn = &TruncatedError{Offset: s.whole, Dropped: size - s.whole, Err: torn}
	}
	return s.track, s.samples, torn
}

// fragmentScan walks the top-level boxes of a fragmented file.
type fragmentScan struct {
	r       io.ReaderAt
	size    int64
	index   *index
	track   Track
	samples []Sample
	starts  []fragmentStart
	whole   int64 // everything before it is whole
	fatal   error // the file is none of ours, whatever its end
}

type fragmentStart struct {
	offset int64
	first  int // index of its first sample
}

// run returns why the walk ended before the end of the file, or nil.
func (s *fragmentScan) run() error {
	for s.whole < s.size {
		box, err := readTop(s.r, s.whole, s.size)
		if err != nil {
			return err
		}
		switch box.typ {
		case "moov":
			err = s.head(box)
		case "moof":
			err = s.fragment(&box)
		case "ftyp", "styp", "sidx", "free", "skip", "emsg", "prft", "mfra", "uuid":
		case "mdat":
			err = badBox("mdat", "without moof")
		default:
			err = badBox(box.typ, "unknown at the top of a file")
		}
		if err != nil {
			if s.index == nil && s.whole == 0 {
				s.fatal = &FormatError{Box: box.typ, Reason: "no fragmented MP4", Err: err}
			}
			return err
		}
		s.whole = box.end
	}
	if s.index == nil {
		return errors.New("no moov box")
	}
	return nil
}

func (s *fragmentScan) head(box topBox) error {
	if s.index != nil {
		return badBox("moov", "a second one")
	}
	data, err := readPayload(s.r, box)
	if err != nil {
		s.fatal = err
		return err
	}
	if s.index, err = readMoov(data); err != nil {
		s.fatal = atMoov(err, box)
		return err
	}
	if s.track, err = s.index.track(); err != nil {
		s.fatal = atMoov(err, box)
	} else if !s.index.fragmented {
		s.fatal = &FormatError{Box: "moov", Offset: box.start, Reason: "no mvex: not a fragmented file"}
	}
	return s.fatal
}

// fragment reads a moof and the mdat that must follow, and moves moof's end
// behind that.
func (s *fragmentScan) fragment(moof *topBox) error {
	if s.index == nil {
		s.fatal = &FormatError{Box: "moof", Offset: moof.start, Reason: "before moov"}
		return s.fatal
	}
	mdat, err := readTop(s.r, moof.end, s.size)
	if err != nil {
		return err
	}
	if mdat.typ != "mdat" {
		return badBox(mdat.typ, "where mdat was due")
	}
	data, err := readPayload(s.r, *moof)
	if err != nil {
		return err
	}
	first := len(s.samples)
	for b, err := range innerBoxes(data) {
		if err == nil && b.typ == "traf" {
			err = s.readTraf(b.data, *moof, mdat)
		}
		if err != nil {
			s.samples = s.samples[:first]
			return err
		}
	}
	s.starts = append(s.starts, fragmentStart{offset: moof.start, first: first})
	moof.end = mdat.end
	return nil
}

// dropZeroed drops fragments at the end whose sample bytes never reached the
// disk: after a power cut a file may have its length and zeros for content.
func (s *fragmentScan) dropZeroed() error {
	var torn error
	for len(s.starts) > 0 {
		last := s.starts[len(s.starts)-1]
		err := error(nil)
		for _, sample := range s.samples[last.first:] {
			if _, err = checkNALs(s.r, sample.Offset, sample.Size); err != nil {
				break
			}
		}
		if err == nil {
			return torn
		}
		torn = err
		s.whole = last.offset
		s.samples = s.samples[:last.first]
		s.starts = s.starts[:len(s.starts)-1]
	}
	return torn
}

// traf is one track fragment while its boxes are read.
type traf struct {
	ours       bool
	base       int64 // data offsets count from here
	time       int64
	next       int64 // where a run without a data offset begins
	defaults   trackDefaults
	moof, mdat topBox
}

func (s *fragmentScan) readTraf(data []byte, moof, mdat topBox) error {
	t := traf{base: moof.start, next: mdat.payload, defaults: s.index.trex, moof: moof, mdat: mdat, time: -1}
	for b, err := range innerBoxes(data) {
		if err != nil {
			return err
		}
		f := fields{data: b.data}
		switch b.typ {
		case "tfhd":
			t.readHead(&f, s.index.trackID)
		case "tfdt":
			version, _ := f.full()
			t.time = int64(min(f.word(version), math.MaxInt64))
		case "trun":
			if !t.ours {
				return nil
			}
			err = s.readRun(&t, &f)
		}
		if err == nil && f.short {
			err = badBox(b.typ, "cut short")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readHead reads tfhd (8.8.7).
func (t *traf) readHead(f *fields, trackID uint32) {
	_, flags := f.full()
	t.ours = f.u32() == trackID
	if flags&0x1 != 0 {
		t.base = int64(min(f.u64(), math.MaxInt64))
	}
	if flags&0x2 != 0 {
		f.u32() // sample_description_index
	}
	if flags&0x8 != 0 {
		t.defaults.duration = f.u32()
	}
	if flags&0x10 != 0 {
		t.defaults.size = f.u32()
	}
	if flags&0x20 != 0 {
		t.defaults.flags = f.u32()
	}
}

// readRun appends the samples of a trun (8.8.8).
func (s *fragmentScan) readRun(t *traf, f *fields) error {
	if t.time < 0 {
		return badBox("trun", "no tfdt before it")
	}
	_, flags := f.full()
	count := f.u32()
	if flags&0x1 != 0 {
		off := int64(int32(f.u32()))
		if t.base > t.mdat.end || t.base+off < 0 {
			return badBox("trun", "data offset outside the file")
		}
		t.next = t.base + off
	}
	firstFlags, hasFirst := uint32(0), flags&0x4 != 0
	if hasFirst {
		firstFlags = f.u32()
	}
	for i := range count {
		d := t.defaults
		if flags&0x100 != 0 {
			d.duration = f.u32()
		}
		if flags&0x200 != 0 {
			d.size = f.u32()
		}
		if flags&0x400 != 0 {
			d.flags = f.u32()
		}
		if i == 0 && hasFirst {
			d.flags = firstFlags
		}
		if flags&0x800 != 0 && f.u32() != 0 {
			return badBox("trun", "pictures out of output order")
		}
		if f.short {
			return badBox("trun", "%d samples, cut short at %d", count, i)
		}
		if err := s.add(t, d); err != nil {
			return err
		}
	}
	return nil
}

// minSample is the smallest access unit: a length and a NAL unit's header. It
// also bounds the memory that a sample count without sizes can ask for.
const minSample = 5

func (s *fragmentScan) add(t *traf, d trackDefaults) error {
	size := int64(d.size)
	if size < minSample || t.next < t.mdat.payload || size > t.mdat.end-t.next {
		return badBox("trun", "sample of %d bytes at byte %d outside mdat", size, t.next)
	}
	if t.time%unitsPerTick != 0 {
		return badBox("trun", "time %d is off the grid", t.time)
	}
	tick := t.time / unitsPerTick
	if n := len(s.samples); n == maxSamples {
		return badBox("trun", "more than %d samples in the file", maxSamples)
	} else if n > 0 && tick <= s.samples[n-1].Tick {
		return badBox("trun", "tick %d after tick %d", tick, s.samples[n-1].Tick)
	}
	if t.time > math.MaxInt64-int64(d.duration) {
		return badBox("trun", "time %d overflows", t.time)
	}
	s.samples = append(s.samples, Sample{Tick: tick, Key: d.flags&0x10000 == 0, Offset: t.next, Size: size})
	t.next += size
	t.time += int64(d.duration)
	return nil
}
