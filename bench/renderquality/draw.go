package main

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// width and height of the drawn takes, in pixels.
const width, height = 1920, 1080

// drawing is a take that is drawn here: paint is pure in t, in seconds.
type drawing struct {
	name  string
	paint func(p *painter, t float64)
}

func drawn() []drawing {
	return []drawing{{"shapes", shapes}, {"product", product}, {"night", night}}
}

// painter draws into one picture.
type painter struct {
	img    *image.RGBA
	raster *vector.Rasterizer
	words  *typeset.Setter
}

func newPainter() *painter {
	return &painter{img: image.NewRGBA(image.Rect(0, 0, width, height)), raster: vector.NewRasterizer(width, height), words: typeset.New()}
}

// shapes is what benchmarks of renderers draw: a gradient that moves, 200
// shapes that turn, a quarter of them with gradients of their own, and two
// lines of text.
func shapes(p *painter, t float64) {
	p.gradient(t*0.15, color.RGBA{18, 24, 58, 255}, color.RGBA{120, 40, 110, 255})
	rng := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same shapes each time
	for i := range 200 {
		x, y := rng.Float64()*width, rng.Float64()*height
		r, turn := 14+rng.Float64()*46, (rng.Float64()-0.5)*4
		c := color.RGBA{uint8(80 + rng.IntN(176)), uint8(80 + rng.IntN(176)), uint8(80 + rng.IntN(176)), 255}
		x += math.Sin(t*turn+float64(i)) * 90
		y += math.Cos(t*turn*0.8+float64(i)) * 60
		if i%4 == 0 {
			p.glow(x, y, r*1.4, c)
			continue
		}
		p.polygon(x, y, r, 3+i%4, t*turn, c)
	}
	p.text("Every frame is drawn", 96, typeset.SemiBold, 120, 420, color.RGBA{255, 255, 255, 255})
	p.text("frame by frame, the same bytes each time: 1920 by 1080 at 30", 34, typeset.Medium, 126, 560, color.RGBA{230, 230, 240, 255})
}

// product is what announcements look like: a flat page, a card that eases in
// with its soft shadow, text that fades in, a bar that grows, and rest.
func product(p *painter, t float64) {
	draw.Draw(p.img, p.img.Bounds(), image.NewUniform(color.RGBA{246, 244, 239, 255}), image.Point{}, draw.Src)
	in := ease(t / 0.9)
	x, y := 260+(1-in)*500, 190.0
	for i := 24; i > 0; i-- {
		p.box(x-float64(i), y+12-float64(i), 1400+2*float64(i), 700+2*float64(i), 30+float64(i), color.RGBA{0, 0, 0, 2})
	}
	p.box(x, y, 1400, 700, 28, color.RGBA{255, 255, 255, 255})
	ink := func(v float64, c color.RGBA) color.RGBA {
		a := min(max(v, 0), 1)
		return color.RGBA{uint8(float64(c.R) * a), uint8(float64(c.G) * a), uint8(float64(c.B) * a), uint8(255 * a)}
	}
	p.text("Ship notes people read", 76, typeset.SemiBold, int(x)+80, 270, ink((t-0.4)*2, color.RGBA{20, 22, 30, 255}))
	for i, line := range []string{
		"A release is a story: what changed, for whom, and why it matters now.",
		"Builds are 38 % faster, cold starts take 120 ms, and nothing else moved.",
		"Upgrade with one command; your settings stay where they are.",
	} {
		p.text(line, 30, typeset.Medium, int(x)+82, 400+i*52, ink((t-0.6-0.15*float64(i))*2, color.RGBA{80, 84, 96, 255}))
	}
	for i, v := range []float64{0.42, 0.58, 0.71, 0.93} {
		grow := ease((t - 0.8 - 0.1*float64(i)) / 0.6)
		p.box(x+82, 590+float64(i)*62, 20+1180*v*grow, 40, 12, color.RGBA{uint8(40 + 40*i), uint8(90 + 25*i), 220, 255})
	}
}

