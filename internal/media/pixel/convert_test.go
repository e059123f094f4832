package pixel

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newFrame(t testing.TB, w, h int) *Frame {
	t.Helper()
	f, err := NewFrame(w, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// both runs a test with the plain and, where there is one, the SIMD kernel.
func both(t *testing.T, f func(t *testing.T, simd bool)) {
	t.Run("go", func(t *testing.T) { f(t, false) })
	if hasSIMD() {
		t.Run("simd", func(t *testing.T) { f(t, true) })
	}
}

// Guards the coefficients: tinted greys, clipped white, swapped channels.
func TestConvertKnownColours(t *testing.T) {
	type sample struct{ Y, U, V byte }
	tests := map[string]struct {
		r, g, b byte
		want    sample
	}{
		"black":   {0, 0, 0, sample{16, 128, 128}},
		"white":   {255, 255, 255, sample{235, 128, 128}},
		"grey":    {128, 128, 128, sample{126, 128, 128}},
		"red":     {255, 0, 0, sample{63, 102, 240}},
		"green":   {0, 255, 0, sample{173, 42, 26}},
		"blue":    {0, 0, 255, sample{32, 240, 118}},
		"yellow":  {255, 255, 0, sample{219, 16, 138}},
		"magenta": {255, 0, 255, sample{78, 214, 230}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, simd bool) {
				f := newFrame(t, 64, 2)
				src := bytes.Repeat([]byte{tc.b, tc.g, tc.r, 0xa5}, 64*2)
				if _, err := convert(f, f.Bounds(), src, 64*4, BGRX, simd); err != nil {
					t.Fatal(err)
				}
				for x := range 64 {
					if got := (sample{f.Y[64+x], f.U[x/2], f.V[x/2]}); got != tc.want {
						t.Fatalf("column %d: %v, want %v", x, got, tc.want)
					}
				}
			})
		})
	}
}

// Guards every grey level: a cast would show on the plain parts of any page.
func TestConvertGreysHaveNoColour(t *testing.T) {
	both(t, func(t *testing.T, simd bool) {
		for level := range 256 {
			f := newFrame(t, 34, 2)
			if _, err := convert(f, f.Bounds(), bytes.Repeat([]byte{byte(level)}, 34*2*4), 34*4, BGRX, simd); err != nil {
				t.Fatal(err)
			}
			if f.U[0] != 128 || f.V[0] != 128 || f.U[16] != 128 || f.V[16] != 128 {
				t.Fatalf("level %d: U %d V %d", level, f.U[0], f.V[0])
			}
		}
	})
}

// Guards the integer arithmetic as a whole against the standard's real numbers.
func TestConvertIsWithinOneRoundingOfTheStandard(t *testing.T) {
	const w, h = 128, 64
	src := noise(7, w*h*4)
	f := newFrame(t, w, h)
	if _, err := Convert(f, f.Bounds(), src, w*4, BGRX); err != nil {
		t.Fatal(err)
	}
	const kr, kb = 0.2126, 0.0722
	near := func(name string, got byte, want float64) {
		if math.Abs(float64(got)-want) > 0.52 { // 0.5 is rounding, the rest Q15
			t.Fatalf("%s: %d, want %.3f", name, got, want)
		}
	}
	ey := func(r, g, b float64) float64 { return kr*r + (1-kr-kb)*g + kb*b }
	for y := 0; y < h; y += 2 {
		for x := 0; x < w; x += 2 {
			var r, g, b float64
			for i := range 4 {
				px, py := x+i%2, y+i/2
				p := src[(py*w+px)*4:]
				pr, pg, pb := float64(p[2])/255, float64(p[1])/255, float64(p[0])/255
				near("Y", f.Y[py*w+px], 16+219*ey(pr, pg, pb))
				r, g, b = r+pr/4, g+pg/4, b+pb/4
			}
			near("U", f.U[y/2*w/2+x/2], 128+224*(b-ey(r, g, b))/(2*(1-kb)))
			near("V", f.V[y/2*w/2+x/2], 128+224*(r-ey(r, g, b))/(2*(1-kr)))
		}
	}
}

