package overlay

import (
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

var update = flag.Bool("update", false, "write the golden pictures anew; look at them before committing")

// page draws something like a page: bars in the place of lines.
func page(w, h int, ground, text color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	for y := 0; y < h; y += 24 {
		for x := (y * 37) % 90; x < w; x += 130 {
			draw.Draw(img, image.Rect(x, y+6, x+80, y+14), image.NewUniform(text), image.Point{}, draw.Src)
		}
	}
	return img
}

func light(w, h int) *image.RGBA {
	return page(w, h, color.RGBA{255, 255, 255, 255}, color.RGBA{110, 118, 129, 255})
}

func dark(w, h int) *image.RGBA {
	return page(w, h, color.RGBA{13, 17, 23, 255}, color.RGBA{139, 148, 158, 255})
}

func long(k Kind, text string) Caption {
	return Caption{Kind: k, Text: text, In: -time.Hour, Out: time.Hour}
}

func track(t *testing.T, w, h int, p Position, captions ...Caption) *Track {
	t.Helper()
	tr, err := NewTrack(typeset.New(), captions, Screen{Width: w, Height: h, Position: p, Frame: time.Second / 15})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func blend(t *testing.T, tr *Track, img *image.RGBA) *image.RGBA {
	t.Helper()
	if _, err := tr.BlendRGBA(img, 0); err != nil {
		t.Fatal(err)
	}
	return img
}

func crop(img *image.RGBA, r image.Rectangle) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	draw.Draw(out, out.Bounds(), img, r.Min, draw.Src)
	return out
}

// Guards the look: whoever changes it must look at the new pictures.
func TestGolden(t *testing.T) {
	step := long(Step, "Sign in with a wrong password")
	failed := long(Failed, "“Invalid credentials” is shown twice")
	passed := long(Passed, "The card is refused ✅")
	twoLines := long(Step, "Open the checkout page, choose the cheapest delivery and pay with an expired credit card of the test set")
	skip, speed := long(Skip, "▶▶ 18 s later"), long(Speed, "2x")
	top, bottom := image.Rect(280, 0, 1000, 150), image.Rect(280, 500, 1000, 720)
	for name, scene := range map[string]func() *image.RGBA{
		"light": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Top, step, failed), light(1280, 720)), top)
		},
		"dark": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Top, twoLines, passed), dark(1280, 720)), top)
		},
		"bottom": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Bottom, step, passed), light(1280, 720)), bottom)
		},
		"scripts": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Top, long(Step, "افتح صفحة تسجيل الدخول"), long(Passed, "登入頁面：點擊「開始」 👩‍💻")), dark(1280, 720)), top)
		},
		"marks": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Top, skip, speed), light(1280, 720)), image.Rect(900, 620, 1280, 720))
		},
		"marks-dark": func() *image.RGBA {
			return crop(blend(t, track(t, 1280, 720, Bottom, skip, speed), dark(1280, 720)), image.Rect(900, 0, 1280, 100))
		},
		"phone":    func() *image.RGBA { return blend(t, track(t, 390, 844, Top, step, failed, skip), light(390, 844)) },
		"pointer":  func() *image.RGBA { return pointerScene(t) },
		"backdrop": func() *image.RGBA { return backdropScene(t) },
	} {
		t.Run(name, func(t *testing.T) { compare(t, name, scene()) })
	}
}

func pointerScene(t *testing.T) *image.RGBA {
	t.Helper()
	img := light(400, 160)
	draw.Draw(img, image.Rect(200, 0, 400, 160), dark(200, 160), image.Point{}, draw.Src)
	for i, age := range []time.Duration{60 * time.Millisecond, 180 * time.Millisecond, 340 * time.Millisecond} {
		at := Point{60 + float64(i)*130, 50}
		DrawRing(at, Button(1+i), age, 26).BlendRGBA(img, Opaque)
		DrawPointer(at, 24).BlendRGBA(img, Opaque)
	}
	keys, err := DrawKeys(typeset.New(), []string{"Ctrl", "⇧", "P"}, image.Pt(200, 145), 18)
	if err != nil {
		t.Fatal(err)
	}
	keys.BlendRGBA(img, Opaque)
	return img
}

func backdropScene(t *testing.T) *image.RGBA {
	t.Helper()
	b, err := NewBackdrop(640, 360)
	if err != nil {
		t.Fatal(err)
	}
	dst, picture := frame(t, 640, 360), frame(t, b.Inner.Dx(), b.Inner.Dy())
	NewSprite(light(b.Inner.Dx(), b.Inner.Dy()), image.Point{}).BlendI420(picture, Opaque)
	if err := b.Compose(dst, picture); err != nil {
		t.Fatal(err)
	}
	return toRGBA(dst)
}

func frame(t testing.TB, w, h int) *pixel.Frame {
	t.Helper()
	f, err := pixel.NewFrame(w, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// toRGBA is the inverse of the conversion under test, from the standard.
func toRGBA(f *pixel.Frame) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	for y := range f.Height {
		for x := range f.Width {
			c := y/2*(f.Width/2) + x/2
			l := (float64(f.Y[y*f.Width+x]) - 16) * 255 / 219
			u, v := (float64(f.U[c])-128)*255/224, (float64(f.V[c])-128)*255/224
			r, b := l+1.5748*v, l+1.8556*u
			g := (l - 0.2126*r - 0.0722*b) / 0.7152
			clip := func(v float64) uint8 { return uint8(min(max(v+0.5, 0), 255)) }
			img.SetRGBA(x, y, color.RGBA{clip(r), clip(g), clip(b), 255})
		}
	}
	return img
}

// compare allows what another CPU's rounding may change, and no more.
func compare(t *testing.T, name string, got *image.RGBA) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *update {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if want.Bounds() != got.Bounds() {
		t.Fatalf("%v, golden %v", got.Bounds(), want.Bounds())
	}
	off := 0
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			r, g, b, _ := want.At(x, y).RGBA()
			p := got.RGBAAt(x, y)
			for _, d := range [3]int{int(p.R) - int(r>>8), int(p.G) - int(g>>8), int(p.B) - int(b>>8)} {
				if d > 3 || d < -3 {
					off++
				}
			}
		}
	}
	if off > got.Rect.Dx()*got.Rect.Dy()/2000 {
		t.Errorf("%s: %d samples differ by more than 3; run with -update and look", name, off)
	}
}
