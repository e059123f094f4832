package overlay

import (
	"image/color"
	"math"
	"testing"
)

// luminance is WCAG 2's relative luminance.
func luminance(c [3]float64) float64 {
	linear := func(v float64) float64 {
		v /= 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func onto(c color.NRGBA, ground float64) [3]float64 {
	mix := func(v uint8) float64 { return float64(v)*float64(c.A)/255 + ground*(1-float64(c.A)/255) }
	return [3]float64{mix(c.R), mix(c.G), mix(c.B)}
}

// Guards legibility over any page: WCAG asks 7:1 of text (AAA) and 3:1 of
// signs. The lightest and the darkest page are the worst cases.
func TestContrast(t *testing.T) {
	for _, k := range []Kind{Step, Passed, Failed, Skip, Speed} {
		l := lookOf(k)
		for _, page := range []float64{0, 255} {
			body := onto(l.fill, page)
			if c := contrast(onto(l.ink, 0), body); c < 7 {
				t.Errorf("kind %d over %v: text has %.1f:1", k, page, c)
			}
			if c := contrast(onto(l.mark, 0), body); l.icon != nil && c < 3 {
				t.Errorf("kind %d over %v: the mark has %.1f:1", k, page, c)
			}
		}
	}
}
