package exit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// canary is what a hijacked agent wants to bring out.
const canary = "CANARY-7f3a91"

// Wherever it is planted, it does not leave: the file is refused, or what is
// published does not hold it. Both modes; each with a film that has none.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	good := goodFilm(t)
	poster := goodPoster(t, 160, 90)
	in := func(edit func(m *movie)) []byte { return change(t, good, edit) }
	unit := func(sample int, edit func(u [][]byte) [][]byte) []byte { return changeUnits(t, good, sample, edit) }
	text := []byte(canary)
	jpegWith := func(marker byte) []byte { return behindSOI(poster, segment(marker, text)) }
	for _, c := range []struct {
		name   string
		film   []byte
		poster []byte
		passes bool // and then without the canary
	}{
		{"nowhere", good, poster, true},
		{"behind the film", append(bytes.Clone(good), text...), poster, false},
		{"free", in(func(m *movie) { m.insertTop(1, &atom{typ: "free", body: text}) }), poster, false},
		{"skip", in(func(m *movie) { m.insertTop(1, &atom{typ: "skip", body: text}) }), poster, false},
		{"uuid", in(func(m *movie) { m.insertTop(1, &atom{typ: "uuid", body: append(make([]byte, 16), text...)}) }), poster, false},
		{"udta", in(func(m *movie) { m.at("moov/udta").body = box("\xa9nam", text) }), poster, false},
		{"meta", in(func(m *movie) { m.at("moov").add("meta", text...) }), poster, false},
		{"ftyp", in(func(m *movie) { m.at("ftyp").body = append(m.at("ftyp").body, text[:12]...) }), poster, false},
		{"second mdat", in(func(m *movie) { m.insertTop(3, &atom{typ: "mdat", body: text}) }), poster, false},
		{"gap at the front of mdat", in(func(m *movie) {
			m.at("mdat").body = append(bytes.Clone(text), m.at("mdat").body...)
			m.stbl("stco").put32(8, m.stbl("stco").u32(8)+uint32(len(text)))
		}), poster, false},
		{"gap at the end of mdat", in(func(m *movie) { m.at("mdat").body = append(m.at("mdat").body, text...) }), poster, false},
		{"handler's name", in(func(m *movie) {
			a := m.at("moov/trak/mdia/hdlr")
			a.body = append(append(a.body[:24:24], text...), 0)
		}), poster, false},
		{"compressor's name", in(func(m *movie) { copy(m.at(avc1Path).head[42:], compressorName(canary)) }), poster, false},
		{"vendor", in(func(m *movie) { copy(m.at(avc1Path).head[8:24], text) }), poster, false},
		{"reserved bytes of mvhd", in(func(m *movie) { m.at("moov/mvhd").put(72, text...) }), poster, false},
		{"URL", in(func(m *movie) {
			m.at("moov/trak/mdia/minf/dinf/dref").body = append(words(0, 1), full("url ", 0, 0, text, []byte{0})...)
		}), poster, false},
		{"times of creation", in(func(m *movie) {
			for _, path := range []string{"moov/mvhd", "moov/trak/tkhd", "moov/trak/mdia/mdhd"} {
				a := m.at(path)
				// Version 1: 64 bits for each of the two times, and the length.
				b := append(words(1<<24|a.u32(0)&0xffffff), text...)
				b = append(b, "xyz"...)
				switch path {
				case "moov/trak/tkhd":
					b = append(append(b, a.body[12:20]...), 0, 0, 0, 0)
					b = append(b, a.body[20:]...)
				default:
					b = append(append(b, a.body[12:16]...), 0, 0, 0, 0)
					b = append(b, a.body[16:]...)
				}
				a.body = b
			}
		}), poster, true},
		{"bitrates", in(func(m *movie) {
			m.at(avc1Path).remove("btrt")
			m.at(avc1Path).add("btrt", text[:12]...)
		}), poster, true},
		{"avcC", in(func(m *movie) { a := m.at(avc1Path + "/avcC"); a.body = append(a.body, text...) }), poster, false},
		{"behind the SPS", in(func(m *movie) { a := m.at(avc1Path + "/avcC"); a.body = longerSPS(a.body, canary) }), poster, false},
		{"behind the PPS", in(func(m *movie) { a := m.at(avc1Path + "/avcC"); a.body = longerPPS(a.body, canary) }), poster, false},
		{"x264's message", unit(0, replaceSEI(sei(x264UUID(), canary))), poster, true},
		{"another message", unit(0, replaceSEI(sei([16]byte([]byte(canary+"xyz")), canary))), poster, false},
		{"filler", unit(1, func(u [][]byte) [][]byte { return append(u, append([]byte{12}, canary+"\x80"...)) }), poster, false},
		{"unspecified unit", unit(1, func(u [][]byte) [][]byte { return append(u, append([]byte{30}, canary...)) }), poster, false},
		{"delimiter", unit(1, func(u [][]byte) [][]byte { return slices.Insert(u, 0, append([]byte{9, 0x10}, canary...)) }), poster, false},
		{"start code behind a slice", unit(1, func(u [][]byte) [][]byte {
			u[len(u)-1] = append(u[len(u)-1], "\x00\x00\x01\x06"+canary...)
			return u
		}), poster, false},
		{"bytes behind the units of a sample", func() []byte {
			m := parseMovie(t, good)
			list := m.samples()
			list[2] = append(list[2], text...)
			m.setSamples(list)
			return m.bytes()
		}(), poster, false},
		{"JPEG comment", good, jpegWith(0xfe), false},
		{"JPEG APP1", good, jpegWith(0xe1), false},
		{"JPEG APP13", good, jpegWith(0xed), false},
		{"behind the JPEG", good, append(bytes.Clone(poster), text...), false},
		{"JFIF densities", good, behindSOI(poster, segment(0xe0, []byte("JFIF\x00\x01\x01\x00"+canary[:4]+"\x00\x00"))), true},
		{"end of the JPEG's scan", good, append(append(bytes.Clone(poster[:len(poster)-2]), text...), 0xff, 0xd9), true},
	} {
		for _, mode := range Modes() {
			t.Run(c.name+", "+string(mode), func(t *testing.T) {
				cfg, _ := config(t, c.film, c.poster)
				cfg.Mode = mode
				p, err := Leave(t.Context(), cfg)
				// The author's poster is not even read when encoding afresh.
				passes := c.passes || mode == Reencode && !bytes.Equal(c.poster, poster)
				if (err == nil) != passes {
					t.Fatalf("got %v; it was to pass: %t", err, passes)
				}
				if err != nil {
					reasonOf(t, err)
					return
				}
				for _, f := range []File{p.Film, p.Poster} {
					for _, part := range []string{canary, canary[:12], canary[:8], canary[:4]} {
						if bytes.Contains(readFile(t, f.Path), []byte(part)) {
							t.Errorf("%q is in %s", part, f.Path)
						}
					}
				}
			})
		}
	}
}

