package pixel

import (
	"image"
	"testing"
)

// Each figure is one whole 1080p frame. "changed" writes every sample,
// "equal" finds that nothing changed.
func BenchmarkConvert1080p(b *testing.B) {
	const w, h = 1920, 1080
	kernels := map[string]bool{"go": false}
	if hasSIMD() {
		kernels["simd"] = true
	}
	for name, simd := range kernels {
		b.Run("bgrx/changed/"+name, func(b *testing.B) { run(b, w, h, BGRX, simd, true) })
		b.Run("bgrx/equal/"+name, func(b *testing.B) { run(b, w, h, BGRX, simd, false) })
		b.Run("rgb565/"+name, func(b *testing.B) { run(b, w, h, RGB565, simd, true) })
		b.Run("x2r10g10b10/"+name, func(b *testing.B) { run(b, w, h, X2R10G10B10, simd, true) })
	}
}

// A typed glyph: the smallest usual damage.
func BenchmarkConvertGlyph(b *testing.B) {
	run(b, 12, 20, BGRX, hasSIMD(), true)
}

func run(b *testing.B, w, h int, format Format, simd, change bool) {
	f := newFrame(b, w, h)
	sources := [2][]byte{noise(1, w*h*4), noise(2, w*h*4)}
	b.SetBytes(int64(w * h * format.BytesPerPixel()))
	i := 0
	for b.Loop() {
		if change {
			i ^= 1
		}
		if _, err := convert(f, image.Rect(0, 0, w, h), sources[i], w*format.BytesPerPixel(), format, simd); err != nil {
			b.Fatal(err)
		}
	}
}
