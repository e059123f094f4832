package exit

import (
	"bytes"
	"math"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/media/mp4"
)

// Films as honest authors make them pass, and come out of the rewriting as
// the same pictures in the same order.
func TestGoodFilmsPass(t *testing.T) {
	t.Parallel()
	w := testWant()
	for name, b := range map[string][]byte{
		"ffmpeg, pictures out of order": goodFilm(t),
		"ffmpeg, in order":              encodeFilm(t, w, testFrames, "-bf", "0"),
		"ffmpeg, baseline":              encodeFilm(t, w, testFrames, "-profile:v", "baseline"),
		"ffmpeg, sliced":                encodeFilm(t, w, testFrames, "-x264-params", "slices=4"),
		"ffmpeg, delimiters":            encodeFilm(t, w, testFrames, "-x264-params", "aud=1"),
		"ffmpeg, index behind":          encodeFilm(t, w, testFrames, "-movflags", "-faststart"),
		"ffmpeg, all keyframes":         encodeFilm(t, w, testFrames, "-g", "1"),
		"ffmpeg, repeated headers":      encodeFilm(t, w, testFrames, "-x264-params", "repeat-headers=1"),
		"ffmpeg, BT.709 tags":           encodeFilm(t, w, testFrames, "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"),
		"our film writer":               renderedFilm(t),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := walkBytes(b, w)
			check(t, err)
			if len(f.samples) != testFrames {
				t.Errorf("%d samples", len(f.samples))
			}
			clean := rewriteBytes(t, b, w)
			if again := rewriteBytes(t, clean, w); !bytes.Equal(again, clean) {
				t.Error("rewriting a rewritten film changes it")
			}
			if d := cmp.Diff(framesOf(t, b), framesOf(t, clean)); d != "" {
				t.Errorf("decoded pictures or their times differ: %s", d)
			}
			info, err := mp4.InspectReader(bytes.NewReader(clean), int64(len(clean)))
			check(t, err)
			if info.FrameRate() != (mp4.Rational{Num: 30, Den: 1}) || !info.MoovBeforeMdat || info.Samples != testFrames {
				t.Errorf("our other reader says %+v", info)
			}
		})
	}
}

// framesOf gives ffmpeg's checksum and time of each decoded picture.
func framesOf(t testing.TB, b []byte) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.mp4"), filepath.Join(dir, "out")
	writeFile(t, in, b)
	ffmpegRun(t, "-i", in, "-fps_mode", "passthrough", "-enc_time_base", "1/30", "-f", "framemd5", out)
	return string(readFile(t, out))
}

// walkCase is a hostile film. Each is one change to a good one, with all
// other tables made right, so that nothing but the rule under test can refuse.
type walkCase struct {
	name   string
	edit   func(m *movie)
	reason Reason
	// control is nearly the same change, one that is allowed.
	control func(m *movie)
}

func u32p(v uint32) *uint32 { return &v }
func u64p(v uint64) *uint64 { return &v }

func TestHostileFilmsAreRefused(t *testing.T) {
	good := goodFilm(t)
	for _, cases := range [][]walkCase{fileCases(), headerCases(), tableCases(), entryCases()} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				same := change(t, good, func(*movie) {})
				if !bytes.Equal(same, good) {
					t.Fatal("the unchanged film is not written back as it was")
				}
				if c.control != nil {
					if _, err := walkBytes(change(t, good, c.control), testWant()); err != nil {
						t.Errorf("the control is refused: %v", err)
					}
				}
				_, err := walkBytes(change(t, good, c.edit), testWant())
				if got := reasonOf(t, err); got != c.reason {
					t.Errorf("got %q (%v), want %q", got, err, c.reason)
				}
			})
		}
	}
	_, err := walkBytes(good, testWant())
	check(t, err)
}

