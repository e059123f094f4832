package encode

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

// scenery fades from black to a full picture and back to white, as films do.
func scenery(c canvas, n int) {
	black, white := rgb{}, rgb{255, 255, 255}
	switch {
	case n < 30:
		c.fill(image.Rect(0, 0, c.w, c.h), black)
	case n >= 100:
		c.fill(image.Rect(0, 0, c.w, c.h), white)
	default:
		c.fill(image.Rect(0, 0, c.w, c.h), rgb{20, 30, 60})
		for i := range min((n-30)/3, 12) { // one bar after the other comes in
			c.fill(image.Rect(4+i*c.w/13, c.h/4, 4+i*c.w/13+6, c.h-10), rgb{byte(240 - 15*i), byte(40 + 15*i), 90})
		}
	}
}

// A black or an empty frame tells nothing of the film.
func TestPosterIsATellingFrame(t *testing.T) {
	o := options(t, testW, testH, testFPS, testFrames)
	o.Poster = filepath.Join(filepath.Dir(o.Out), "poster.jpg")
	res := must(t, o, &source{w: testW, h: testH, paint: scenery, workers: 2})
	if res.PosterFrame < 66 || res.PosterFrame >= 100 {
		t.Errorf("frame %d was chosen; all bars are there from 66 to 99", res.PosterFrame)
	}
	raw, err := os.ReadFile(o.Poster)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s != image.Pt(testW, testH) {
		t.Errorf("the poster has %v pixels", s)
	}
	r, g, b, _ := img.At(2, 2).RGBA()
	for i, v := range [3]uint32{r >> 8, g >> 8, b >> 8} {
		if want := [3]uint32{20, 30, 60}[i]; v > want+6 || v+6 < want {
			t.Errorf("the background is %d, %d, %d", r>>8, g>>8, b>>8)
			break
		}
	}
	// Markers: no application data and no comment.
	for _, m := range [][]byte{{0xFF, 0xE1}, {0xFF, 0xE2}, {0xFF, 0xED}, {0xFF, 0xFE}} {
		if bytes.Contains(raw[:300], m) {
			t.Errorf("marker % x", m)
		}
	}
	if !bytes.HasSuffix(raw, []byte{0xFF, 0xD9}) {
		t.Error("bytes after the end of the picture")
	}
}

// The poster of a resumed film is that of an uninterrupted one, also when its
// frame was drawn before the interrupt.
func TestPosterAfterAResume(t *testing.T) {
	paint := func(c canvas, n int) {
		scenery(c, 0)
		if n > 25 && n < 30 { // all there is to see is in the first stretch
			scenery(c, 80)
		}
	}
	poster := func(stop bool) (int, []byte) {
		o := options(t, testW, testH, testFPS, testFrames)
		o.Poster = filepath.Join(filepath.Dir(o.Out), "poster.jpg")
		if stop {
			halt := errors.New("stop")
			src := breakAt(o, 90, func() error { return halt })
			src.paint = paint
			if _, err := Film(context.Background(), o, src); !errors.Is(err, halt) {
				t.Fatal(err)
			}
			if _, err := os.Stat(o.Poster); err == nil {
				t.Error("a poster without a film")
			}
		}
		res := must(t, o, &source{w: testW, h: testH, paint: paint})
		raw, err := os.ReadFile(o.Poster)
		if err != nil {
			t.Fatal(err)
		}
		return res.PosterFrame, raw
	}
	frame, want := poster(false)
	if frame <= 25 || frame >= 30 {
		t.Fatalf("frame %d was chosen", frame)
	}
	if n, got := poster(true); n != frame || !bytes.Equal(got, want) {
		t.Errorf("frame %d instead of %d, or other bytes", n, frame)
	}
}

// Samples must lie inside the film, whatever its length.
func TestSampled(t *testing.T) {
	for _, frames := range []int{1, 2, 3, 19, 20, 21, 150, 36000} {
		all := sampled(frames)
		if len(all) != min(frames, posterSamples) {
			t.Errorf("%d samples of %d frames", len(all), frames)
		}
		for n := range all {
			if n < 0 || n >= frames {
				t.Errorf("sample %d of %d frames", n, frames)
			}
		}
	}
}

// The scores' order is what chooses; each pair is a fault of a simpler rule.
func TestRate(t *testing.T) {
	draw := func(paint func(c canvas)) Frame {
		c := canvas{w: 320, h: 180, stride: 1280, pix: make([]byte, 1280*180)}
		paint(c)
		return Frame{Pix: c.pix, Stride: c.stride, Width: c.w, Height: c.h}
	}
	uniform := draw(func(c canvas) { c.fill(image.Rect(0, 0, 320, 180), rgb{200, 30, 40}) })
	full := draw(func(c canvas) { scenery(c, 80) })
	half := draw(func(c canvas) { scenery(c, 48) })
	faded := draw(func(c canvas) {
		scenery(c, 80)
		for i := range c.pix {
			c.pix[i] /= 4
		}
	})
	cases := []struct {
		name          string
		better, worse score
	}{
		{"anything over a uniform frame, however coloured", rate(faded, 50, 100), rate(uniform, 50, 100)},
		{"all over half", rate(full, 50, 100), rate(half, 50, 100)},
		{"clear over faded", rate(full, 50, 100), rate(faded, 50, 100)},
		{"late over early", rate(full, 50, 100), rate(full, 5, 100)},
		{"the earlier of two equal", rate(full, 50, 100), rate(full, 51, 100)},
	}
	for _, c := range cases {
		if !c.better.better(c.worse) || c.worse.better(c.better) {
			t.Errorf("%s: %v, %v", c.name, c.better, c.worse)
		}
	}
}
