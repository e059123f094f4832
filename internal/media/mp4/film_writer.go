package mp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// FilmWriter writes a film, index before media, in one pass over the media.
// The index's size follows from the plan: its room is left free and filled
// when all sizes are known. It keeps 4 bytes a sample and 12 a second in
// memory.
type FilmWriter struct {
	w      io.WriterAt
	track  Track
	plan   FilmPlan
	sizes  []uint32
	total  int
	chunks []uint32 // first sample of each chunk
	starts []uint64 // offset of each chunk
	keys   []int    // those still to come
	media  int64    // where mdat's payload begins
	buf    []byte
	flush  int64 // where buf goes
	err    error
	closed bool
}

const (
	filmBuffer = 1 << 20
	// filmSlack is the room after moov besides what a 32-bit chunk table
	// leaves: the header of a free box and a 64-bit one of mdat.
	filmSlack = 8 + 16
)

// NewFilmWriter starts a film on an empty file. It returns an error for a plan
// or a track that no file can hold.
func NewFilmWriter(w io.WriterAt, t Track, p FilmPlan) (*FilmWriter, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	total, _ := p.totals()
	f := &FilmWriter{w: w, track: t, plan: p, total: total, keys: p.Keys, chunks: p.chunks(t.FPS)}
	f.sizes = make([]uint32, 0, total)
	f.starts = make([]uint64, 0, len(f.chunks))
	head, err := f.head(true)
	if err != nil {
		return nil, err
	}
	f.media = int64(len(head)) + filmSlack
	f.flush = f.media
	f.buf = make([]byte, 0, filmBuffer)
	return f, nil
}

// Write appends the next sample, an access unit with 4-byte NAL lengths. It
// returns an error, and writes nothing, when the plan has no more samples or
// says otherwise of its being a key. After a failed write every further call
// returns the same error.
func (f *FilmWriter) Write(au []byte) error {
	n := len(f.sizes)
	key := len(f.keys) > 0 && f.keys[0] == n
	switch {
	case f.err != nil:
		return f.err
	case n == f.total || f.closed:
		return fmt.Errorf("mp4: sample %d in a film planned for %d", n, f.total)
	case len(au) < minSample || len(au) > math.MaxInt32:
		return fmt.Errorf("mp4: sample %d of %d bytes", n, len(au))
	case h264.IsKey(au) != key:
		return fmt.Errorf("mp4: sample %d: planned as key: %t, is key: %t", n, key, !key)
	}
	if chunk := len(f.starts); chunk < len(f.chunks) && f.chunks[chunk] == uint32(n) {
		f.starts = append(f.starts, uint64(f.flush)+uint64(len(f.buf)))
	}
	if key {
		f.keys = f.keys[1:]
	}
	f.sizes = append(f.sizes, uint32(len(au)))
	if len(f.buf)+len(au) > cap(f.buf) {
		if err := f.writeOut(f.buf); err != nil {
			return err
		}
		f.buf = f.buf[:0]
		if len(au) > cap(f.buf) {
			return f.writeOut(au)
		}
	}
	f.buf = append(f.buf, au...)
	return nil
}

func (f *FilmWriter) writeOut(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := f.w.WriteAt(b, f.flush); err != nil {
		f.err = fmt.Errorf("mp4: write %d bytes of media at byte %d: %w", len(b), f.flush, err)
		return f.err
	}
	f.flush += int64(len(b))
	return nil
}

// Close writes the index. Before that the file is no MP4. A film that lacks
// samples of its plan is an error. Close does not close or sync the file; a
// second call does nothing.
func (f *FilmWriter) Close() error {
	if f.err != nil || f.closed {
		return f.err
	}
	if len(f.sizes) != f.total {
		f.err = fmt.Errorf("mp4: film of %d samples, planned for %d", len(f.sizes), f.total)
		return f.err
	}
	if err := f.writeOut(f.buf); err != nil {
		return err
	}
	f.buf = nil
	f.closed = true
	head, err := f.head(f.flush > math.MaxUint32)
	if err != nil {
		f.err = err
		return err
	}
	if _, err := f.w.WriteAt(f.fill(head), 0); err != nil {
		f.err = fmt.Errorf("mp4: write the index of a film: %w", err)
	}
	return f.err
}

