package overlay

import (
	"errors"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

func plainFrame(t *testing.T, w, h int, luma byte) *pixel.Frame {
	t.Helper()
	f, err := pixel.NewFrame(w, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Y {
		f.Y[i] = luma
	}
	for i := range f.U {
		f.U[i], f.V[i] = 128, 128
	}
	return f
}

// darkBox is the box of what is darker than a limit.
func darkBox(f *pixel.Frame, limit byte) image.Rectangle {
	var box image.Rectangle
	for y := range f.Height {
		for x := range f.Width {
			if f.Y[y*f.Width+x] < limit {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// A pointer that is drawn a few pixels off points at another button: its tip
// must be at the logged place in each view and on the backdrop.
func TestStagePointer(t *testing.T) {
	film := image.Pt(1920, 1080)
	at := Point{1200, 700}
	path := NewPath([]Move{{0, at}, {time.Second, Point{1201, 700}}}, nil)
	click := []Click{{At: 0, Point: at}}
	camera := NewCamera(1920, 1080, click, Zoom{Scale: 2, Travel: time.Millisecond, Hold: time.Hour})
	tests := []struct {
		what string
		a    Actions
		want image.Point
	}{
		{"whole", Actions{Path: path}, image.Pt(800, 467)},
		{"near", Actions{Path: path, Camera: camera}, image.Pt(640, 360)},
		{"on a backdrop", Actions{Path: path, Frame: true}, image.Pt(789, 460)},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			tt.a.Film, tt.a.Size = film, image.Pt(1280, 720)
			s, err := NewStage(typeset.New(), tt.a)
			if err != nil {
				t.Fatal(err)
			}
			src, dst := plainFrame(t, 1280, 720, 235), plainFrame(t, 1280, 720, 0)
			if tt.a.Frame {
				src = plainFrame(t, s.Whole().X, s.Whole().Y, 235)
			}
			moment := 100 * time.Millisecond
			if err := s.Draw(dst, src, s.Look(moment), moment); err != nil {
				t.Fatal(err)
			}
			// Inside of the picture only: the backdrop is dark, too.
			inner := plainFrame(t, 400, 300, 235)
			corner := tt.want.Sub(image.Pt(200, 150))
			for y := range 300 {
				copy(inner.Y[y*400:][:400], dst.Y[(corner.Y+y)*1280+corner.X:][:400])
			}
			tip := darkBox(inner, 60).Min.Add(corner)
			if d := tip.Sub(tt.want); d.X < -2 || d.X > 2 || d.Y < -2 || d.Y > 3 {
				t.Errorf("tip at %v, want %v", tip, tt.want)
			}
		})
	}
}

// A look that is equal though the picture differs freezes the clip; one that
// differs though nothing does makes it large.
func TestLook(t *testing.T) {
	ms := time.Millisecond
	s, err := NewStage(typeset.New(), Actions{
		Film: image.Pt(640, 360), Size: image.Pt(640, 360),
		Path:   NewPath([]Move{{0, Point{10, 10}}, {1000 * ms, Point{10, 10}}, {2000 * ms, Point{300, 200}}}, nil),
		Clicks: []Click{{At: 5000 * ms, Point: Point{3, 3}, Button: Left}, {At: 4000 * ms, Point: Point{300, 200}, Button: Left}},
		Chords: Chords([]Key{{At: 8000 * ms, Text: "F5"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		what string
		a, b int
		same bool
	}{
		{"the pointer rests", 100, 900, true},
		{"the pointer travels", 1850, 1900, false},
		{"before a click", 3000, 3999, true},
		{"a ring grows", 4000, 4050, false},
		{"the first moment of a ring", 3999, 4000, false},
		{"a ring is over", 4700, 4900, true},
		{"a second click", 5000, 5100, false},
		{"a key comes", 7999, 8000, false},
		{"a key stands", 8000, 9400, true},
		{"a key goes", 9400, 9600, false},
	}
	for _, tt := range tests {
		if got := s.Look(time.Duration(tt.a)*ms) == s.Look(time.Duration(tt.b)*ms); got != tt.same {
			t.Errorf("%s: looks at %d and %d ms equal: %v", tt.what, tt.a, tt.b, got)
		}
	}
}

func TestStageRefuses(t *testing.T) {
	for _, a := range []Actions{{Film: image.Pt(640, 360), Size: image.Pt(62, 64)}, {Size: image.Pt(640, 360)}} {
		if _, err := NewStage(typeset.New(), a); !errors.Is(err, ErrScreen) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

// Shrinking must neither shift nor darken the picture nor lose thin lines, and
// read nothing outside of it.
func TestShrink(t *testing.T) {
	for n := range 200 {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		limit, count := 1+r.IntN(400), 1+r.IntN(200)
		from, length := float64(limit)*(r.Float64()-0.2), 1+float64(limit)*r.Float64()
		for i, k := range kernels(count, limit, from, length) {
			sum := uint32(0)
			for _, w := range k.weights {
				sum += w
			}
			if sum != 4096 || k.from < 0 || k.from+len(k.weights) > limit {
				t.Fatalf("%d of %d samples of %d from %v length %v: %+v", i, count, limit, from, length, k)
			}
		}
	}
	src, dst := plainFrame(t, 192, 108, 235), plainFrame(t, 128, 72, 0)
	Render(dst, src, View{0, 0, 192, 108})
	for i, v := range dst.Y {
		if v != 235 {
			t.Fatalf("a plain picture has %d at %d", v, i)
		}
	}
	for y := range 108 { // a line of a pixel, at each third
		for x := 1; x < 192; x += 3 {
			src.Y[y*192+x] = 16
		}
	}
	Render(dst, src, View{0, 0, 192, 108})
	sum := 0
	for _, v := range dst.Y[128*36:][8:120] {
		sum += int(v)
	}
	if mean, want := sum/112, (235*2+16)/3; mean < want-3 || mean > want+3 {
		t.Errorf("lines have a mean of %d, want %d", mean, want)
	}
}

// The zoom is what costs most of a clip that has one.
func BenchmarkShrink(b *testing.B) {
	src, err := pixel.NewFrame(1920, 1080)
	if err != nil {
		b.Fatal(err)
	}
	dst, err := pixel.NewFrame(1280, 720)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Render(dst, src, View{0, 0, 1920, 1080})
	}
}