// fileCases are about the boxes of the file itself and what stands between
// and behind them.
func fileCases() []walkCase {
	pad := func(i, n int, fill byte) func(m *movie) {
		return func(m *movie) { m.insertTop(i, &atom{typ: "free", body: bytes.Repeat([]byte{fill}, n)}) }
	}
	mdat := func(size *uint32, wide *uint64) func(m *movie) {
		return func(m *movie) { m.at("mdat").size, m.at("mdat").wide = size, wide }
	}
	extra := func(typ string, body []byte) func(m *movie) {
		return func(m *movie) { m.insertTop(2, &atom{typ: typ, body: body}) }
	}
	brand := func(s string, at int) func(m *movie) {
		return func(m *movie) { m.at("ftyp").put(at, []byte(s)...) }
	}
	return []walkCase{
		{name: "HTML behind the last box", edit: func(m *movie) { m.raw = []byte("<html><script>alert(1)</script>") }, reason: BoxSize},
		{name: "zip behind the last box", edit: func(m *movie) { m.raw = []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00") }, reason: BoxSize},
		{name: "one byte behind the last box", edit: func(m *movie) { m.raw = []byte{0} }, reason: BoxSize},
		{name: "padding first", edit: pad(0, 0, 0), reason: BoxMissing, control: pad(1, 0, 0)},
		{name: "brand <svg", edit: brand("<svg", 0), reason: Brand, control: brand("mp42", 0)},
		{name: "compatible brand <svg", edit: brand("<svg", 12), reason: Brand, control: brand("mp42", 12)},
		{name: "QuickTime brand", edit: brand("qt  ", 0), reason: Brand},
		{name: "text in the brand's version", edit: brand("HTML", 4), reason: Brand},
		{name: "many brands", edit: func(m *movie) { m.at("ftyp").body = bytes.Repeat([]byte("isom"), 4000) }, reason: Brand},
		{name: "second ftyp", edit: extra("ftyp", []byte("isom\x00\x00\x02\x00isom")), reason: BoxRepeated},
		{name: "64-bit size of all ones", edit: mdat(nil, u64p(math.MaxUint64)), reason: BoxSize},
		{name: "64-bit size of 8", edit: mdat(nil, u64p(8)), reason: BoxSize},
		{name: "64-bit size over the sign", edit: mdat(nil, u64p(1<<63)), reason: BoxSize},
		{name: "size under a header's", edit: mdat(u32p(7), nil), reason: BoxSize},
		{name: "size to the end of the file", edit: mdat(u32p(0), nil), reason: BoxSize},
		{name: "size of 4 GiB", edit: mdat(u32p(0xfffffff0), nil), reason: BoxSize},
		{name: "64-bit size of moov", edit: func(m *movie) { m.at("moov").wide = u64p(uint64(len(m.at("moov").bytes()) + 8)) }, reason: BoxSize},
		{
			name: "64-bit size, one too large", reason: BoxSize,
			edit:    func(m *movie) { m.at("mdat").wide = u64p(uint64(len(m.at("mdat").body) + 17)) },
			control: func(m *movie) { m.at("mdat").wide = u64p(uint64(len(m.at("mdat").body) + 16)) },
		},
		{name: "padding of 1 MiB", edit: pad(1, 1<<20, 0), reason: Padding, control: pad(1, 4096, 0)},
		{name: "padding with text", edit: pad(1, 8, 'A'), reason: Padding, control: pad(1, 8, 0)},
		{
			name: "padding again and again", reason: Padding,
			edit: func(m *movie) {
				for range 3 {
					pad(1, 8, 0)(m)
				}
			},
		},
		{name: "skip box", edit: extra("skip", nil), reason: BoxUnknown},
		{name: "uuid box", edit: extra("uuid", bytes.Repeat([]byte{1}, 32)), reason: BoxUnknown},
		{name: "unknown box", edit: extra("ABCD", []byte("hello")), reason: BoxUnknown},
		{name: "box of non-ASCII type", edit: extra("\xff\x00\x01\x02", nil), reason: BoxUnknown},
		{name: "meta at the top", edit: extra("meta", make([]byte, 4)), reason: BoxUnknown},
		{name: "fragment", edit: extra("moof", nil), reason: BoxUnknown},
		{name: "segment index", edit: extra("sidx", make([]byte, 24)), reason: BoxUnknown},
		{name: "second mdat", edit: extra("mdat", []byte("secret")), reason: BoxRepeated},
		{name: "second moov", edit: func(m *movie) { m.insertTop(1, m.at("moov")) }, reason: BoxRepeated},
		{name: "no mdat", edit: func(m *movie) { m.at("mdat").typ = "free" }, reason: Padding},
		{name: "no moov", edit: func(m *movie) { m.top = append(m.top[:1:1], m.top[2:]...) }, reason: BoxMissing},
		{name: "index of 1 MiB", edit: func(m *movie) { m.at("moov").add("free", make([]byte, 1<<20)...) }, reason: SampleTable},
	}
}

// headerCases are about moov outside of the sample tables.
func headerCases() []walkCase {
	put := func(path string, at int, b ...byte) func(m *movie) {
		return func(m *movie) { m.at(path).put(at, b...) }
	}
	put32 := func(path string, at int, v uint32) func(m *movie) {
		return func(m *movie) { m.at(path).put32(at, v) }
	}
	add := func(path, typ string, body ...byte) func(m *movie) {
		return func(m *movie) { m.at(path).add(typ, body...) }
	}
	const mvhd, tkhd, mdhd, hdlr = "moov/mvhd", "moov/trak/tkhd", "moov/trak/mdia/mdhd", "moov/trak/mdia/hdlr"
	const elst, dref = "moov/trak/edts/elst", "moov/trak/mdia/minf/dinf/dref"
	return []walkCase{
		{name: "udta of 8 KiB", edit: func(m *movie) { m.at("moov/udta").body = make([]byte, 8<<10) }, reason: BoxText, control: func(m *movie) { m.at("moov").remove("udta") }},
		{name: "iTunes comment", edit: func(m *movie) {
			a := m.at("moov/udta")
			a.body = append(a.body[:45:45], box("ilst", box("\xa9cmt", []byte("x")))...)
		}, reason: BoxText},
		{name: "text behind the empty metadata", edit: func(m *movie) { a := m.at("moov/udta"); a.body = append(a.body, 'x') }, reason: BoxText},
		{name: "second udta", edit: func(m *movie) { m.at("moov").kids = append(m.at("moov").kids, m.at("moov/udta")) }, reason: BoxRepeated},
		{name: "udta in the track", edit: add("moov/trak", "udta"), reason: BoxUnknown},
		{name: "meta in moov", edit: add("moov", "meta"), reason: BoxUnknown},
		{name: "free in moov", edit: add("moov", "free"), reason: BoxUnknown},
		{name: "object descriptor", edit: add("moov", "iods", make([]byte, 13)...), reason: BoxUnknown},
		{name: "fragments to come", edit: add("moov", "mvex"), reason: BoxUnknown},
		{name: "moov in moov, 1000 deep", edit: add("moov", "moov", nest(1000)...), reason: BoxUnknown},
		{name: "second track", edit: func(m *movie) { m.at("moov").kids = append(m.at("moov").kids, m.at("moov/trak")) }, reason: Tracks},
		{name: "no track", edit: func(m *movie) { m.at("moov/trak").typ = "free" }, reason: BoxUnknown},
		{name: "sound track", edit: put(hdlr, 8, []byte("soun")...), reason: Tracks},
		{name: "handler's name is text", edit: func(m *movie) { m.at(hdlr).body = append(m.at(hdlr).body[:24:24], "hello\x00"...) }, reason: BoxText, control: func(m *movie) { m.at(hdlr).body = append(m.at(hdlr).body[:24:24], 0) }},
		{name: "text behind the handler's name", edit: func(m *movie) { m.at(hdlr).body = append(m.at(hdlr).body, "more"...) }, reason: BoxText},
		{name: "handler's name without an end", edit: func(m *movie) { m.at(hdlr).body = m.at(hdlr).body[:24] }, reason: BoxText},
		{name: "text in the handler's reserved bytes", edit: put(hdlr, 12, 'x'), reason: BoxFields},
		{name: "mvhd version 7", edit: put(mvhd, 0, 7), reason: BoxFields},
		{name: "mvhd flags", edit: put(mvhd, 3, 1), reason: BoxFields},
		{name: "mvhd reserved bytes", edit: put(mvhd, 26, 'x'), reason: BoxFields},
		{name: "mvhd preview times", edit: put(mvhd, 75, 'x'), reason: BoxFields},
		{name: "mvhd too long", edit: func(m *movie) { m.at(mvhd).body = append(m.at(mvhd).body, 0) }, reason: BoxFields},
		{name: "mvhd cut short", edit: func(m *movie) { m.at(mvhd).body = m.at(mvhd).body[:50] }, reason: BoxFields},
		{name: "mvhd without a scale", edit: put32(mvhd, 12, 0), reason: BoxFields},
		{name: "movie of ten hours", edit: put32(mvhd, 16, 36_000_000), reason: Duration},
		{name: "movie of 2^32", edit: put32(mvhd, 16, math.MaxUint32), reason: Duration, control: put32(mvhd, 16, 1480)},
		{name: "twice as fast", edit: put32(mvhd, 20, 0x00020000), reason: BoxFields},
		{name: "tkhd turned by 90 degrees", edit: put32(tkhd, 40, 0), reason: BoxFields},
		{name: "tkhd disabled", edit: put(tkhd, 3, 2), reason: BoxFields, control: put(tkhd, 3, 7)},
		{name: "tkhd other width", edit: put32(tkhd, 76, 320<<16), reason: FrameSize},
		{name: "tkhd half a pixel more", edit: put32(tkhd, 80, 90<<16|0x8000), reason: FrameSize},
		{name: "tkhd layer", edit: put(tkhd, 32, 1), reason: BoxFields},
		{name: "tkhd length", edit: put32(tkhd, 20, 15_000), reason: Duration},
		{name: "mdhd length", edit: func(m *movie) { m.at(mdhd).put32(16, m.at(mdhd).u32(16)+1) }, reason: Duration},
		{name: "mdhd scale: 1000 frames a second", edit: put32(mdhd, 12, 512_000), reason: FrameRate},
		{name: "mdhd text in reserved bytes", edit: put(mdhd, 22, 'x'), reason: BoxFields, control: put(mdhd, 20, 0x15, 0xc7)},
		{name: "second mdhd", edit: func(m *movie) { m.at("moov/trak/mdia").kids = append(m.at("moov/trak/mdia").kids, m.at(mdhd)) }, reason: BoxRepeated},
		{name: "no mdhd", edit: func(m *movie) { m.at("moov/trak/mdia").remove("mdhd") }, reason: BoxMissing},
		{name: "vmhd colours", edit: put("moov/trak/mdia/minf/vmhd", 6, 'x'), reason: BoxFields},
		{name: "data reference without its flag", edit: put(dref, 19, 0), reason: External},
		{name: "data reference to a URL", edit: func(m *movie) {
			m.at(dref).body = append(words(0, 1), full("url ", 0, 0, []byte("http://a.example/\x00"))...)
		}, reason: External},
		{name: "two data references", edit: func(m *movie) {
			u := full("url ", 0, 1)
			m.at(dref).body = append(append(words(0, 2), u...), u...)
		}, reason: External},
		{name: "data reference by name", edit: put(dref, 12, []byte("urn ")...), reason: External},
		{name: "edit list: negative time", edit: put32(elst, 12, 0xffffffff), reason: EditList},
		{name: "edit list: huge time", edit: put32(elst, 12, 0x7fffff00), reason: EditList},
		{name: "edit list: huge length", edit: put32(elst, 8, 0xffffffff), reason: EditList},
		{name: "edit list: half speed", edit: put32(elst, 16, 0x00008000), reason: EditList},
		{name: "edit list: frozen", edit: put32(elst, 16, 0), reason: EditList},
		{name: "edit list: between pictures", edit: func(m *movie) { m.at(elst).put32(12, m.at(elst).u32(12)+1) }, reason: EditList},
		{name: "edit list: a picture late", edit: func(m *movie) { m.at(elst).put32(12, m.at(elst).u32(12)+512) }, reason: EditList},
		{name: "edit list: two edits", edit: func(m *movie) {
			m.at(elst).body = append(words(0, 2, 0, 0xffffffff, 0x00010000), m.at(elst).body[8:]...)
		}, reason: EditList},
		{name: "edit list: 2^31 edits", edit: put32(elst, 4, 1<<31), reason: EditList},
	}
}

// nest gives boxes in boxes.
func nest(depth int) []byte {
	var b []byte
	for range depth {
		b = box("moov", b)
	}
	return b
}

// tableCases are about the sample tables.
func tableCases() []walkCase {
	put32 := func(typ string, at int, v uint32) func(m *movie) {
		return func(m *movie) { m.stbl(typ).put32(at, v) }
	}
	body := func(typ string, v ...uint32) func(m *movie) {
		return func(m *movie) { m.stbl(typ).body = words(v...) }
	}
	mdat := func(edit func(b []byte) []byte) func(m *movie) {
		return func(m *movie) { m.at("mdat").body = edit(m.at("mdat").body) }
	}
	return []walkCase{
		{name: "stsz: 2^31 samples", edit: put32("stsz", 8, 1<<31), reason: SampleTable},
		{name: "stsz: 2^32-1 samples of one size", edit: body("stsz", 0, 1, math.MaxUint32), reason: SampleTable},
		{name: "stsz: all of one size", edit: body("stsz", 0, 500, testFrames), reason: MediaLayout},
		{name: "stsz: all of one size, and a table", edit: body("stsz", 0, 500, testFrames, 1, 2, 3), reason: BoxFields},
		{name: "stsz: a sample of 2 GiB", edit: put32("stsz", 12, 1<<31), reason: SampleTable},
		{name: "stsz: a sample of 0", edit: put32("stsz", 12, 0), reason: SampleTable},
		{name: "stsz: one byte more", edit: func(m *movie) { m.stbl("stsz").put32(12, m.stbl("stsz").u32(12)+1) }, reason: MediaLayout},
		{name: "stsz: a size behind the count", edit: func(m *movie) { m.stbl("stsz").body = append(m.stbl("stsz").body, 0, 0, 0, 9) }, reason: SampleTable},
		{name: "stsz: one sample less", edit: func(m *movie) {
			b := m.stbl("stsz")
			b.body = b.body[:len(b.body)-4]
			b.put32(8, testFrames-1)
		}, reason: SampleTable},
		{name: "compact sizes", edit: func(m *movie) { m.stbl("stsz").typ = "stz2" }, reason: BoxUnknown},
		{name: "stts: 2^31 samples", edit: put32("stts", 8, 1<<31), reason: Duration},
		{name: "stts: one sample more", edit: put32("stts", 8, testFrames+1), reason: Duration},
		{name: "stts: 2^31 entries", edit: put32("stts", 4, 1<<31), reason: FrameRate},
		{name: "stts: no entry", edit: body("stts", 0, 0), reason: FrameRate},
		{name: "stts: two rates", edit: body("stts", 0, 2, 20, 512, 25, 1024), reason: FrameRate},
		{name: "stts: no time", edit: put32("stts", 12, 0), reason: FrameRate},
		{name: "stts: negative time", edit: put32("stts", 12, 0xffffff00), reason: FrameRate},
		{name: "ctts: 2^31 entries", edit: put32("ctts", 4, 1<<31), reason: SampleTable},
		{name: "ctts: a run of 2^32-1", edit: put32("ctts", 8, math.MaxUint32), reason: SampleTable},
		{name: "ctts: between pictures", edit: func(m *movie) { m.stbl("ctts").put32(12, m.stbl("ctts").u32(12)+1) }, reason: SampleTable},
		{name: "ctts: ten seconds late", edit: put32("ctts", 12, 300*512), reason: SampleTable},
		{name: "ctts: two pictures at a time", edit: func(m *movie) { m.stbl("ctts").put32(12, m.stbl("ctts").u32(12)+512) }, reason: EditList},
		{name: "ctts: none", edit: func(m *movie) { m.at(stblPath).remove("ctts") }, reason: EditList},
		{name: "ctts: version 2", edit: func(m *movie) { m.stbl("ctts").put(0, 2) }, reason: BoxFields, control: func(m *movie) { m.stbl("ctts").put(0, 1) }},
		{name: "stss: out of order", edit: body("stss", 0, 3, 1, 41, 21), reason: SampleTable},
		{name: "stss: past the end", edit: body("stss", 0, 2, 1, 5000), reason: SampleTable},
		{name: "stss: first is none", edit: body("stss", 0, 1, 21), reason: SampleTable},
		{name: "stss: number 0", edit: body("stss", 0, 2, 0, 1), reason: SampleTable},
		{name: "stss: says key of one that is none", edit: body("stss", 0, 4, 1, 2, 21, 41), reason: SampleTable},
		{name: "stss: 2^31 entries", edit: put32("stss", 4, 1<<31), reason: SampleTable},
		{name: "stsc: none", edit: body("stsc", 0, 0), reason: SampleTable},
		{name: "stsc: empty chunks", edit: body("stsc", 0, 1, 1, 0, 1), reason: SampleTable},
		{name: "stsc: 2^32-1 samples a chunk", edit: body("stsc", 0, 1, 1, math.MaxUint32, 1), reason: SampleTable},
		{name: "stsc: out of order", edit: body("stsc", 0, 2, 2, 1, 1, 1, 1, 1), reason: SampleTable},
		{name: "stsc: first chunk is 2", edit: put32("stsc", 8, 2), reason: SampleTable},
		{name: "stsc: other description", edit: put32("stsc", 16, 2), reason: SampleTable},
		{name: "stsc: too few samples", edit: body("stsc", 0, 1, 1, testFrames-1, 1), reason: SampleTable},
		{name: "stco: 2^31 chunks", edit: put32("stco", 4, 1<<31), reason: SampleTable},
		{name: "stco: samples in the index", edit: func(m *movie) { m.stbl("stco").put32(8, 40) }, reason: MediaLayout},
		{name: "stco: outside of the file", edit: put32("stco", 8, 0x7fffffff), reason: MediaLayout},
		{name: "stco and co64", edit: func(m *movie) { m.at(stblPath).add("co64", words(0, 1, 0, 0)...) }, reason: BoxRepeated},
		{name: "neither stco nor co64", edit: func(m *movie) { m.stbl("stco").body = words(0, 0) }, reason: SampleTable},
		{name: "sample groups", edit: func(m *movie) { m.at(stblPath).add("sgpd", words(0, 0, 0)...) }, reason: BoxUnknown},
		{name: "sample dependencies", edit: func(m *movie) { m.at(stblPath).add("sdtp", make([]byte, 4+testFrames)...) }, reason: BoxUnknown},
		{name: "encryption", edit: func(m *movie) { m.at(stblPath).add("saiz", make([]byte, 9)...) }, reason: BoxUnknown},
		{name: "gap at the front of mdat", edit: func(m *movie) {
			m.at("mdat").body = append([]byte("secret!!"), m.at("mdat").body...)
			m.stbl("stco").put32(8, m.stbl("stco").u32(8)+8)
		}, reason: MediaLayout},
		{name: "gap at the end of mdat", edit: mdat(func(b []byte) []byte { return append(b, "secret"...) }), reason: MediaLayout},
		{name: "mdat too short", edit: mdat(func(b []byte) []byte { return b[:len(b)-1] }), reason: MediaLayout},
		{name: "gap between chunks", edit: func(m *movie) { twoChunks(m, 6, 6) }, reason: MediaLayout, control: func(m *movie) { twoChunks(m, 0, 0) }},
		{name: "chunks overlap", edit: func(m *movie) { twoChunks(m, 0, -1) }, reason: MediaLayout},
		{name: "chunks in another order", edit: func(m *movie) {
			twoChunks(m, 0, 0)
			a, b := m.stbl("stco").u32(8), m.stbl("stco").u32(12)
			m.stbl("stco").put32(8, b)
			m.stbl("stco").put32(12, a)
		}, reason: MediaLayout},
	}
}

// twoChunks puts the samples into two chunks, with bytes between them and the
// second chunk said to be so many bytes later.
func twoChunks(m *movie, gap, late int) {
	list := m.samples()
	first := len(bytes.Join(list[:20], nil))
	media := m.at("mdat")
	media.body = append(append(bytes.Clone(media.body[:first]), make([]byte, gap)...), media.body[first:]...)
	m.stbl("stsc").body = words(0, 2, 1, 20, 1, 2, testFrames-20, 1)
	start := m.stbl("stco").u32(8)
	m.stbl("stco").body = words(0, 2, start, uint32(int(start)+first+late))
}

// entryCases are about the sample description.
func entryCases() []walkCase {
	head := func(at int, b ...byte) func(m *movie) {
		return func(m *movie) { copy(m.at(avc1Path).head[at:], b) }
	}
	set := func(typ string, b ...byte) func(m *movie) {
		return func(m *movie) { m.at(avc1Path + "/" + typ).body = b }
	}
	add := func(typ string, b ...byte) func(m *movie) {
		return func(m *movie) { m.at(avc1Path).add(typ, b...) }
	}
	nclx := func(full byte, codes ...byte) []byte {
		return append([]byte("nclx"), 0, codes[0], 0, codes[1], 0, codes[2], full)
	}
	avcC := func(edit func(b []byte) []byte) func(m *movie) {
		return func(m *movie) { a := m.at(avc1Path + "/avcC"); a.body = edit(a.body) }
	}
	return []walkCase{
		{name: "HEVC", edit: func(m *movie) { m.at(avc1Path).typ = "hvc1" }, reason: Codec},
		{name: "avc3", edit: func(m *movie) { m.at(avc1Path).typ = "avc3" }, reason: Codec},
		{name: "encrypted entry", edit: func(m *movie) { m.at(avc1Path).typ = "encv" }, reason: Codec},
		{name: "two entries", edit: func(m *movie) {
			s := m.stbl("stsd")
			s.head[7] = 2
			s.kids = append(s.kids, s.kids[0])
		}, reason: BoxFields},
		{name: "two entries, said to be one", edit: func(m *movie) { s := m.stbl("stsd"); s.kids = append(s.kids, s.kids[0]) }, reason: BoxSize},
		{name: "no entry", edit: func(m *movie) { m.stbl("stsd").kids = nil }, reason: BoxSize},
		{name: "vendor", edit: head(12, []byte("EVIL")...), reason: BoxFields},
		{name: "other data reference", edit: head(6, 0, 2), reason: BoxFields},
		{name: "entry of 16000x16000", edit: head(24, 0x3e, 0x80, 0x3e, 0x80), reason: FrameSize},
		{name: "300 dpi", edit: head(28, 1, 0x2c), reason: BoxFields},
		{name: "compressor's name is text", edit: head(42, compressorName("secret")...), reason: BoxText, control: head(42, compressorName("Lavc libx264")...)},
		{name: "text behind the compressor's name", edit: head(42+14, []byte("secret")...), reason: BoxText},
		{name: "colour table", edit: head(76, 0, 0), reason: BoxFields},
		{name: "unknown box in the entry", edit: add("uuid", make([]byte, 16)...), reason: BoxUnknown},
		{name: "free in the entry", edit: add("free"), reason: BoxUnknown},
		{name: "text at the entry's end", edit: func(m *movie) { m.at(avc1Path).body = []byte("secret") }, reason: BoxSize},
		{name: "ICC profile", edit: add("colr", []byte("prof....")...), reason: BoxFields, control: add("colr", nclx(0, 1, 1, 1)...)},
		{name: "full range", edit: add("colr", nclx(0x80, 1, 1, 1)...), reason: BoxFields},
		{name: "BT.2020", edit: add("colr", nclx(0, 9, 16, 9)...), reason: BoxFields},
		{name: "wide pixels", edit: set("pasp", words(2, 1)...), reason: BoxFields, control: set("pasp", words(1, 1)...)},
		{name: "two avcC", edit: func(m *movie) { a := m.at(avc1Path); a.kids = append(a.kids, m.at(avc1Path+"/avcC")) }, reason: BoxRepeated},
		{name: "no avcC", edit: func(m *movie) { m.at(avc1Path).remove("avcC") }, reason: BoxMissing},
		{name: "text behind avcC", edit: avcC(func(b []byte) []byte { return append(b, "secret"...) }), reason: ParameterSet},
		{name: "avcC cut short", edit: avcC(func(b []byte) []byte { return b[:len(b)-5] }), reason: ParameterSet},
		{name: "avcC of another profile", edit: avcC(func(b []byte) []byte { b[1] = 110; return b }), reason: ParameterSet},
		{name: "NAL lengths of 2 bytes", edit: avcC(func(b []byte) []byte { b[4] = 0xfd; return b }), reason: ParameterSet},
		{name: "reserved bits of avcC", edit: avcC(func(b []byte) []byte { b[4] = 0x03; return b }), reason: ParameterSet},
		{name: "two SPS", edit: avcC(func(b []byte) []byte { b[5] = 0xe2; return b }), reason: ParameterSet},
		{name: "bytes in the SPS's tail", edit: avcC(func(b []byte) []byte { return longerSPS(b, "secret") }), reason: ParameterSet},
		{name: "bytes in the PPS's tail", edit: avcC(func(b []byte) []byte { return longerPPS(b, "secret") }), reason: ParameterSet},
	}
}

// longerSPS puts text behind the SPS in an avcC record.
func longerSPS(b []byte, text string) []byte {
	n := int(b[6])<<8 | int(b[7])
	out := append(bytes.Clone(b[:8+n]), text...)
	out[7] = byte(n + len(text))
	return append(out, b[8+n:]...)
}

// longerPPS puts text behind the PPS.
func longerPPS(b []byte, text string) []byte {
	at := 8 + int(b[7]) + 1
	n := int(b[at+1])
	out := append(bytes.Clone(b[:at+2+n]), text...)
	out[at+1] = byte(n + len(text))
	return append(out, b[at+2+n:]...)
}

// Films that are whole and well made, but not what was ordered, and files
// that are none.
func TestOtherFilmsAreRefused(t *testing.T) {
	t.Parallel()
	w := testWant()
	other := func(edit func(w *Want)) Want { o := w; edit(&o); return o }
	good, high := goodFilm(t), other(func(w *Want) { w.Height = 96 })
	matroska := func() []byte {
		name := filepath.Join(t.TempDir(), "film.mkv")
		ffmpegRun(t, "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=30", "-frames:v", "45", "-c:v", "libx264", name)
		return readFile(t, name)
	}
	subtitled := func() []byte {
		srt := filepath.Join(t.TempDir(), "s.srt")
		writeFile(t, srt, []byte("1\n00:00:00,000 --> 00:00:01,000\nsecret\n"))
		return remuxed(t, good, "-i", srt, "-map", "0:v", "-map", "1:s", "-c:s", "mov_text")
	}
	for _, c := range []struct {
		name   string
		film   []byte
		want   Want
		reason Reason
	}{
		{"as ordered", good, w, ""},
		{"16000x16000", good, other(func(w *Want) { w.Width, w.Height = 4096, 4096 }), FrameSize},
		{"other size", encodeFilm(t, other(func(w *Want) { w.Width = 320 }), testFrames), w, FrameSize},
		{"other rate", encodeFilm(t, other(func(w *Want) { w.FPS = 25 }), testFrames), w, FrameRate},
		{"1000 frames a second", encodeFilm(t, other(func(w *Want) { w.FPS = 1000 }), 90), w, FrameRate},
		{"too long", encodeFilm(t, w, 91), w, Duration},
		{"as long as allowed", encodeFilm(t, w, 90), w, ""},
		{"too short", good, other(func(w *Want) { w.Seconds = 4 }), Duration},
		{"too many bytes", good, other(func(w *Want) { w.MaxBytes = 4096 }), TooLarge},
		{"empty", nil, w, TooLarge},
		{"Matroska", matroska(), w, BoxSize},
		{"text", []byte("not a film at all"), w, BoxSize},
		{"subtitles", subtitled(), w, Tracks},
		{"sound", remuxed(t, good, "-f", "lavfi", "-i", "sine", "-map", "0:v", "-map", "1:a", "-shortest"), w, Tracks},
		{"two videos", remuxed(t, good, "-map", "0:v", "-map", "0:v"), w, Tracks},
		{"ffmpeg's own tag", encodeFilm(t, w, testFrames, "-fflags", "-bitexact", "-flags:v", "-bitexact"), w, BoxText},
		{"a title", encodeFilm(t, w, testFrames, "-metadata", "title=secret"), w, BoxText},
		{"fragmented", encodeFilm(t, w, testFrames, "-movflags", "frag_keyframe+empty_moov"), w, BoxUnknown},
		{"4:4:4", encodeFilm(t, w, testFrames, "-pix_fmt", "yuv444p"), w, ParameterSet},
		{"10 bits", encodeFilm(t, w, testFrames, "-pix_fmt", "yuv420p10le"), w, ParameterSet},
		{"interlaced", encodeFilm(t, high, testFrames, "-flags:v", "+ildct+bitexact"), high, ParameterSet},
		{"progressive of that size", encodeFilm(t, high, testFrames), high, ""},
		{"full range", encodeFilm(t, w, testFrames, "-color_range", "pc"), w, ParameterSet},
		{"buffering data", encodeFilm(t, w, testFrames, "-x264-params", "nal-hrd=vbr:vbv-maxrate=500:vbv-bufsize=500"), w, ParameterSet},
		{"scaling matrix", encodeFilm(t, w, testFrames, "-x264-params", "cqm=jvt"), w, ParameterSet},
		{"constant rate with filler", encodeFilm(t, w, testFrames, "-x264-params", "nal-hrd=cbr:filler=1:vbv-maxrate=900:vbv-bufsize=900:bitrate=900"), w, ParameterSet},
		{"MPEG-4 video", encodeFilm(t, w, testFrames, "-c:v", "mpeg4"), w, Codec},
		{"image as a film", encodeFilm(t, w, testFrames, "-c:v", "mjpeg"), w, Codec},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := walkBytes(c.film, c.want)
			if got := reasonOf(t, err); got != c.reason {
				t.Errorf("got %q (%v), want %q", got, err, c.reason)
			}
		})
	}
}

