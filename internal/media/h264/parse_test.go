package h264

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSPS(t *testing.T) {
	s := encode(t, "testsrc2=s=1920x1080:r=30", "1", "sliced-threads=1:colorprim=bt709:transfer=bt709:colormatrix=bt709:fullrange=off")
	got, err := ParseSPS(s.sps)
	if err != nil {
		t.Fatal(err)
	}
	want := SPS{
		Profile: 100, Level: 40, ChromaFormat: 1, BitDepthLuma: 8, BitDepthChroma: 8,
		FrameNumBits: 4, POCType: 2, MaxNumRefFrames: 1, WidthMbs: 120, HeightMbs: 68, Width: 1920, Height: 1080,
		Colour:         Colour{Present: true, Primaries: 1, Transfer: 1, Matrix: 1},
		NumUnitsInTick: 1, TimeScale: 60,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := got.CodecString(); c != "avc1.640028" {
		t.Errorf("codec %s", c)
	}
}

func TestConfigRoundTrip(t *testing.T) {
	s := encode(t, "testsrc2=s=320x180:r=30", "1", "sliced-threads=1")
	want := Config{SPS: s.sps, PPS: s.pps}
	b, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseConfig(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n := range len(b) - 4 { // the last four bytes are optional to readers
		if _, err := ParseConfig(b[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were taken", n, len(b))
		}
	}
}

// Cut parameter sets must be errors, not sets full of zeros.
func TestCutParameterSets(t *testing.T) {
	s := encode(t, "testsrc2=s=320x180:r=30", "1", "sliced-threads=1")
	for n := range len(s.sps) - 6 { // after which only what readVUI leaves aside
		if _, err := ParseSPS(s.sps[:n]); err == nil {
			t.Errorf("%d bytes of an SPS of %d were taken", n, len(s.sps))
		}
	}
	for n := range len(s.pps) - 2 {
		if _, err := ParsePPS(s.pps[:n]); err == nil {
			t.Errorf("%d bytes of a PPS of %d were taken", n, len(s.pps))
		}
	}
}

// seedSPS and seedPPS are what libx264 writes for 320x180, CABAC.
var (
	seedSPS = []byte{
		0x67, 0x64, 0x00, 0x0d, 0xac, 0xb4, 0x0a, 0x0c, 0xfc, 0xf8, 0x08, 0x80,
		0x00, 0x00, 0x03, 0x00, 0x80, 0x00, 0x00, 0x1e, 0x07, 0x8a, 0x15, 0x50,
	}
	seedPPS = []byte{0x68, 0xee, 0x03, 0xbc, 0xb0}
)

// Bytes from disk must never panic, and errors must be of this package's types.
func FuzzParse(f *testing.F) {
	f.Add(seedSPS, seedPPS, []byte{0x65, 0x88, 0x84, 0x00, 0x10})
	f.Add(seedSPS, seedPPS, []byte{0x41, 0x9a, 0x22, 0x3b, 0xff, 0x66})
	f.Fuzz(func(t *testing.T, spsNAL, ppsNAL, nal []byte) {
		typed := func(err error) bool {
			var syntax *SyntaxError
			var unsupported *UnsupportedError
			return errors.As(err, &syntax) || errors.As(err, &unsupported)
		}
		if _, err := ParseConfig(nal); err != nil && !typed(err) {
			t.Fatal(err)
		}
		sps, err := ParseSPS(spsNAL)
		if err != nil {
			if !typed(err) {
				t.Fatal(err)
			}
			return
		}
		pps, err := ParsePPS(ppsNAL)
		if err != nil {
			if !typed(err) {
				t.Fatal(err)
			}
			return
		}
		if h, err := ParseSliceHeader(nal, &sps, &pps); err != nil {
			if !typed(err) {
				t.Fatal(err)
			}
		} else if h.End > len(nal)*8 {
			t.Fatalf("header of %d bits in %d bytes", h.End, len(nal))
		}
	})
}

// A hostile stream must not panic the Sequencer, and a refused access unit
// must leave no bytes behind.
func FuzzSequencer(f *testing.F) {
	idr := AppendAVCC(nil, []byte{0x65, 0x88, 0x84, 0x00, 0x10, 0xff, 0x80})
	f.Add(seedSPS, seedPPS, idr, AppendAVCC(nil, []byte{0x41, 0x9a, 0x22, 0x3b, 0xff, 0x66, 0x80}))
	f.Fuzz(func(t *testing.T, sps, pps, first, second []byte) {
		q, err := NewSequencer(sps, pps)
		if err != nil {
			return
		}
		dst := []byte("x")
		for _, au := range [][]byte{first, second, first} {
			n := len(dst)
			if dst, err = q.Picture(au, dst); err != nil && len(dst) != n {
				t.Fatal("bytes of a refused access unit")
			}
			if q.Still() {
				if dst, err = q.IDR(au, dst); err != nil {
					continue
				}
			}
			if dst, err = q.Repeat(dst); err != nil && !errors.Is(err, ErrNoPicture) {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(dst, []byte("x")) {
			t.Fatal("dst was not appended to")
		}
	})
}
