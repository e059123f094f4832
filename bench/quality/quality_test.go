package main

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The known points of BT.709 in limited range; a full-range or BT.601 matrix moves
// the colours by more than one step.
func TestConvertKnownColours(t *testing.T) {
	tests := map[string]struct {
		c    [3]uint8
		want [3]uint8
	}{
		"black":   {[3]uint8{0, 0, 0}, [3]uint8{16, 128, 128}},
		"white":   {[3]uint8{255, 255, 255}, [3]uint8{235, 128, 128}},
		"red":     {[3]uint8{255, 0, 0}, [3]uint8{63, 102, 240}},
		"green":   {[3]uint8{0, 255, 0}, [3]uint8{173, 42, 26}},
		"blue":    {[3]uint8{0, 0, 255}, [3]uint8{32, 240, 118}},
		"mid":     {[3]uint8{128, 128, 128}, [3]uint8{126, 128, 128}},
		"magenta": {[3]uint8{255, 0, 255}, [3]uint8{78, 214, 230}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := rgb{w: 2, h: 2, pix: bytes.Repeat(tt.c[:], 4)}
			for _, sub := range []int{1, 2} {
				got := convert(p, sub)
				if diff := cmp.Diff(tt.want, [3]uint8{got.planes[0][0], got.planes[1][0], got.planes[2][0]}); diff != "" {
					t.Errorf("sub %d: %s", sub, diff)
				}
				r, g, b := got.toRGB(1, 1)
				for i, v := range [3]uint8{r, g, b} {
					if math.Abs(float64(v)-float64(tt.c[i])) > 2 {
						t.Errorf("sub %d and back: %v", sub, [3]uint8{r, g, b})
					}
				}
			}
		})
	}
}

// A measure that is right only for equal pictures would call every setting good.
func TestMeasures(t *testing.T) {
	a, b := newYUV(16, 16, 2), newYUV(16, 16, 2)
	for i := range a.planes[0] {
		a.planes[0][i] = uint8(i * 7)
		b.planes[0][i] = a.planes[0][i]
	}
	whole := image.Rect(0, 0, 16, 16)
	if got := psnr(planeMSE(a, b, 0, whole)); got != identical {
		t.Errorf("equal pictures: %v dB", got)
	}
	if got := lumaSSIM(a, b, whole); math.Abs(got-1) > 1e-9 {
		t.Errorf("equal pictures: SSIM %v", got)
	}
	b.planes[0][0] ^= 16
	if got := planeMSE(a, b, 0, whole); got != 1 {
		t.Errorf("one sample off by 16 of 256: mean squared error %v, want 1", got)
	}
	if got := psnr(1); math.Abs(got-48.13) > 0.01 {
		t.Errorf("error 1: %v dB, want 48.13", got)
	}
	if got := planeMSE(a, b, 0, image.Rect(2, 0, 16, 16)); got != 0 {
		t.Errorf("outside the crop: %v", got)
	}
	if got := lumaSSIM(a, b, whole); got >= 1 {
		t.Errorf("changed picture: SSIM %v", got)
	}
	for i := range a.planes[1] {
		a.planes[1][i] = 4
	}
	if got := planeMSE(a, b, 1, whole); got != 16 {
		t.Errorf("chroma off by 4: %v, want 16", got)
	}
}

func TestParseRects(t *testing.T) {
	got, err := parseRects([]byte(`<p></p><script type="application/json" id="rects">{"a":[1.5,2,10.2,11]}</script>`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]image.Rectangle{"a": image.Rect(0, 2, 12, 12)}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", `<script type="application/json" id="rects">[]</script>`} {
		if _, err := parseRects([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// striped is a page stand-in with text-like detail, tall enough to scroll.
func striped() pages {
	img := image.NewNRGBA(image.Rect(0, 0, width, 1400))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for y := 40; y < 1400; y += 3 {
		for x := 40; x < 800; x += 5 {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(y), A: 255})
		}
	}
	part := image.Rect(40, 200, 800, 240)
	s := shot{picture: img, rects: map[string]image.Rectangle{
		"text-12": part, "text-12-mono": part, "ladder": part, "edges": part, "colour-text": part,
		"log": image.Rect(40, 400, 800, 1300), "clock": image.Rect(40, 100, 800, 200),
	}}
	return pages{display: s, tall: s}
}

// The whole measurement with the real encoder: a coarser CRF has to come out worse
// and smaller, and a crop that has moved has to be compared with its own source.
func TestMeasureTellsCoarseFromFine(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("ffmpeg is needed: apt install ffmpeg")
	}
	s := study{ffmpeg: "ffmpeg", dir: t.TempDir(), repeats: 1}
	moving := scrollTake(striped(), 4)
	var figures []Figures
	for _, crf := range []int{8, 40} {
		got, err := s.measure(t.Context(), Setting{Preset: "ultrafast", CRF: crf, Format: "yuv420p", Extra: "8x8dct=1"}, moving)
		if err != nil {
			t.Fatal(err)
		}
		if got.Profile != "High" || got.CPUPerSecond <= 0 {
			t.Errorf("CRF %d: profile %q, CPU %v", crf, got.Profile, got.CPUPerSecond)
		}
		figures = append(figures, got)
	}
	fine, coarse := figures[0], figures[1]
	if fine.Crops["log"].Luma < 45 || coarse.Crops["log"].Luma > fine.Crops["log"].Luma-5 {
		t.Errorf("CRF 8: %+v, CRF 40: %+v", fine.Crops["log"], coarse.Crops["log"])
	}
	if coarse.KBytesPerSecond >= fine.KBytesPerSecond {
		t.Errorf("CRF 8: %.0f kB/s, CRF 40: %.0f kB/s", fine.KBytesPerSecond, coarse.KBytesPerSecond)
	}
	var table strings.Builder
	printTable(&table, result{Rows: []row{{Setting: Setting{Name: "fine"}, Scroll: fine}}})
	if !strings.Contains(table.String(), "| fine |") {
		t.Error(table.String())
	}
}

// An encoder that dies has to be an error with its words, not a row of zeros.
func TestMeasureReportsTheEncodersWords(t *testing.T) {
	s := study{ffmpeg: "ffmpeg", dir: t.TempDir(), repeats: 1}
	_, err := s.measure(t.Context(), Setting{Preset: "no-such-preset", CRF: 8, Format: "yuv420p"}, scrollTake(striped(), 2))
	if err == nil || !strings.Contains(err.Error(), "preset") {
		t.Errorf("error %v", err)
	}
}
