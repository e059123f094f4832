package mp4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/proofreel/proofreel/internal/media/h264"
)

const (
	trackID     = 1
	handlerName = "Proofreel video"
	// flagSync and flagNonSync are sample_flags (8.8.3.1): a picture that
	// depends on no other, and one that does and is no sync sample.
	flagSync    = 0x02000000
	flagNonSync = 0x01010000
)

// movie is what goes into a moov box. Tables left nil are written empty, as a
// fragmented file has them.
type movie struct {
	track    Track
	created  time.Time // zero: unknown
	duration int64     // units
	title    string
	btrt     mp4.BtrtBox
	tables   []mp4.Box // stts, stss, stsc, stsz, stco or co64
	extends  bool      // with mvex: fragments follow
}

func (m *movie) box() (*mp4.MoovBox, error) {
	mvhd, tkhd := mp4.CreateMvhd(), mp4.CreateTkhd()
	mdhd := &mp4.MdhdBox{Timescale: uint32(m.track.Timescale()), Duration: uint64(m.duration)}
	mdhd.SetLanguage("und")
	// The movie counts in the track's units, so that both durations are exact.
	mvhd.Timescale, mvhd.Duration = mdhd.Timescale, mdhd.Duration
	tkhd.Duration = mdhd.Duration
	tkhd.Flags = 3 // enabled, in movie
	tkhd.Width, tkhd.Height = mp4.Fixed32(m.track.Width<<16), mp4.Fixed32(m.track.Height<<16)
	if m.duration > math.MaxUint32 {
		mvhd.Version, tkhd.Version, mdhd.Version = 1, 1, 1
	}
	if !m.created.IsZero() {
		s := m.created.Unix()
		mvhd.SetCreationTimeS(s)
		mvhd.SetModificationTimeS(s)
		tkhd.SetCreationTimeS(s)
		tkhd.SetModificationTimeS(s)
		mdhd.SetCreationTimeS(s)
		mdhd.SetModificationTimeS(s)
	}
	minf, err := m.mediaInfo()
	if err != nil {
		return nil, err
	}
	mdia := mp4.NewMdiaBox()
	mdia.AddChild(mdhd)
	mdia.AddChild(&mp4.HdlrBox{HandlerType: "vide", Name: handlerName})
	mdia.AddChild(minf)
	trak := mp4.NewTrakBox()
	trak.AddChild(tkhd)
	trak.AddChild(mdia)
	moov := mp4.NewMoovBox()
	moov.AddChild(mvhd)
	moov.AddChild(trak)
	if m.extends {
		mvex := mp4.NewMvexBox()
		mvex.AddChild(&mp4.TrexBox{
			TrackID: trackID, DefaultSampleDescriptionIndex: 1,
			DefaultSampleDuration: unitsPerTick, DefaultSampleFlags: flagNonSync,
		})
		moov.AddChild(mvex)
	}
	if m.title != "" {
		moov.AddChild(userData(m.title))
	}
	return moov, nil
}

func (m *movie) mediaInfo() (*mp4.MinfBox, error) {
	stsd, err := m.sampleDescription()
	if err != nil {
		return nil, err
	}
	stbl := mp4.NewStblBox()
	stbl.AddChild(stsd)
	tables := m.tables
	if tables == nil {
		tables = []mp4.Box{&mp4.SttsBox{}, &mp4.StscBox{}, &mp4.StszBox{}, &mp4.StcoBox{}}
	}
	for _, table := range tables {
		stbl.AddChild(table)
	}
	dinf := &mp4.DinfBox{}
	dinf.AddChild(mp4.CreateDref())
	minf := mp4.NewMinfBox()
	minf.AddChild(mp4.CreateVmhd())
	minf.AddChild(dinf)
	minf.AddChild(stbl)
	return minf, nil
}

func (m *movie) sampleDescription() (*mp4.StsdBox, error) {
	config, err := h264.Config{SPS: m.track.SPS, PPS: m.track.PPS}.Marshal()
	if err != nil {
		return nil, fmt.Errorf("mp4: build avcC: %w", err)
	}
	entry := mp4.CreateVisualSampleEntryBox("avc1", uint16(m.track.Width), uint16(m.track.Height), rawBox("avcC", config))
	entry.CompressorName = ""
	// BT.709, limited range: what the recorder's pixels are, said where players
	// look before they decode.
	entry.AddChild(&mp4.ColrBox{ColorType: "nclx", ColorPrimaries: 1, TransferCharacteristics: 1, MatrixCoefficients: 1})
	entry.AddChild(&mp4.PaspBox{HSpacing: 1, VSpacing: 1})
	entry.AddChild(&m.btrt)
	stsd := mp4.NewStsdBox()
	stsd.AddChild(entry)
	return stsd, nil
}

// userData is a udta box with the title as players and ffmpeg read it: an
// iTunes item list.
func userData(title string) *mp4.UdtaBox {
	data := appendBox(nil, "data", []byte{0, 0, 0, 1, 0, 0, 0, 0}, []byte(title)) // type 1: UTF-8
	items := appendBox(nil, "ilst", appendBox(nil, "\xa9nam", data))
	hdlr := appendBox(nil, "hdlr", make([]byte, 8), []byte("mdirappl"), make([]byte, 9))
	udta := &mp4.UdtaBox{}
	udta.AddChild(rawBox("meta", append(append(make([]byte, 4), hdlr...), items...)))
	return udta
}

func rawBox(typ string, payload []byte) mp4.Box {
	return mp4.CreateUnknownBox(typ, uint64(8+len(payload)), payload)
}

// appendBox appends a box whose size fits 32 bits.
func appendBox(dst []byte, typ string, payload ...[]byte) []byte {
	n := 8
	for _, p := range payload {
		n += len(p)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, typ...)
	for _, p := range payload {
		dst = append(dst, p...)
	}
	return dst
}

func encodeBoxes(boxes ...mp4.Box) ([]byte, error) {
	var b bytes.Buffer
	for _, box := range boxes {
		if err := box.Encode(&b); err != nil {
			return nil, fmt.Errorf("mp4: encode %s: %w", box.Type(), err)
		}
	}
	return b.Bytes(), nil
}
