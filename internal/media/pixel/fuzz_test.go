package pixel

import (
	"bytes"
	"image"
	"testing"
)

// FuzzConvertSIMDEqualsGo holds the assembly to the plain code on any pixels,
// rectangle and format, with what both report as changed. Bytes around the
// planes and the source are watched for stray writes by equality of the frames.
func FuzzConvertSIMDEqualsGo(f *testing.F) {
	f.Add([]byte{0}, uint16(64), uint16(4), uint16(0), uint16(0), uint16(64), uint16(4), uint8(0))
	f.Add([]byte{255, 0, 1}, uint16(67), uint16(5), uint16(2), uint16(2), uint16(65), uint16(3), uint8(0))
	f.Add([]byte{9, 8, 7, 6, 5}, uint16(301), uint16(7), uint16(100), uint16(4), uint16(170), uint16(2), uint8(1))
	f.Add([]byte{3, 200, 90, 255, 255, 17}, uint16(300), uint16(20), uint16(10), uint16(1), uint16(33), uint16(9), uint8(2))
	f.Fuzz(func(t *testing.T, seed []byte, w, h, x, y, rw, rh uint16, form uint8) {
		if !hasSIMD() {
			t.Skip("this processor has the plain conversion alone")
		}
		width, height := int(w%400)+1, int(h%40)+1
		format := Format(form % 3)
		a, b := newFrame(t, width, height), newFrame(t, width, height)
		old := noise(uint64(len(seed))+uint64(x), len(a.Data))
		copy(a.Data, old)
		copy(b.Data, old)

		x0, y0 := int(x)%width, int(y)%height
		r := Align(image.Rect(x0, y0, x0+1+int(rw)%400, y0+1+int(rh)%40), a.Bounds())
		stride := r.Dx() * format.BytesPerPixel()
		src := noise(uint64(rw)<<16|uint64(rh), stride*r.Dy())
		for i := range src {
			if len(seed) > 0 {
				src[i] ^= seed[i%len(seed)]
			}
		}
		for pass := range 2 { // the second pass must report nothing
			changedA, errA := convert(a, r, src, stride, format, false)
			changedB, errB := convert(b, r, src, stride, format, true)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if !bytes.Equal(a.Data, b.Data) {
				t.Fatalf("%v in %dx%d %v: planes differ", r, width, height, format)
			}
			if changedA != changedB || pass == 1 && !changedA.Empty() {
				t.Fatalf("%v pass %d: changed %v (go), %v (simd)", r, pass, changedA, changedB)
			}
		}
		assertOutsideUntouched(t, a, old, r)
	})
}

// assertOutsideUntouched checks that only the samples of r (and its padding)
// differ from old.
func assertOutsideUntouched(t *testing.T, f *Frame, old []byte, r image.Rectangle) {
	t.Helper()
	covered := image.Rect(r.Min.X, r.Min.Y, (r.Max.X+1)&^1, (r.Max.Y+1)&^1)
	half := image.Rect(covered.Min.X/2, covered.Min.Y/2, covered.Max.X/2, covered.Max.Y/2)
	plane := func(name string, data, before []byte, width int, inside image.Rectangle) {
		for i := range data {
			if data[i] != before[i] && !image.Pt(i%width, i/width).In(inside) {
				t.Fatalf("%s: sample %d,%d outside %v was written", name, i%width, i/width, inside)
			}
		}
	}
	n, c := len(f.Y), len(f.U)
	plane("Y", f.Y, old[:n], f.Width, covered)
	plane("U", f.U, old[n:n+c], f.Width/2, half)
	plane("V", f.V, old[n+c:], f.Width/2, half)
}
