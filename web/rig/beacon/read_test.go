package beacon

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scene describes a drawn picture of the page.
type scene struct {
	w, h      int
	inset     image.Rectangle // where the page lies in the picture
	head      uint32
	foot      uint32
	twin      bool
	stripHigh int
}

func (s scene) draw() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, s.w, s.h))
	fill(img, img.Rect, color.Gray{Y: 60})
	fill(img, s.inset, color.Gray{Y: 240})
	page := s.inset
	Draw(img, image.Rect(page.Min.X, page.Min.Y, page.Max.X, page.Min.Y+s.stripHigh), s.head, s.twin)
	if s.twin {
		Draw(img, image.Rect(page.Min.X, page.Max.Y-s.stripHigh, page.Max.X, page.Max.Y), s.foot, s.twin)
	}
	return img
}

func fullHD(number uint32) scene {
	return scene{w: 1920, h: 1080, inset: image.Rect(0, 87, 1920, 1080), head: number, foot: number, twin: true, stripHigh: 47}
}

// shrink averages blocks of n by n samples: what a scaler does to the strip.
func shrink(src *image.Gray, n int) *image.Gray {
	dst := image.NewGray(image.Rect(0, 0, src.Rect.Dx()/n, src.Rect.Dy()/n))
	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			sum := 0
			for dy := range n {
				for dx := range n {
					sum += int(src.GrayAt(x*n+dx, y*n+dy).Y)
				}
			}
			dst.SetGray(x, y, color.Gray{Y: uint8(sum / n / n)})
		}
	}
	return dst
}

func noisy(img *image.Gray, amount float64) *image.Gray {
	r := rand.New(rand.NewPCG(1, 2))
	for i, v := range img.Pix {
		img.Pix[i] = uint8(max(0, min(255, float64(v)+r.NormFloat64()*amount)))
	}
	return img
}

func throughJPEG(t *testing.T, img *image.Gray, quality int) *image.Gray {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out.(*image.Gray)
}

func limited(img *image.Gray) *image.Gray {
	for i, v := range img.Pix {
		img.Pix[i] = uint8(16 + int(v)*219/255)
	}
	return img
}

