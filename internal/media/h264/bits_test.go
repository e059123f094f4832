package h264

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// zeroRich draws bytes in which start codes and escapes are frequent.
var zeroRich = rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]byte{0, 0, 0, 1, 2, 3, 4}), rapid.Byte()), 0, 200)

func TestEscapeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rbsp := zeroRich.Draw(t, "rbsp")
		nal := Escape(nil, rbsp)
		if got := Unescape(nil, nal); !bytes.Equal(got, rbsp) {
			t.Fatalf("%x came back as %x through %x", rbsp, got, nal)
		}
		for _, banned := range [][]byte{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}} {
			if bytes.Contains(nal, banned) {
				t.Fatalf("%x was escaped to %x", rbsp, nal)
			}
		}
	})
}

func TestExpGolombRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type value struct {
			kind int
			v    int64
		}
		w := &bitWriter{}
		var want []value
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			x := value{kind: rapid.IntRange(0, 2).Draw(t, "kind")}
			switch x.kind {
			case 0:
				x.v = int64(rapid.Uint32Range(0, 1<<32-2).Draw(t, "ue"))
				w.ue(uint32(x.v))
			case 1:
				x.v = int64(rapid.Int32Range(-1<<30, 1<<30).Draw(t, "se"))
				w.se(int32(x.v))
			default:
				x.v = int64(rapid.Uint32().Draw(t, "u"))
				w.u(uint32(x.v), 32)
			}
			want = append(want, x)
		}
		w.trailing()
		r := &bitReader{data: w.data}
		var got []value
		for _, x := range want {
			switch x.kind {
			case 0:
				x.v = int64(r.ue())
			case 1:
				x.v = int64(r.se())
			default:
				x.v = int64(r.u(32))
			}
			got = append(got, x)
		}
		if r.failed || r.moreData() || r.pos != lastOne(w.data) {
			t.Fatalf("stopped at bit %d of %d", r.pos, lastOne(w.data))
		}
		if want[0] != got[0] || len(want) != len(got) {
			t.Fatalf("%v came back as %v", want, got)
		}
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("%v came back as %v", want, got)
			}
		}
	})
}

// copyBits has a fast way for whole bytes; it must agree with single bits.
func TestCopyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")
		from := rapid.IntRange(0, len(data)*8).Draw(t, "from")
		to := rapid.IntRange(from, len(data)*8).Draw(t, "to")
		lead := rapid.IntRange(0, 9).Draw(t, "lead")
		fast, slow := &bitWriter{}, &bitWriter{}
		fast.u(1, lead)
		slow.u(1, lead)
		fast.copyBits(data, from, to)
		for i := from; i < to; i++ {
			slow.bit(uint32(data[i>>3] >> (7 - i&7)))
		}
		if !bytes.Equal(fast.data, slow.data) || fast.pos() != slow.pos() {
			t.Fatalf("bits %d to %d of %x after %d: %x, want %x", from, to, data, lead, fast.data, slow.data)
		}
	})
}

// Formats must turn into each other without loss, also with trailing zeros
// between units and 3-byte start codes.
func TestAnnexB(t *testing.T) {
	stream := []byte{9, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2, 0, 0, 0, 0, 0, 1, 0x65, 0, 0, 3, 1}
	au := AnnexBToAVCC(nil, stream)
	want := []byte{0, 0, 0, 2, 0x67, 1, 0, 0, 0, 2, 0x68, 2, 0, 0, 0, 5, 0x65, 0, 0, 3, 1}
	if diff := cmp.Diff(want, au); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	back, err := AVCCToAnnexB(nil, au)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, AnnexBToAVCC(nil, back)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !IsKey(au) || IsKey(au[:12]) {
		t.Error("IsKey is wrong")
	}
}