// night is what shows an encoder's weakness first: dark gradients that hardly
// move, a soft light over them, and small text.
func night(p *painter, t float64) {
	p.gradient(t*0.04, color.RGBA{6, 8, 20, 255}, color.RGBA{26, 20, 52, 255})
	p.glow(600+t*60, 420, 620, color.RGBA{70, 60, 150, 255})
	p.glow(1400-t*40, 760, 420, color.RGBA{20, 90, 110, 255})
	p.text("Midnight", 150, typeset.SemiBold, 200, 380, color.RGBA{240, 240, 250, 255})
	p.text("deep gradients, a soft light, and a line of small text that must stay sharp", 26, typeset.Medium, 210, 590, color.RGBA{150, 152, 176, 255})
}

// ease is a cubic that slows down at the end, 0 to 1.
func ease(v float64) float64 {
	v = 1 - min(max(v, 0), 1)
	return 1 - v*v*v
}

func (p *painter) gradient(shift float64, a, b color.RGBA) {
	for y := range height {
		row := p.img.Pix[y*p.img.Stride:]
		for x := range width {
			v := 0.5 + 0.5*math.Sin((float64(x)/width+float64(y)/height)*2.2+shift*math.Pi)
			mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*v) }
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255
		}
	}
}

// glow is a disc that gets clear towards its edge.
func (p *painter) glow(cx, cy, r float64, c color.RGBA) {
	area := image.Rect(int(cx-r), int(cy-r), int(cx+r)+1, int(cy+r)+1).Intersect(p.img.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			a := 1 - math.Hypot(float64(x)-cx, float64(y)-cy)/r
			if a <= 0 {
				continue
			}
			at := p.img.PixOffset(x, y)
			for i, v := range []uint8{c.R, c.G, c.B} {
				old := float64(p.img.Pix[at+i])
				p.img.Pix[at+i] = uint8(old + (float64(v)-old)*a)
			}
		}
	}
}

func (p *painter) polygon(cx, cy, r float64, corners int, turn float64, c color.RGBA) {
	p.path(func(line func(x, y float64)) {
		for i := range corners {
			s, cs := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
			line(cx+r*cs, cy+r*s)
		}
	}, c)
}

// box is a rectangle with round corners.
func (p *painter) box(x, y, w, h, r float64, c color.RGBA) {
	r = min(r, w/2, h/2)
	p.path(func(line func(x, y float64)) {
		for corner := range 4 {
			cx, cy := x+r, y+r
			if corner == 0 || corner == 1 {
				cx = x + w - r
			}
			if corner == 1 || corner == 2 {
				cy = y + h - r
			}
			for i := range 9 {
				s, cs := math.Sincos(float64(corner-1)*math.Pi/2 + float64(i)*math.Pi/16)
				line(cx+r*cs, cy+r*s)
			}
		}
	}, c)
}

// path fills a polygon. Only the part of the picture in which it lies is looked at.
func (p *painter) path(corners func(line func(x, y float64)), c color.RGBA) {
	var at [][2]float64
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	corners(func(x, y float64) {
		at = append(at, [2]float64{x, y})
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	})
	area := image.Rect(int(left)-1, int(top)-1, int(right)+2, int(bottom)+2).Intersect(p.img.Bounds())
	if area.Empty() {
		return
	}
	p.raster.Reset(area.Dx(), area.Dy())
	for i, v := range at {
		x, y := float32(v[0])-float32(area.Min.X), float32(v[1])-float32(area.Min.Y)
		if i == 0 {
			p.raster.MoveTo(x, y)
		} else {
			p.raster.LineTo(x, y)
		}
	}
	p.raster.ClosePath()
	p.raster.Draw(p.img, area, image.NewUniform(c), image.Point{})
}

func (p *painter) text(s string, size int, weight typeset.Weight, x, y int, ink color.RGBA) {
	if ink.A == 0 {
		return
	}
	block, err := p.words.Set(s, typeset.Style{Size: size, Weight: weight, MaxWidth: 1800, MaxLines: 1})
	if err != nil {
		panic(err) // the styles above are in range
	}
	block.Draw(p.img, image.Pt(x, y), ink)
}