// A decoder that reads only clean pictures, or only one place and size, would call
// encoder damage or a window border a dropped frame.
func TestReadFindsTheNumberInSpoiltPictures(t *testing.T) {
	const number = 0xA5C3F1
	small := scene{w: 640, h: 360, inset: image.Rect(0, 0, 640, 360), head: number, foot: number, twin: true, stripHigh: 16}
	framed := scene{w: 1366, h: 768, inset: image.Rect(11, 93, 1351, 760), head: number, foot: number, twin: true, stripHigh: 29}
	single := fullHD(number)
	single.twin = false
	tests := map[string]*image.Gray{
		"full HD":                     fullHD(number).draw(),
		"small display":               small.draw(),
		"window with borders":         framed.draw(),
		"upper strip alone":           single.draw(),
		"scaled to a third":           shrink(fullHD(number).draw(), 3),
		"scaled to a fifth":           shrink(fullHD(number).draw(), 5),
		"limited range":               limited(fullHD(number).draw()),
		"limited range, third, noise": noisy(limited(shrink(fullHD(number).draw(), 3)), 20),
		"strong noise":                noisy(fullHD(number).draw(), 45),
		"small with noise":            noisy(small.draw(), 25),
		"block damage":                throughJPEG(t, fullHD(number).draw(), 5),
		"third with block damage":     throughJPEG(t, shrink(fullHD(number).draw(), 3), 10),
	}
	for name, img := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(img.Pix, img.Rect.Dx(), img.Rect.Dy(), img.Stride)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Frame{Number: number}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each number must come back: a wrong bit order or Gray inverse hides at 0 and 1.
func TestPayloadComesBack(t *testing.T) {
	numbers := []uint32{0, 1, 2, 3, 7, 8, 255, 256, 65535, 65536, 1 << 23, NumberMask - 1, NumberMask}
	for bit := range numberBits {
		numbers = append(numbers, 1<<bit)
	}
	for _, number := range numbers {
		for _, twin := range []bool{false, true} {
			got, gotTwin, ok := parse(payload(number, twin))
			if !ok || got != number || gotTwin != twin {
				t.Errorf("%d, twin %v: got %d, %v, %v", number, twin, got, gotTwin, ok)
			}
		}
	}
}

// The Gray code and the checksum are there to catch one wrong cell.
func TestOneWrongCellIsNoticed(t *testing.T) {
	for i := range payloadCells {
		p := payload(123456, true)
		p[i] = !p[i]
		if number, _, ok := parse(p); ok {
			t.Errorf("cell %d flipped: read as %d", i, number)
		}
	}
}

// A picture of two painted frames must be called torn wherever the cut lies.
func TestReadTellsTornPictures(t *testing.T) {
	older, newer := fullHD(4095).draw(), fullHD(4096).draw()
	cut := func(at int) *image.Gray {
		img := image.NewGray(newer.Rect)
		copy(img.Pix, newer.Pix[:at*newer.Stride])
		copy(img.Pix[at*newer.Stride:], older.Pix[at*newer.Stride:])
		return img
	}
	tests := map[string]struct {
		at   int
		want Frame
	}{
		"above the page":            {40, Frame{Number: 4095}},
		"between the strip's rows":  {87 + 47/2, Frame{Number: 4096, Torn: true}},
		"in the middle of the page": {600, Frame{Number: 4096, Torn: true}},
		"in the lower strip":        {1080 - 47/2 - 1, Frame{Number: 4096, Torn: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			img := cut(tt.at)
			got, err := Read(img.Pix, img.Rect.Dx(), img.Rect.Dy(), img.Stride)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A number from a picture that has none would hide a lost page.
func TestReadRefuses(t *testing.T) {
	blank := image.NewGray(image.Rect(0, 0, 640, 360))
	footless := fullHD(9).draw()
	fill(footless, image.Rect(0, 900, 1920, 1080), color.Gray{Y: 240})
	covered := fullHD(9).draw()
	fill(covered, image.Rect(700, 87, 900, 140), color.Gray{Y: 240})
	white := image.NewGray(image.Rect(0, 0, 640, 360))
	fill(white, white.Rect, color.Gray{Y: 255})
	tests := map[string]struct {
		pix          []byte
		w, h, stride int
		want         error
	}{
		"black picture":    {blank.Pix, 640, 360, 640, ErrNoBeacon},
		"white picture":    {white.Pix, 640, 360, 640, ErrNoBeacon},
		"noise":            {noisy(image.NewGray(image.Rect(0, 0, 640, 360)), 120).Pix, 640, 360, 640, ErrNoBeacon},
		"twin missing":     {footless.Pix, 1920, 1080, 1920, ErrDamaged},
		"covered by a box": {covered.Pix, 1920, 1080, 1920, ErrDamaged},
		"no size":          {nil, 0, 0, 0, ErrPlane},
		"negative size":    {blank.Pix, -640, 360, 640, ErrPlane},
		"stride too small": {blank.Pix, 640, 360, 639, ErrPlane},
		"too few bytes":    {blank.Pix[1:], 640, 360, 640, ErrPlane},
		"size overflows":   {blank.Pix, 640, 1 << 62, 640, ErrPlane},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read(tt.pix, tt.w, tt.h, tt.stride)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %+v, error %v; want %v", got, err, tt.want)
			}
		})
	}
}

// Read sees pictures of foreign films: it may refuse them, never fail on them, and a
// number that it gives must be one that a strip can hold.
func FuzzRead(f *testing.F) {
	img := shrink(fullHD(77).draw(), 6)
	f.Add(img.Pix, img.Rect.Dx(), img.Rect.Dy(), img.Stride)
	f.Add([]byte{0, 255, 0, 0, 0, 255, 0}, 7, 1, 7)
	f.Add([]byte{}, 0, 1, 0)
	f.Add([]byte{1, 2, 3}, 1, 1<<62, 1<<62)
	f.Fuzz(func(t *testing.T, pix []byte, w, h, stride int) {
		if frame, err := Read(pix, w, h, stride); err == nil && frame.Number > NumberMask {
			t.Errorf("number %d", frame.Number)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	img := fullHD(77).draw()
	for b.Loop() {
		if _, err := Read(img.Pix, 1920, 1080, img.Stride); err != nil {
			b.Fatal(err)
		}
	}
}
