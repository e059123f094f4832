package exit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/media/h264"
)

// sei makes an SEI NAL unit of one unregistered message under a UUID.
func sei(uuid [16]byte, text string, tail ...byte) []byte {
	payload := append(uuid[:], text...)
	b := []byte{6, 5}
	n := len(payload)
	for ; n >= 255; n -= 255 {
		b = append(b, 255)
	}
	b = append(append(append(b, byte(n)), payload...), 0x80)
	return h264.Escape(nil, append(b, tail...))
}

func x264UUID() [16]byte {
	return [16]byte{0xdc, 0x45, 0xe9, 0xbd, 0xe6, 0xd9, 0x48, 0xb7, 0x96, 0x2c, 0xd8, 0x20, 0xd9, 0x23, 0xee, 0xef}
}

// Each case changes the NAL units of one sample: 0 is a key, 1 is none.
func TestHostileUnitsAreRefused(t *testing.T) {
	w := testWant()
	good := encodeFilm(t, w, testFrames, "-x264-params", "slices=2:aud=1")
	f, err := walkBytes(good, w)
	check(t, err)
	before := func(nal ...byte) func(u [][]byte) [][]byte {
		return func(u [][]byte) [][]byte { return slices.Insert(u, 1, nal) } // behind the delimiter
	}
	behind := func(nal ...byte) func(u [][]byte) [][]byte {
		return func(u [][]byte) [][]byte { return append(u, nal) }
	}
	lastSlice := func(edit func(nal []byte) []byte) func(u [][]byte) [][]byte {
		return func(u [][]byte) [][]byte { u[len(u)-1] = edit(u[len(u)-1]); return u }
	}
	x264 := sei(x264UUID(), "x264 - hello")
	for _, c := range []struct {
		name   string
		sample int
		edit   func(u [][]byte) [][]byte
		reason Reason
	}{
		{"nothing", 1, func(u [][]byte) [][]byte { return u }, ""},
		{"filler", 1, behind(12, 0xff, 0xff, 0x80), NALType},
		{"filler before the slices", 1, before(12, 0xff, 0x80), NALType},
		{"end of sequence", 1, behind(10, 0x80), NALType},
		{"end of stream", 1, behind(11, 0x80), NALType},
		{"data partition", 1, behind(2, 0x80, 0x80), NALType},
		{"SPS extension", 0, before(13, 0x80, 0x80), NALType},
		{"prefix", 1, before(14, 0x80, 0x80), NALType},
		{"subset SPS", 0, before(15, 0x80, 0x80), NALType},
		{"auxiliary picture", 1, behind(19, 0x80, 0x80), NALType},
		{"slice extension", 1, behind(20, 0x80, 0x80), NALType},
		{"unspecified type 24", 1, behind(24, 'h', 'i'), NALType},
		{"unspecified type 31", 1, behind(31, 'h', 'i'), NALType},
		{"type 0", 1, behind(0, 'h', 'i'), NALType},
		{"forbidden bit", 1, behind(0x81, 'h', 'i'), NALUnit},
		{"one byte", 1, behind(1), NALUnit},
		{"delimiter with text", 1, func(u [][]byte) [][]byte { u[0] = append(u[0], "hi"...); return u }, NALUnit},
		{"two delimiters", 1, func(u [][]byte) [][]byte { return slices.Insert(u, 0, u[0]) }, NALUnit},
		{"delimiter behind a slice", 1, func(u [][]byte) [][]byte { return append(u, u[0]) }, NALUnit},
		{"no slice", 1, func(u [][]byte) [][]byte { return u[:1] }, NALUnit},
		{"the film's own SPS", 0, before(f.sets.nalSPS...), ""},
		{"another SPS", 0, before(append(bytes.Clone(f.sets.nalSPS), 1)...), ParameterSet},
		{"another PPS", 0, before(append(bytes.Clone(f.sets.nalPPS), 1)...), ParameterSet},
		{"SPS twice", 0, func(u [][]byte) [][]byte { return slices.Insert(u, 1, f.sets.nalSPS, f.sets.nalSPS) }, ParameterSet},
		{"SPS behind a slice", 0, behind(f.sets.nalSPS...), ParameterSet},
		{"x264's message twice", 0, before(x264...), ""},
		{"x264's message three times", 0, func(u [][]byte) [][]byte { return slices.Insert(u, 1, x264, x264) }, UserData},
		{"x264's message behind a slice", 0, behind(x264...), UserData},
		{"x264's message in another picture", 1, before(x264...), UserData},
		{"a message under another UUID", 0, replaceSEI(sei([16]byte{1}, "hello")), UserData},
		{"x264's message", 0, replaceSEI(x264), ""},
		{"x264's message, long", 0, replaceSEI(sei(x264UUID(), strings.Repeat("x", 3000))), ""},
		{"x264's message, too long", 0, replaceSEI(sei(x264UUID(), strings.Repeat("x", 5000))), UserData},
		{"text behind x264's message", 0, replaceSEI(sei(x264UUID(), "x", 'h', 'i')), UserData},
		{"captions", 0, replaceSEI([]byte{6, 4, 3, 0xb5, 0, 0x31, 0x80}), UserData},
		{"a message that is longer than its unit", 0, replaceSEI([]byte{6, 5, 0xff, 0xff, 0xff, 1, 2, 3}), UserData},
		{"start code in a slice", 1, lastSlice(func(n []byte) []byte { return append(n, 0, 0, 1, 0x65, 0x88) }), NALUnit},
		{"three zeros in a slice", 1, lastSlice(func(n []byte) []byte { return append(n, 0, 0, 0, 0x80) }), NALUnit},
		{"needless escape in a slice", 1, lastSlice(func(n []byte) []byte { return append(n, 0, 0, 3, 0x80) }), NALUnit},
		{"zeros behind a slice", 1, lastSlice(func(n []byte) []byte { return append(n, 0, 0) }), NALUnit},
		{"a few cabac_zero_words", 1, lastSlice(func(n []byte) []byte { return append(n, bytes.Repeat([]byte{0, 0, 3}, 4)...) }), ""},
		{"many cabac_zero_words", 1, lastSlice(func(n []byte) []byte { return append(n, bytes.Repeat([]byte{0, 0, 3}, 1000)...) }), NALUnit},
		{"first slice missing", 1, func(u [][]byte) [][]byte { return append(u[:1:1], u[2:]...) }, Slice},
		{"a slice twice", 1, func(u [][]byte) [][]byte { return append(u, u[len(u)-1]) }, Slice},
		{"slices in another order", 1, func(u [][]byte) [][]byte { slices.Reverse(u[1:]); return u }, Slice},
		{"the picture twice", 1, func(u [][]byte) [][]byte { return append(u, u[1:]...) }, Slice},
		{"a slice of nothing", 1, behind(1, 0x80), Slice},
		{"200 slices", 1, func(u [][]byte) [][]byte {
			for range 200 {
				u = append(u, u[len(u)-1])
			}
			return u
		}, Slice},
		{"IDR slice in a picture that is none", 1, behind(0x65, 0x88, 0x84), SampleTable},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := walkBytes(changeUnits(t, good, c.sample, c.edit), w)
			if got := reasonOf(t, err); got != c.reason {
				t.Errorf("got %q (%v), want %q", got, err, c.reason)
			}
		})
	}
}

