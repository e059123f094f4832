package overlay

import (
	"image"
	"image/color"
	"math"
)

// A shape is a signed distance: negative inside, in pixels. Shapes are drawn
// with one pixel of smooth edge, at any size, without paths.
type shape func(x, y float64) float64

// roundRect is a rectangle of width w and height h at (x0, y0) with corners
// of radius r.
func roundRect(x0, y0, w, h, r float64) shape {
	cx, cy := x0+w/2, y0+h/2
	r = min(r, w/2, h/2)
	return func(x, y float64) float64 {
		dx, dy := math.Abs(x-cx)-w/2+r, math.Abs(y-cy)-h/2+r
		return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - r
	}
}

// stroke is a line through points, with round ends.
func stroke(width float64, points ...[2]float64) shape {
	return func(x, y float64) float64 {
		best := math.Inf(1)
		for i := 1; i < len(points); i++ {
			best = min(best, segment(x, y, points[i-1], points[i]))
		}
		return best - width/2
	}
}

func segment(x, y float64, a, b [2]float64) float64 {
	px, py, bx, by := x-a[0], y-a[1], b[0]-a[0], b[1]-a[1]
	t := min(max((px*bx+py*by)/(bx*bx+by*by), 0), 1)
	return math.Hypot(px-bx*t, py-by*t)
}

// polygon is a closed shape whose corners are rounded by r, outwards.
func polygon(r float64, points ...[2]float64) shape {
	return func(x, y float64) float64 {
		best, inside := math.Inf(1), false
		for i, a := range points {
			b := points[(i+1)%len(points)]
			best = min(best, segment(x, y, a, b))
			if (a[1] > y) != (b[1] > y) && x < (b[0]-a[0])*(y-a[1])/(b[1]-a[1])+a[0] {
				inside = !inside
			}
		}
		if inside {
			best = -best
		}
		return best - r
	}
}

// ring is a circle's line.
func ring(cx, cy, radius, width float64) shape {
	return func(x, y float64) float64 { return math.Abs(math.Hypot(x-cx, y-cy)-radius) - width/2 }
}

func disc(cx, cy, radius float64) shape {
	return func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - radius }
}

// coverage is how much of a pixel lies inside a shape at distance d.
func coverage(d float64) float64 { return min(max(0.5-d, 0), 1) }

// paint fills a shape over dst, inside area.
func paint(dst *image.RGBA, area image.Rectangle, s shape, c color.NRGBA) {
	area = area.Intersect(dst.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			a := coverage(s(float64(x)+0.5, float64(y)+0.5)) * float64(c.A) / 255
			if a > 0 {
				over(dst, x, y, c, a)
			}
		}
	}
}

// over puts a colour with opacity a (0 to 1) over one pixel.
func over(dst *image.RGBA, x, y int, c color.NRGBA, a float64) {
	p := dst.Pix[dst.PixOffset(x, y):][:4]
	for i, v := range [3]uint8{c.R, c.G, c.B} {
		p[i] = uint8(float64(v)*a + float64(p[i])*(1-a) + 0.5)
	}
	p[3] = uint8(255*a + float64(p[3])*(1-a) + 0.5)
}

// shadow darkens what lies outside a shape, softer with distance; reach is
// where it ends. Under the shape there is none: it would dirty what shows
// through.
func shadow(dst *image.RGBA, s shape, reach, drop, strength float64) {
	b := dst.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			fx, fy := float64(x)+0.5, float64(y)+0.5
			near := 1 - max(s(fx, fy-drop), 0)/reach
			a := strength * near * near * (1 - coverage(s(fx, fy)))
			if near > 0 && a > 0.004 {
				over(dst, x, y, color.NRGBA{}, a)
			}
		}
	}
}