// Bits that a decoder passes over inside of a slice can't be told from
// picture data without decoding it. Both modes publish such a film: encoding
// afresh ends them, a remux lets them out, as its documentation says.
func TestSlackOfASlice(t *testing.T) {
	film := changeUnits(t, goodFilm(t), 1, func(u [][]byte) [][]byte {
		u[len(u)-1] = append(u[len(u)-1], canary...)
		return u
	})
	for mode, leaves := range map[Mode]bool{Reencode: false, Remux: true} {
		cfg, _ := config(t, film, nil)
		cfg.Mode = mode
		p, err := Leave(t.Context(), cfg)
		if err != nil {
			t.Errorf("%s: the film with slack is not published: %v", mode, err)
			continue
		}
		if got := bytes.Contains(readFile(t, p.Film.Path), []byte(canary)); got != leaves {
			t.Errorf("%s: leaves: %t, want %t", mode, got, leaves)
		}
	}
}

// Of a film that leaves by default, no NAL unit is one of the author's.
func TestNoUnitOfTheAuthorsLeaves(t *testing.T) {
	good := goodFilm(t)
	cfg, _ := config(t, good, nil)
	p, err := Leave(t.Context(), cfg)
	check(t, err)
	units := func(b []byte) map[string]bool {
		f, err := walkBytes(b, cfg.Want)
		check(t, err)
		all := map[string]bool{string(f.sets.nalSPS): false}
		check(t, f.pictures(bytes.NewReader(b), func(_ int, s [][]byte) error {
			for _, nal := range s {
				all[string(nal)] = true
			}
			return nil
		}))
		return all
	}
	theirs := units(good)
	for nal := range units(readFile(t, p.Film.Path)) {
		// A few bytes are all that a still picture takes: equal ones say nothing.
		if theirs[nal] && len(nal) > 16 {
			t.Errorf("a unit of %d bytes is the author's", len(nal))
		}
	}
}

// The whole of what leaves can be told from a few numbers: every byte before
// the media follows from them.
func TestIndexFollowsFromNumbers(t *testing.T) {
	w := testWant()
	a := rewriteBytes(t, goodFilm(t), w)
	if n := binary.BigEndian.Uint32(a); n != 32 {
		t.Fatalf("ftyp of %d bytes", n)
	}
	f, err := walkBytes(a, w)
	check(t, err)
	var sizes []uint32
	total := uint64(0)
	for _, s := range f.samples {
		sizes = append(sizes, uint32(s.size))
		total += uint64(s.size)
	}
	if head := f.head(sizes, total); !bytes.Equal(head, a[:len(head)]) || len(head)+int(total) != len(a) {
		t.Error("the index holds more than follows from sizes, order and keys")
	}
	for _, word := range []string{"Lav", "x264", "Video", "Proofreel"} {
		if strings.Contains(string(a), word) {
			t.Errorf("%q is in a rewritten film", word)
		}
	}
	if err := errors.Join(unitTypes(a, f)...); err != nil {
		t.Error(err)
	}
}

func unitTypes(b []byte, f *film) (errs []error) {
	for _, s := range f.samples {
		for nal, err := range h264.SplitAVCC(b[s.offset : s.offset+s.size]) {
			if err != nil || h264.Type(nal) != h264.TypeSlice && h264.Type(nal) != h264.TypeIDR {
				errs = append(errs, errors.New("a unit that is no slice"))
			}
		}
	}
	return errs
}
