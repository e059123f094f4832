package still

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// The calibration: what the encoder does to a still screen stays below the
// thresholds, also in the settings that a recording might get next, and what
// it leaves of one faint pixel stays above.
func TestThresholds(t *testing.T) {
	base := page(testW, testH)
	faint := base.clone()
	faint.fill(101, 77, 1, 1, 210) // 15 from its ground
	var frames []*screen
	for i := range 75 {
		if i < 50 {
			frames = append(frames, base)
		} else {
			frames = append(frames, faint)
		}
	}
	for name, args := range map[string][]string{
		"the recorder's": encodeArgs(),
		"qp 16":          with(encodeArgs(), "-qp", "16"),
	} {
		t.Run(name, func(t *testing.T) {
			pics := film(t, testFPS, args, frames...)
			far := 0
			for _, p := range pics[1:50] {
				for i := range p.Y {
					far = max(far, abs(int(p.Y[i])-int(pics[0].Y[i])))
				}
			}
			at := 77*testW + 101
			left := abs(int(pics[50].Y[at]) - int(pics[49].Y[at]))
			t.Logf("noise of a still screen: %d; left of a pixel that differs by 15: %d", far, left)
			if limit := calibrated().luma; far >= limit || left < limit {
				t.Errorf("the threshold %d does not lie between", limit)
			}
		})
	}
}

// with replaces the rate control of encoder arguments.
func with(args []string, option, value string) []string {
	out := slices.Clone(args)
	i := max(slices.Index(out, "-crf"), slices.Index(out, "-qp"))
	out[i], out[i+1] = option, value
	return out
}

// Eight samples at a time give what one at a time gives.
func TestCompare8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]int{8, 16}).Draw(t, "w")
		h := rapid.IntRange(1, 16).Draw(t, "h")
		a := rapid.SliceOfN(rapid.Byte(), 20*h, 20*h).Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		limit := rapid.IntRange(1, 255).Draw(t, "limit")
		far1, sum1 := compare1(a, b, 20, 20, w, h, limit)
		far8, sum8 := compare8(a, b, 20, 20, w, h, limit)
		if far1 != far8 || sum1 != sum8 {
			t.Fatalf("eight at a time: %v %d, one: %v %d", far8, sum8, far1, sum1)
		}
	})
}

// The largest sums must not overflow their lanes.
func TestCompare8Extremes(t *testing.T) {
	dark, light := make([]byte, 256), bytes.Repeat([]byte{255}, 256)
	if far, _ := compare8(dark, light, 16, 16, 16, 16, 255); !far {
		t.Error("black and white differ by no 255")
	}
	almost := bytes.Repeat([]byte{254}, 256)
	for _, p := range [][2][]byte{{dark, almost}, {almost, dark}} {
		far1, sum1 := compare1(p[0], p[1], 16, 16, 16, 16, 255)
		far8, sum8 := compare8(p[0], p[1], 16, 16, 16, 16, 255)
		if far1 || far8 || sum1 != sum8 {
			t.Errorf("eight at a time: %v %d, one: %v %d", far8, sum8, far1, sum1)
		}
	}
}

// Odd sizes, and strides wider than the picture, are read inside their rows.
func TestDetectorSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 2}, {15, 17}, {33, 9}, {641, 359}} {
		w, h := size[0], size[1]
		a := newScreen(w, h, 200)
		b := a.clone()
		b.fill(w-1, h-1, 1, 1, 20)
		d := NewDetector(w, h, 10)
		for i, s := range []*screen{a, a, b} {
			p := s.picture()
			p.YStride, p.Y = widen(p.Y, w, h)
			if err := d.Add(ms(100*i), p); err != nil {
				t.Fatal(err)
			}
		}
		want := []Change{{ms(200), ms(200), []recording.Rect{rect(w-1, h-1, 1, 1)}}}
		if diff := cmp.Diff(want, d.Finish(ms(300)).Changes); diff != "" {
			t.Errorf("%dx%d: %s", w, h, diff)
		}
	}
}

// widen copies a plane into one with rows that end in noise.
func widen(plane []byte, w, h int) (stride int, out []byte) {
	stride = w + 13
	out = make([]byte, stride*h)
	for i := range out {
		out[i] = byte(rand.IntN(256))
	}
	for y := range h {
		copy(out[y*stride:], plane[y*w:][:w])
	}
	return stride, out
}

// A picture that is too small is an error, not a read past its end.
func TestDetectorRefusesSmallPictures(t *testing.T) {
	d := NewDetector(32, 32, 10)
	p := newScreen(32, 32, 0).picture()
	for name, bad := range map[string]Picture{
		"short luma":   {p.Y[:1023], p.U, p.V, 32, 16},
		"short chroma": {p.Y, p.U, p.V[:255], 32, 16},
		"narrow":       {p.Y, p.U, p.V, 31, 16},
		"none":         {},
	} {
		if err := d.Add(0, bad); !errors.Is(err, ErrPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Raw frames from a pipe: whole ones count, a torn one at the end doesn't, and
// a pipe that breaks is an error.
func TestFromFrames(t *testing.T) {
	a := newScreen(48, 32, 200)
	b := a.clone()
	b.glyph(8, 8, 1, 20)
	var raw bytes.Buffer
	for i := range 40 {
		s := a
		if i >= 20 {
			s = b
		}
		raw.Write(s.raw())
	}
	torn := append(bytes.Clone(raw.Bytes()), 1, 2, 3)
	got, err := FromFrames(bytes.NewReader(torn), 48, 32, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Stretch{{0, ms(2000)}, {ms(2000), ms(4000)}}, got.Still); diff != "" {
		t.Error(diff)
	}
	broken := io.MultiReader(bytes.NewReader(raw.Bytes()), failing{})
	if _, err := FromFrames(broken, 48, 32, 10); err == nil || !strings.Contains(err.Error(), "frame 40") {
		t.Errorf("a broken pipe: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

// BenchmarkDetector measures the three kinds of frames at 1920x1080: a repeat,
// a keyframe that breathes everywhere, and one where all changed.
func BenchmarkDetector(b *testing.B) {
	w, h := 1920, 1080
	base := page(w, h)
	breath := base.clone()
	other := base.clone()
	for i := range breath.y {
		breath.y[i] += byte(i % 3)
		other.y[i] += byte(30 + i%3)
	}
	for name, pair := range map[string][2]*screen{"same": {base, base}, "keyframe": {base, breath}, "all": {base, other}} {
		b.Run(name, func(b *testing.B) {
			d := NewDetector(w, h, 15)
			if err := d.Add(0, pair[0].picture()); err != nil {
				b.Fatal(err)
			}
			d.change.meanLuma = 2 * 256 // the made-up breath is 1 on average
			for i := 0; b.Loop(); i++ {
				if err := d.Add(d.out.time(int64(i+1)), pair[(i+1)%2].picture()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