// Guards the padding of odd sizes: a dark or green edge line in the film.
func TestConvertOddPictureRepeatsItsEdge(t *testing.T) {
	both(t, func(t *testing.T, simd bool) {
		const w, h = 67, 5
		src := noise(3, w*h*4)
		odd := newFrame(t, w, h)
		if _, err := convert(odd, odd.Bounds(), src, w*4, BGRX, simd); err != nil {
			t.Fatal(err)
		}
		padded := make([]byte, 0, (w+1)*(h+1)*4)
		for y := range h + 1 {
			row := src[min(y, h-1)*w*4:][:w*4]
			padded = append(append(padded, row...), row[w*4-4:]...)
		}
		even := newFrame(t, w+1, h+1)
		if _, err := convert(even, even.Bounds(), padded, (w+1)*4, BGRX, simd); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(even.Data, odd.Data); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Guards the seams: many aligned rectangles must give the picture that one
// whole conversion gives, whatever their order and size.
func TestConvertRectanglesEqualTheWhole(t *testing.T) {
	both(t, func(t *testing.T, simd bool) {
		r := rand.New(rand.NewPCG(11, 2))
		for _, size := range []image.Point{{200, 120}, {97, 33}, {1, 1}, {33, 2}} {
			for _, format := range []Format{BGRX, RGB565, X2R10G10B10} {
				bpp := format.BytesPerPixel()
				stride := size.X*bpp + 12
				src := noise(uint64(size.X), stride*size.Y)
				whole, parts := newFrame(t, size.X, size.Y), newFrame(t, size.X, size.Y)
				if _, err := convert(whole, whole.Bounds(), src, stride, format, false); err != nil {
					t.Fatal(err)
				}
				for range 400 {
					x, y := r.IntN(size.X), r.IntN(size.Y)
					rect := Align(image.Rect(x, y, x+1+r.IntN(size.X), y+1+r.IntN(size.Y)), parts.Bounds())
					if _, err := convert(parts, rect, src[rect.Min.Y*stride+rect.Min.X*bpp:], stride, format, simd); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := convert(parts, parts.Bounds(), src, stride, format, simd); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(whole.Data, parts.Data) {
					t.Fatalf("%v %v: parts differ from the whole", size, format)
				}
			}
		}
	})
}

// Guards the damage filter: a repaint with equal pixels must not cost a frame,
// and a changed pixel anywhere must.
func TestConvertReportsWhatChanged(t *testing.T) {
	both(t, func(t *testing.T, simd bool) {
		const w, h = 150, 10
		src := make([]byte, w*h*4)
		f := newFrame(t, w, h)
		set := func(x, y int, v uint32) { binary.LittleEndian.PutUint32(src[(y*w+x)*4:], v) }
		run := func() image.Rectangle {
			t.Helper()
			got, err := convert(f, f.Bounds(), src, w*4, BGRX, simd)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := run(); !got.Empty() {
			t.Fatalf("black on black changed %v", got)
		}
		set(3, 3, 0xff000000) // the unused byte is no change
		if got := run(); !got.Empty() {
			t.Fatalf("unused byte changed %v", got)
		}
		for y := range h {
			for x := range w {
				set(x, y, 0xffffff)
				col := x / block * block
				want := image.Rect(col, y&^1, min(col+block, w), y&^1+2)
				if got := run(); got != want {
					t.Fatalf("pixel %d,%d: %v, want %v", x, y, got, want)
				}
				if got := run(); !got.Empty() {
					t.Fatalf("pixel %d,%d: changed twice: %v", x, y, got)
				}
			}
		}
		set(40, 2, 0)
		set(130, 7, 0)
		if got, want := run(), image.Rect(32, 2, 150, 8); got != want {
			t.Fatalf("two pixels: %v, want %v", got, want)
		}
	})
}

// Guards the deep and shallow visuals: wrong masks give wrong colours.
func TestConvertForeignFormats(t *testing.T) {
	tests := map[string]struct {
		format  Format
		pixel   uint32
		r, g, b byte
	}{
		"565 white":    {RGB565, 0xffff, 255, 255, 255},
		"565 red":      {RGB565, 0xf800, 255, 0, 0},
		"565 green":    {RGB565, 0x07e0, 0, 255, 0},
		"565 blue":     {RGB565, 0x001f, 0, 0, 255},
		"565 mixed":    {RGB565, 0x8410, 132, 130, 132},
		"x2r10 white":  {X2R10G10B10, 0xffffffff, 255, 255, 255},
		"x2r10 red":    {X2R10G10B10, 1023 << 20, 255, 0, 0},
		"x2r10 green":  {X2R10G10B10, 1023 << 10, 0, 255, 0},
		"x2r10 blue":   {X2R10G10B10, 1023, 0, 0, 255},
		"x2r10 middle": {X2R10G10B10, 512<<20 | 511<<10 | 2, 128, 127, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			const w, h = 301, 3
			var one []byte
			if tc.format.BytesPerPixel() == 2 {
				one = binary.LittleEndian.AppendUint16(nil, uint16(tc.pixel))
			} else {
				one = binary.LittleEndian.AppendUint32(nil, tc.pixel)
			}
			got, want := newFrame(t, w, h), newFrame(t, w, h)
			if _, err := Convert(got, got.Bounds(), bytes.Repeat(one, w*h), w*len(one), tc.format); err != nil {
				t.Fatal(err)
			}
			bgrx := bytes.Repeat([]byte{tc.b, tc.g, tc.r, 0}, w*h)
			if _, err := Convert(want, want.Bounds(), bgrx, w*4, BGRX); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("got Y %d U %d V %d, want Y %d U %d V %d", got.Y[0], got.U[0], got.V[0], want.Y[0], want.U[0], want.V[0])
			}
		})
	}
}

// Guards memory: a wrong rectangle or a short source is an error, not a panic
// in the assembly.
func TestConvertRefuses(t *testing.T) {
	const w, h = 64, 8
	tests := map[string]struct {
		r      image.Rectangle
		stride int
		size   int
	}{
		"odd left":     {image.Rect(1, 0, 64, 8), 256, 2048},
		"odd top":      {image.Rect(0, 1, 64, 8), 256, 2048},
		"odd right":    {image.Rect(0, 0, 33, 8), 256, 2048},
		"outside":      {image.Rect(0, 0, 66, 8), 264, 4096},
		"negative":     {image.Rect(-2, 0, 8, 8), 256, 2048},
		"empty":        {image.Rect(8, 8, 8, 8), 256, 2048},
		"short stride": {image.Rect(0, 0, 64, 8), 252, 2048},
		"short source": {image.Rect(0, 0, 64, 8), 256, 2047},
		"no source":    {image.Rect(0, 0, 64, 8), 256, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFrame(t, w, h)
			before := bytes.Clone(f.Data)
			if _, err := Convert(f, tc.r, make([]byte, tc.size), tc.stride, BGRX); err == nil {
				t.Fatal("no error")
			}
			if !bytes.Equal(before, f.Data) {
				t.Fatal("frame was touched")
			}
		})
	}
	for _, size := range []image.Point{{0, 1}, {1, 0}, {-1, 5}, {MaxSide + 1, 5}, {5, MaxSide + 1}} {
		if _, err := NewFrame(size.X, size.Y); err == nil {
			t.Errorf("frame of %v: no error", size)
		}
	}
}

func TestAlign(t *testing.T) {
	bounds := image.Rect(0, 0, 101, 51)
	tests := map[string]struct{ in, want image.Rectangle }{
		"even stays":        {image.Rect(2, 4, 10, 12), image.Rect(2, 4, 10, 12)},
		"odd widens":        {image.Rect(3, 5, 9, 11), image.Rect(2, 4, 10, 12)},
		"picture's edge":    {image.Rect(99, 49, 101, 51), image.Rect(98, 48, 101, 51)},
		"beyond is clipped": {image.Rect(-7, -7, 300, 300), bounds},
		"outside is empty":  {image.Rect(200, 200, 300, 300), image.Rectangle{}},
		"empty is empty":    {image.Rect(5, 5, 5, 9), image.Rectangle{}},
	}
	for name, tc := range tests {
		if got := Align(tc.in, bounds); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Guards the steady state: garbage on each damage would show as CPU.
func TestConvertDoesNotAllocate(t *testing.T) {
	f := newFrame(t, 201, 101)
	for _, format := range []Format{BGRX, RGB565, X2R10G10B10} {
		src := make([]byte, 201*101*4)
		n := testing.AllocsPerRun(20, func() {
			if _, err := Convert(f, f.Bounds(), src, 201*4, format); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%v: %v allocations", format, n)
		}
	}
}

// Guards the multiplication that stands for a division.
func TestNarrow10RoundsToNearest(t *testing.T) {
	for v := range uint32(1024) {
		if got, want := narrow10(v), uint32(math.Round(float64(v)*255/1023)); got != want {
			t.Fatalf("%d: %d, want %d", v, got, want)
		}
	}
}
