package mp4

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// index is what a moov box says of its first video track. Tables are left as
// they are in the file: a hostile count costs no memory.
type index struct {
	trackID       uint32
	tracks        int
	timescale     uint32
	width, height int
	entry         string // type of the sample entry
	avcC          []byte
	config        h264.Config
	sps           h264.SPS
	colour        Colour
	fragmented    bool
	trex          trackDefaults

	stts, stsc, stss table
	hasStss          bool
	offsets          table // stco or co64
	sizes            table // empty when uniform is set
	uniform          uint32
	samples          uint32
}

// table is an array of entries of equal width.
type table struct {
	data  []byte
	width int
}

func (t table) len() int {
	if t.width == 0 {
		return 0
	}
	return len(t.data) / t.width
}

// u32 returns the i-th 32-bit field of an entry.
func (t table) u32(entry, i int) uint32 {
	return binary.BigEndian.Uint32(t.data[entry*t.width+4*i:])
}

// offset returns entry as a file offset of 4 or 8 bytes.
func (t table) offset(entry int) int64 {
	if t.width == 4 {
		return int64(t.u32(entry, 0))
	}
	v := binary.BigEndian.Uint64(t.data[entry*8:])
	return int64(min(v, math.MaxInt64))
}

// trackDefaults are the values of trex or tfhd.
type trackDefaults struct {
	duration, size, flags uint32
}

func readMoov(data []byte) (*index, error) {
	x := &index{colour: Colour{Primaries: 2, Transfer: 2, Matrix: 2}}
	var mvex []byte
	for b, err := range innerBoxes(data) {
		if err != nil {
			return nil, err
		}
		switch b.typ {
		case "trak":
			x.tracks++
			if err := x.readTrak(b.data); err != nil {
				return nil, err
			}
		case "mvex":
			x.fragmented = true
			mvex = b.data
		}
	}
	if x.entry == "" {
		return nil, badBox("moov", "no video track")
	}
	for b, err := range innerBoxes(mvex) {
		if err != nil {
			return nil, err
		}
		f := fields{data: b.data}
		f.full()
		if b.typ == "trex" && f.u32() == x.trackID {
			f.u32() // default_sample_description_index
			x.trex = trackDefaults{duration: f.u32(), size: f.u32(), flags: f.u32()}
		}
	}
	return x, nil
}

// find returns the payload at a path of boxes.
func find(data []byte, path ...string) ([]byte, error) {
	for _, typ := range path {
		found := false
		for b, err := range innerBoxes(data) {
			if err != nil {
				return nil, err
			}
			if b.typ == typ {
				data, found = b.data, true
				break
			}
		}
		if !found {
			return nil, badBox(typ, "missing")
		}
	}
	return data, nil
}

// readTrak takes the track over if it is the first video track.
func (x *index) readTrak(trak []byte) error {
	hdlr, err := find(trak, "mdia", "hdlr")
	if err != nil {
		return err
	}
	if len(hdlr) < 12 || string(hdlr[8:12]) != "vide" || x.entry != "" {
		return nil
	}
	tkhd, err := find(trak, "tkhd")
	if err != nil {
		return err
	}
	f := fields{data: tkhd}
	version, _ := f.full()
	f.word(version)
	f.word(version)
	x.trackID = f.u32()
	mdhd, err := find(trak, "mdia", "mdhd")
	if err != nil {
		return err
	}
	m := fields{data: mdhd}
	version, _ = m.full()
	m.word(version)
	m.word(version)
	x.timescale = m.u32()
	if f.short || m.short || x.timescale == 0 {
		return badBox("mdhd", "no time scale")
	}
	stbl, err := find(trak, "mdia", "minf", "stbl")
	if err != nil {
		return err
	}
	return x.readTables(stbl)
}

func (x *index) readTables(stbl []byte) error {
	for b, err := range innerBoxes(stbl) {
		if err != nil {
			return err
		}
		switch b.typ {
		case "stsd":
			err = x.readEntry(b.data)
		case "stts":
			x.stts, err = readTable(b, 8)
		case "stsc":
			x.stsc, err = readTable(b, 12)
		case "stss":
			x.hasStss = true
			x.stss, err = readTable(b, 4)
		case "stco":
			x.offsets, err = readTable(b, 4)
		case "co64":
			x.offsets, err = readTable(b, 8)
		case "stsz":
			err = x.readSizes(b)
		}
		if err != nil {
			return err
		}
	}
	if x.entry == "" {
		return badBox("stsd", "missing")
	}
	return nil
}

