package exit

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// index is what the walker has read of a moov box. Tables stay as they are in
// the file until the number of samples is known to be allowed.
type index struct {
	want   Want
	config []byte // avcC's payload

	movieScale, mediaScale uint64
	// In the movie's scale: the lengths that mvhd, tkhd and elst say.
	movieLength, trackLength, editLength uint64
	editStart                            uint64 // in the media's scale
	hasEdit                              bool
	mediaLength                          uint64

	count  int    // samples
	delta  uint64 // of each, in the media's scale
	shifts []byte // ctts entries, 8 bytes each
	signed bool   // ctts version 1
	keys   []byte // stss entries, 4 bytes each
	hasKey bool
	runs   []byte // stsc entries, 12 bytes each
	each   []byte // sizes as stsz entries, 4 bytes each
	chunks []uint64
	placed bool
}

// Bounds of times, so that their products fit 64 bits: 10 MHz, and what 600
// seconds and more take at that.
const (
	maxScale  = 10_000_000
	maxLength = 1 << 36
)

// movieHeader reads mvhd (8.2.2). When it was made is of no interest: the
// rewritten file does not say it.
func (x *index) movieHeader(body []byte) error {
	c := &cursor{b: body}
	version, flags := c.full(1)
	c.want(flags == 0)
	c.word(version)
	c.word(version)
	x.movieScale = uint64(c.u32())
	x.movieLength = c.word(version)
	c.want(c.u32() == 0x00010000) // rate
	volume := c.u16()
	c.want(volume == 0 || volume == 0x0100)
	c.zeros(10)
	c.matrix()
	c.zeros(24)
	c.want(c.u32() >= 2) // next_track_ID
	c.want(x.movieScale >= 1 && x.movieScale <= maxScale && x.movieLength <= maxLength)
	return fields(c, "mvhd")
}

// trackHeader reads tkhd (8.3.2).
func (x *index) trackHeader(body []byte) error {
	c := &cursor{b: body}
	version, flags := c.full(1)
	c.want(flags&1 == 1 && flags&^7 == 0) // enabled
	c.word(version)
	c.word(version)
	c.want(c.u32() == 1) // track_ID
	c.zeros(4)
	x.trackLength = c.word(version)
	c.zeros(8)
	c.zeros(2) // layer
	c.zeros(2) // alternate_group
	c.zeros(2) // volume
	c.zeros(2)
	c.matrix()
	w, h := c.u32(), c.u32()
	c.want(x.trackLength <= maxLength)
	if c.whole() && (w != uint32(x.want.Width)<<16 || h != uint32(x.want.Height)<<16) {
		return refuse(FrameSize, "tkhd")
	}
	return fields(c, "tkhd")
}

// editList reads elst (8.6.6). One edit at normal speed is all that a film
// needs: it moves the first picture to time 0 where pictures are reordered.
func (x *index) editList(body []byte) error {
	c := &cursor{b: body}
	version, flags := c.full(1)
	c.want(flags == 0 && c.u32() == 1)
	length := c.word(version)
	start := c.word(version)
	c.want(c.u32() == 0x00010000) // media_rate
	c.want(length <= maxLength && start <= maxLength)
	if !c.whole() {
		return refuse(EditList, "elst")
	}
	x.hasEdit, x.editLength, x.editStart = true, length, start
	return nil
}

// mediaHeader reads mdhd (8.4.2). The language is dropped.
func (x *index) mediaHeader(body []byte) error {
	c := &cursor{b: body}
	version, flags := c.full(1)
	c.want(flags == 0)
	c.word(version)
	c.word(version)
	x.mediaScale = uint64(c.u32())
	x.mediaLength = c.word(version)
	c.want(c.u16() < 0x8000) // language
	c.zeros(2)
	c.want(x.mediaScale >= 1 && x.mediaScale <= maxScale && x.mediaLength <= maxLength)
	return fields(c, "mdhd")
}

// handler reads hdlr (8.4.3): video, and a name that ffmpeg or Proofreel gives.
func handler(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	c.zeros(4)
	kind := c.take(4)
	c.zeros(12)
	if c.bad {
		return refuse(BoxFields, "hdlr")
	}
	if string(kind) != "vide" {
		return refuse(Tracks, "hdlr")
	}
	if !slices.Contains([]string{"\x00", "VideoHandler\x00", "Proofreel video\x00"}, string(c.b)) {
		return refuse(BoxText, "hdlr")
	}
	return nil
}