// remuxed gives a film as ffmpeg copies it, with other inputs and streams.
func remuxed(t testing.TB, film []byte, args ...string) []byte {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "in.mp4"), filepath.Join(t.TempDir(), "out.mp4")
	writeFile(t, in, film)
	ffmpegRun(t, append(append([]string{"-i", in}, args...), "-c:v", "copy", "-fflags", "+bitexact", "-movflags", "+faststart", out)...)
	return readFile(t, out)
}

// A film that is cut off anywhere is refused.
func TestCutFilmsAreRefused(t *testing.T) {
	good := goodFilm(t)
	for i := range 200 {
		if _, err := walkBytes(good[:len(good)*i/200], testWant()); reasonOf(t, err) == "" {
			t.Errorf("a film cut at %d of 200 parts passes", i)
		}
	}
}

// A number in a file must not make us allocate: what it declares is not there.
func TestDeclaredCountsCostNoMemory(t *testing.T) {
	good := goodFilm(t)
	for _, c := range append(tableCases(), fileCases()...) {
		b := change(t, good, c.edit)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = walkBytes(b, testWant())
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a film of %d", c.name, used, len(b))
		}
	}
}

// The tree of boxes must stay flat enough for a reader that calls itself.
func TestTreeIsAtMostEightDeep(t *testing.T) {
	var depth func(nodes []node) int
	depth = func(nodes []node) int {
		d := 0
		for _, n := range nodes {
			d = max(d, 1+depth(n.inner))
		}
		return d
	}
	// Below stsd, which its own reader enters, are avc1 and its boxes; above
	// the tree is moov.
	if d := 1 + depth((&index{}).movie()) + 2; d > 8 {
		t.Errorf("boxes are %d deep", d)
	}
}