func readTable(b innerBox, width int) (table, error) {
	f := fields{data: b.data}
	f.full()
	count := f.u32()
	if f.short || uint64(count)*uint64(width) > uint64(len(f.data)) {
		return table{}, badBox(b.typ, "%d entries in %d bytes", count, len(b.data))
	}
	return table{data: f.data[:int(count)*width], width: width}, nil
}

func (x *index) readSizes(b innerBox) error {
	f := fields{data: b.data}
	f.full()
	x.uniform, x.samples = f.u32(), f.u32()
	if f.short {
		return badBox(b.typ, "cut short")
	}
	if x.uniform != 0 {
		return nil
	}
	if uint64(x.samples)*4 > uint64(len(f.data)) {
		return badBox(b.typ, "%d samples in %d bytes", x.samples, len(b.data))
	}
	x.sizes = table{data: f.data[:int(x.samples)*4], width: 4}
	return nil
}

// readEntry reads the first sample entry. Only avc1 and avc3 entries have
// their configuration read; for others the codec is known and nothing more.
func (x *index) readEntry(stsd []byte) error {
	if len(stsd) < 8 {
		return badBox("stsd", "cut short")
	}
	for b, err := range innerBoxes(stsd[8:]) {
		if err != nil {
			return err
		}
		const visualEntry = 78 // bytes before the entry's boxes (12.1.3)
		if len(b.data) < visualEntry {
			return badBox(b.typ, "sample entry of %d bytes", len(b.data))
		}
		x.entry = b.typ
		x.width = int(binary.BigEndian.Uint16(b.data[24:]))
		x.height = int(binary.BigEndian.Uint16(b.data[26:]))
		return x.readEntryBoxes(b.data[visualEntry:])
	}
	return badBox("stsd", "no sample entry")
}

func (x *index) readEntryBoxes(data []byte) error {
	for b, err := range innerBoxes(data) {
		if err != nil {
			return err
		}
		switch b.typ {
		case "avcC":
			x.avcC = b.data
			if x.config, err = h264.ParseConfig(b.data); err != nil {
				return &FormatError{Box: "avcC", Reason: "read the decoder configuration", Err: err}
			}
			if x.sps, err = h264.ParseSPS(x.config.SPS); err != nil {
				return &FormatError{Box: "avcC", Reason: "read the SPS", Err: err}
			}
		case "colr":
			x.readColour(b.data)
		}
	}
	if x.avcC == nil && (x.entry == "avc1" || x.entry == "avc3") {
		return badBox(x.entry, "no avcC")
	}
	return nil
}

func (x *index) readColour(data []byte) {
	if len(data) < 11 || string(data[:4]) != "nclx" {
		return
	}
	f := fields{data: data[4:]}
	x.colour = Colour{Present: true, Primaries: int(f.u16()), Transfer: int(f.u16()), Matrix: int(f.u16())}
	x.colour.FullRange = f.take(1)[0]&0x80 != 0
}

// track returns the Track of a file whose times are on our grid.
func (x *index) track() (Track, error) {
	if x.avcC == nil {
		return Track{}, badBox(x.entry, "no H.264 track")
	}
	if x.timescale%unitsPerTick != 0 || x.timescale/unitsPerTick > maxFPS {
		return Track{}, badBox("mdhd", "time scale %d is not %d a tick of 1 to %d ticks a second", x.timescale, unitsPerTick, maxFPS)
	}
	return Track{
		Width: x.width, Height: x.height, FPS: int(x.timescale / unitsPerTick),
		SPS: x.config.SPS, PPS: x.config.PPS,
	}, nil
}

// atMoov puts the place of moov into an error that came from its insides.
func atMoov(err error, moov topBox) error {
	if format, ok := err.(*FormatError); ok { //nolint:errorlint // only our own, not one below
		format.Offset = moov.start
		return format
	}
	return fmt.Errorf("mp4: read moov: %w", err)
}