// replaceSEI puts another message in the place of x264's.
func replaceSEI(nal []byte) func(u [][]byte) [][]byte {
	return func(u [][]byte) [][]byte {
		for i := range u {
			if h264.Type(u[i]) == h264.TypeSEI {
				u[i] = nal
				return u
			}
		}
		return slices.Insert(u, 1, nal)
	}
}

// NAL lengths that don't tile a sample.
func TestHostileLengthsAreRefused(t *testing.T) {
	good := goodFilm(t)
	for name, edit := range map[string]func(s []byte) []byte{
		"bytes behind the last unit": func(s []byte) []byte { return append(s, 'h', 'i', '!') },
		"a length behind the last":   func(s []byte) []byte { return append(s, 0, 0, 0, 0) },
		"length 0":                   func(s []byte) []byte { copy(s, []byte{0, 0, 0, 0}); return s },
		"length of all ones":         func(s []byte) []byte { copy(s, []byte{255, 255, 255, 255}); return s },
		"one too long":               func(s []byte) []byte { s[3]++; return s },
		"one too short":              func(s []byte) []byte { s[3]--; return s },
	} {
		t.Run(name, func(t *testing.T) {
			m := parseMovie(t, good)
			list := m.samples()
			list[3] = edit(bytes.Clone(list[3]))
			m.setSamples(list)
			_, err := walkBytes(m.bytes(), testWant())
			if got := reasonOf(t, err); got != NALUnit {
				t.Errorf("got %q (%v)", got, err)
			}
		})
	}
}

// Every bit of a parameter set is either read and judged, or a flag with both
// values allowed: flipping one never goes unseen and is never a panic.
func TestParameterSetsWithFlippedBits(t *testing.T) {
	w := testWant()
	f, err := walkBytes(goodFilm(t), w)
	check(t, err)
	if !checkSPS(f.sets.nalSPS, w) || !checkPPS(f.sets.nalPPS) {
		t.Fatal("the parameter sets of a good film are refused")
	}
	flips := func(nal []byte, ok func(b []byte) bool) (passed int) {
		for bit := range len(nal) * 8 {
			b := bytes.Clone(nal)
			b[bit/8] ^= 0x80 >> (bit % 8)
			if ok(b) {
				passed++
			}
		}
		return passed
	}
	sps := flips(f.sets.nalSPS, func(b []byte) bool { return checkSPS(b, w) })
	pps := flips(f.sets.nalPPS, checkPPS)
	// x264's SPS has some 200 bits. Those that may differ: constraint flags,
	// a level, inferences, numbers within their range.
	if sps > 40 || pps > 16 {
		t.Errorf("%d of %d flipped bits of the SPS pass, %d of %d of the PPS", sps, 8*len(f.sets.nalSPS), pps, 8*len(f.sets.nalPPS))
	}
}