// videoHeader reads vmhd (12.1.2).
func videoHeader(body []byte) error {
	c := &cursor{b: body}
	c.want(c.u32() == 1) // version 0, flags 1
	c.zeros(8)
	return fields(c, "vmhd")
}

// dataReference reads dref (8.7.2): one entry, and that says "this file".
func dataReference(body []byte) error {
	self := []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 12, 'u', 'r', 'l', ' ', 0, 0, 0, 1}
	if !bytes.Equal(body, self) {
		return refuse(External, "dref")
	}
	return nil
}

// noUserData reads a udta box: the empty list of metadata that ffmpeg writes
// even when it is told to write none.
func noUserData(body []byte) error {
	handler := full("hdlr", 0, 0, words(0), []byte("mdirappl"), make([]byte, 9))
	if !bytes.Equal(body, full("meta", 0, 0, handler, box("ilst"))) {
		return refuse(BoxText, "udta")
	}
	return nil
}

// descriptions reads stsd (8.5.2): one avc1 entry.
func (x *index) descriptions(body []byte) error {
	c := &cursor{b: body}
	c.plain()
	if c.u32() != 1 || c.bad {
		return refuse(BoxFields, "stsd")
	}
	if len(c.b) < 8 || binary.BigEndian.Uint32(c.b) != uint32(len(c.b)) {
		return refuse(BoxSize, "stsd")
	}
	if string(c.b[4:8]) != "avc1" {
		return refuse(Codec, "stsd")
	}
	return x.visualEntry(c.b[8:])
}

// visualEntry reads an avc1 sample entry (12.1.3; 14496-15, 5.4.2.1).
func (x *index) visualEntry(body []byte) error {
	c := &cursor{b: body}
	c.zeros(6)
	c.want(c.u16() == 1) // data_reference_index
	c.zeros(16)          // QuickTime keeps a vendor here
	w, h := c.u16(), c.u16()
	c.want(c.u64() == 0x00480000_00480000) // 72 dpi both ways
	c.zeros(4)
	c.want(c.u16() == 1) // frame_count
	name := c.take(32)
	c.want(c.u32() == 0x0018_ffff) // depth, pre_defined
	if c.bad {
		return refuse(BoxFields, "avc1")
	}
	if int(w) != x.want.Width || int(h) != x.want.Height {
		return refuse(FrameSize, "avc1")
	}
	if !allZero(name) && !bytes.Equal(name, compressorName("Lavc libx264")) {
		return refuse(BoxText, "avc1")
	}
	return descend(c.b, []node{
		{typ: "avcC", least: 1, read: func(b []byte) error {
			x.config = b // read when rate and length are known to be right
			return nil
		}},
		{typ: "colr", read: colour},
		{typ: "pasp", read: aspect},
		{typ: "btrt", read: bitrate},
	})
}

// compressorName is a name as it stands in a sample entry: a length byte, the
// name, zeros up to 32 bytes.
func compressorName(name string) []byte {
	b := make([]byte, 32)
	b[0] = byte(len(name))
	copy(b[1:], name)
	return b
}

// colour reads colr (12.1.5): BT.709 or unspecified, limited range.
func colour(body []byte) error {
	c := &cursor{b: body}
	c.want(string(c.take(4)) == "nclx")
	for range 3 {
		v := c.u16()
		c.want(v == 1 || v == 2)
	}
	c.zeros(1) // full_range_flag, reserved
	return fields(c, "colr")
}

// aspect reads pasp (12.1.4): square pixels.
func aspect(body []byte) error {
	c := &cursor{b: body}
	c.want(c.u64() == 1<<32|1)
	return fields(c, "pasp")
}

// bitrate reads btrt (8.5.2.2). Its numbers are dropped.
func bitrate(body []byte) error {
	c := &cursor{b: body}
	c.take(12)
	return fields(c, "btrt")
}

func fields(c *cursor, rule string) error {
	if !c.whole() {
		return refuse(BoxFields, rule)
	}
	return nil
}