// Size is the number of bytes of the film so far; after Close, of the file.
func (f *FilmWriter) Size() int64 { return f.flush + int64(len(f.buf)) }

// fill pads head up to the media: a free box, then mdat's header.
func (f *FilmWriter) fill(head []byte) []byte {
	payload := uint64(f.flush - f.media)
	mdat := []byte{0, 0, 0, 0, 'm', 'd', 'a', 't'}
	if payload+8 <= math.MaxUint32 {
		binary.BigEndian.PutUint32(mdat, uint32(payload+8))
	} else {
		binary.BigEndian.PutUint32(mdat, 1)
		mdat = binary.BigEndian.AppendUint64(mdat, payload+16)
	}
	room := int(f.media) - len(head) - len(mdat)
	head = appendBox(head, "free", make([]byte, room-8))
	return append(head, mdat...)
}

// head returns ftyp and moov. Before the media is written it has the size they
// will have, or more: a table of 32-bit offsets takes less than one of 64.
func (f *FilmWriter) head(large bool) ([]byte, error) {
	_, ticks := f.plan.totals()
	m := movie{track: f.track, created: f.plan.Created, title: f.plan.Title, duration: ticks * unitsPerTick}
	stsc, err := f.chunkTable()
	if err != nil {
		return nil, err
	}
	stss := &mp4.StssBox{SampleNumber: make([]uint32, len(f.plan.Keys))}
	for i, key := range f.plan.Keys {
		stss.SampleNumber[i] = uint32(key) + 1
	}
	stts := &mp4.SttsBox{}
	for _, run := range f.plan.Durations {
		stts.SampleCount = append(stts.SampleCount, uint32(run.Count))
		stts.SampleTimeDelta = append(stts.SampleTimeDelta, uint32(run.Ticks*unitsPerTick))
	}
	stsz := &mp4.StszBox{SampleNumber: uint32(f.total), SampleSize: f.sizes[:f.total]}
	m.tables = []mp4.Box{stts, stss, stsc, stsz, f.offsetTable(large)}
	m.btrt = f.bitrate(m.duration)
	moov, err := m.box()
	if err != nil {
		return nil, err
	}
	if moov.Size() > maxIndex {
		return nil, errors.New("mp4: the film's index is too large")
	}
	return encodeBoxes(mp4.NewFtyp("isom", 512, []string{"isom", "iso2", "avc1", "mp41"}), moov)
}

func (f *FilmWriter) chunkTable() (*mp4.StscBox, error) {
	stsc := &mp4.StscBox{}
	last := uint32(0)
	for i, first := range f.chunks {
		end := uint32(f.total)
		if i+1 < len(f.chunks) {
			end = f.chunks[i+1]
		}
		if end-first == last {
			continue
		}
		last = end - first
		if err := stsc.AddEntry(uint32(i+1), last, 1); err != nil {
			return nil, fmt.Errorf("mp4: build stsc: %w", err)
		}
	}
	return stsc, nil
}

func (f *FilmWriter) offsetTable(large bool) mp4.Box {
	starts := f.starts[:len(f.chunks)] // zeros before the media is written
	if large {
		return &mp4.Co64Box{ChunkOffset: starts}
	}
	stco := &mp4.StcoBox{ChunkOffset: make([]uint32, len(starts))}
	for i, start := range starts {
		stco.ChunkOffset[i] = uint32(start)
	}
	return stco
}

// bitrate fills btrt: the largest sample, and bits a second at most (over
// chunks, which begin a second apart or more) and on average.
func (f *FilmWriter) bitrate(duration int64) mp4.BtrtBox {
	var b mp4.BtrtBox
	var sum, chunk, most uint64
	next := 0
	for i, size := range f.sizes {
		if next < len(f.chunks) && f.chunks[next] == uint32(i) {
			chunk = 0
			next++
		}
		sum += uint64(size)
		chunk += uint64(size)
		most = max(most, chunk)
		b.BufferSizeDB = max(b.BufferSizeDB, size)
	}
	seconds := float64(duration) / float64(f.track.Timescale())
	b.AvgBitrate = uint32(min(float64(sum)*8/seconds, math.MaxUint32))
	b.MaxBitrate = max(uint32(min(most*8, math.MaxUint32)), b.AvgBitrate)
	return b
}
