package overlay

import (
	"image"
	"image/color"
	"math"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Guards the colours: what is blended onto I420 must look as it does on RGB.
func TestI420EqualsRGBA(t *testing.T) {
	tr := track(t, 640, 360, Top, long(Step, "Colours 🎉"), long(Failed, "the same"))
	rgb := light(640, 360)
	yuv := frame(t, 640, 360)
	NewSprite(rgb, image.Point{}).BlendI420(yuv, Opaque)
	blend(t, tr, rgb)
	if _, err := tr.BlendI420(yuv, 0); err != nil {
		t.Fatal(err)
	}
	back := toRGBA(yuv)
	var sum float64
	for i := range rgb.Pix {
		sum += math.Abs(float64(rgb.Pix[i]) - float64(back.Pix[i]))
	}
	// Chroma has a quarter of the samples: edges differ, flat parts don't.
	if mean := sum / float64(len(rgb.Pix)); mean > 1.2 {
		t.Errorf("mean difference %.2f", mean)
	}
}

// Guards the rest of the frame: blending touches what it says, nothing else.
func TestBlendTouchesOnlyItsRectangle(t *testing.T) {
	tr := track(t, 640, 360, Top, long(Step, "here"))
	f, before := frame(t, 640, 360), frame(t, 640, 360)
	touched, err := tr.BlendI420(f, 0)
	if err != nil || touched.Empty() {
		t.Fatal(touched, err)
	}
	for y := range 360 {
		for x := range 640 {
			if !image.Pt(x, y).In(touched) && f.Y[y*640+x] != before.Y[y*640+x] {
				t.Fatalf("luma at %d,%d changed outside %v", x, y, touched)
			}
			if i := y/2*320 + x/2; !image.Pt(x, y).In(touched) && (f.U[i] != before.U[i] || f.V[i] != before.V[i]) {
				t.Fatalf("chroma at %d,%d changed outside %v", x, y, touched)
			}
		}
	}
}

// Guards the edges of memory: sprites may hang out of the frame on all sides,
// at odd places, on odd frames.
func TestSpritesOutsideTheFrame(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 31, 17))
	paint(img, img.Bounds(), disc(15, 8, 9), color.NRGBA{R: 255, A: 200})
	f, rgb := frame(t, 61, 41), light(61, 41)
	for x := -40; x < 80; x += 7 {
		for y := -30; y < 60; y += 5 {
			for _, o := range []int{0, 1, 100, Opaque} {
				s := NewSprite(img, image.Pt(x, y))
				s.BlendI420(f, o)
				s.BlendRGBA(rgb, o)
			}
		}
	}
}

// Guards a fade: half opacity is the mean of nothing and all.
func TestOpacityIsLinear(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 2))
	paint(img, img.Bounds(), roundRect(-9, -9, 30, 30, 0), color.NRGBA{R: 240, G: 240, B: 240, A: 128})
	for _, o := range []int{1, 64, 128, 255, 256} {
		f := frame(t, 2, 2)
		NewSprite(img, image.Point{}).BlendI420(f, o)
		full := 16 + (240*219/255.0)*128/255
		want := 16 + (full-16)*float64(o)/256
		if d := float64(f.Y[0]) - want; math.Abs(d) > 1 {
			t.Errorf("opacity %d: %d, want %.1f", o, f.Y[0], want)
		}
	}
}

// Figures: two pills a frame of 1280x720.
func BenchmarkBlendI420(b *testing.B) {
	tr, err := NewTrack(typeset.New(), []Caption{long(Step, "Sign in with a wrong password"), long(Failed, "“Invalid credentials” is shown twice")},
		Screen{Width: 1280, Height: 720, Frame: time.Second / 15})
	if err != nil {
		b.Fatal(err)
	}
	f := frame(b, 1280, 720)
	for b.Loop() {
		if _, err := tr.BlendI420(f, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDrawPill(b *testing.B) {
	set := typeset.New()
	for b.Loop() {
		p, err := newPill(set, long(Step, "Sign in with a wrong password"), 22, 1200)
		if err != nil {
			b.Fatal(err)
		}
		NewSprite(p.draw(), image.Point{})
	}
}

func BenchmarkZoom720p(b *testing.B) {
	dst, src := frame(b, 1280, 720), frame(b, 1920, 1080)
	for b.Loop() {
		Render(dst, src, View{100, 100, 1066, 600})
	}
}
