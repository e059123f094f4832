package overlay

import (
	"image"
	"image/color"
	"strings"

	"github.com/proofreel/proofreel/internal/media/typeset"
)

// look is how a kind of caption is drawn.
type look struct {
	fill, edge, mark, ink color.NRGBA
	weight                typeset.Weight
	icon                  icon
	small                 bool
}

// icon draws a mark of a height of 1 em capital letters into a square of side
// d at (x, y); mirrored for text that runs from right to left.
type icon func(x, y, d float64, mirrored bool) shape

// looks: contrast is the measure. White on the step's grey over a white page
// has 8:1, the blue mark 4:1; over black both have more.
func lookOf(k Kind) look {
	white := color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	hairline := color.NRGBA{R: 255, G: 255, B: 255, A: 38}
	brighter := color.NRGBA{R: 255, G: 255, B: 255, A: 56} // near-black must be seen over black, too
	grey := color.NRGBA{R: 0x2E, G: 0x31, B: 0x37, A: 228}
	black := color.NRGBA{R: 0x0C, G: 0x0D, B: 0x10, A: 240}
	switch k {
	case Passed:
		return look{fill: black, edge: brighter, mark: color.NRGBA{R: 0x3D, G: 0xD6, B: 0x6B, A: 255}, ink: white, icon: check}
	case Failed:
		return look{fill: black, edge: brighter, mark: color.NRGBA{R: 0xFF, G: 0x5F, B: 0x57, A: 255}, ink: white, icon: cross}
	case Skip:
		return look{fill: grey, edge: hairline, mark: white, ink: white, weight: typeset.SemiBold, icon: forward, small: true}
	case Speed:
		return look{fill: grey, edge: hairline, ink: white, weight: typeset.SemiBold, small: true}
	default:
		return look{fill: grey, edge: hairline, mark: color.NRGBA{R: 0x5C, G: 0xB0, B: 0xFF, A: 255}, ink: white, weight: typeset.SemiBold, icon: play}
	}
}

func play(x, y, d float64, mirrored bool) shape {
	r := d * 0.08
	left, right, top, bottom := x+d*0.06+r, x+d*1.04-r, y-d*0.04+r, y+d*1.04-r
	if mirrored {
		left, right = x+d-(left-x), x+d-(right-x)
	}
	return polygon(r, [2]float64{left, top}, [2]float64{right, y + d/2}, [2]float64{left, bottom})
}

// forward is two triangles; it is as wide as 1.6 of its height.
func forward(x, y, d float64, mirrored bool) shape {
	a, b := play(x-d*0.06, y+d*0.04, d*0.92, mirrored), play(x+d*0.72, y+d*0.04, d*0.92, mirrored)
	return func(x, y float64) float64 { return min(a(x, y), b(x, y)) }
}

func check(x, y, d float64, _ bool) shape {
	return stroke(d*0.19, [2]float64{x + d*0.08, y + d*0.55}, [2]float64{x + d*0.36, y + d*0.83}, [2]float64{x + d*0.94, y + d*0.17})
}

func cross(x, y, d float64, _ bool) shape {
	a := stroke(d*0.19, [2]float64{x + d*0.14, y + d*0.14}, [2]float64{x + d*0.86, y + d*0.86})
	b := stroke(d*0.19, [2]float64{x + d*0.86, y + d*0.14}, [2]float64{x + d*0.14, y + d*0.86})
	return func(x, y float64) float64 { return min(a(x, y), b(x, y)) }
}

// pill is one caption set for a screen: its sizes are known before it is
// drawn.
type pill struct {
	look   look
	block  *typeset.Block
	size   image.Point // without its shadow; even
	em     int
	margin int // room for the shadow around it; even
}

// newPill sets a caption's text. room is the width that it may take.
func newPill(set *typeset.Setter, c Caption, em, room int) (*pill, error) {
	p := &pill{look: lookOf(c.Kind), em: em, margin: em/2*2 + 2}
	lines := 2
	if p.look.small {
		p.em, lines = max(em*4/5, 10), 1
	}
	style := typeset.Style{
		Size: p.em, Weight: p.look.weight, MaxLines: lines, Balanced: true,
		MaxWidth: max(min(room-p.left()-p.padX(), 38*p.em), 2*p.em),
	}
	text := c.Text
	if c.Kind == Skip { // the mark is drawn, better than a font's
		text = strings.TrimLeft(text, "▶⏩\ufe0f ")
	}
	block, err := set.Set(text, style)
	if err != nil {
		return nil, err
	}
	p.block = block
	height := max(block.Height, style.LineHeight()) + 2*p.padY()
	p.size = image.Pt((p.left()+block.Width+p.padX()+1)&^1, (height+1)&^1)
	return p, nil
}

func (p *pill) padX() int { return p.em * 17 / 20 }
func (p *pill) padY() int { return p.em * 8 / 20 }

// left is the distance from the pill's edge to its text: padding and mark.
func (p *pill) left() int {
	if p.look.icon == nil {
		return p.padX()
	}
	return p.padX() - p.em/10 + p.iconWidth() + p.em*9/20
}

func (p *pill) iconWidth() int {
	if p.look.small {
		return p.iconSide() * 33 / 20
	}
	return p.iconSide()
}

// iconSide makes marks as high as a capital letter.
func (p *pill) iconSide() int { return (p.em*73 + 50) / 100 }

// body is the pill without text, in a picture that has room for its shadow.
// Between the round ends all columns are alike: one is drawn and repeated.
func (p *pill) body() *image.RGBA {
	m, h := p.margin, p.size.Y
	radius := min(float64(h)/2, float64(p.em)*1.05)
	end := m + int(radius) + p.em
	width := min(2*end+2, p.size.X+2*m)
	short := image.NewRGBA(image.Rect(0, 0, width, h+2*m))
	s := roundRect(float64(m), float64(m), float64(width-2*m), float64(h), radius)
	shadow(short, s, float64(p.em)*0.55, float64(p.em)*0.1, 0.28)
	paint(short, short.Bounds(), s, p.look.fill)
	line := max(1, float64(p.em)/22)
	paint(short, short.Bounds(), func(x, y float64) float64 { d := s(x, y); return max(d, -d-line) }, p.look.edge)
	if width == p.size.X+2*m {
		return short
	}
	img := image.NewRGBA(image.Rect(0, 0, p.size.X+2*m, h+2*m))
	for y := range h + 2*m {
		from, to := short.Pix[y*short.Stride:][:4*width], img.Pix[y*img.Stride:][:img.Stride]
		copy(to, from[:4*end])
		for x := 4 * end; x < len(to)-4*end; x += 4 {
			copy(to[x:], from[4*end:4*end+4])
		}
		copy(to[len(to)-4*end:], from[len(from)-4*end:])
	}
	return img
}

// draw returns the picture of the pill, its shadow included.
func (p *pill) draw() *image.RGBA {
	m, img := p.margin, p.body()
	lineHeight := (p.em*13 + 5) / 10
	text := image.Pt(m+p.left(), m+(p.size.Y-max(p.block.Height, lineHeight))/2)
	side := p.iconSide()
	mark := image.Pt(m+p.padX()-p.em/10, text.Y+(lineHeight-side+1)/2)
	if p.block.RightToLeft {
		text.X = m + p.size.X - p.left() - p.block.Width
		mark.X = m + p.size.X - p.padX() + p.em/10 - p.iconWidth()
	}
	if p.look.icon != nil {
		s := p.look.icon(float64(mark.X), float64(mark.Y), float64(side), p.block.RightToLeft)
		paint(img, image.Rect(mark.X-side, mark.Y-side, mark.X+p.iconWidth()+side, mark.Y+2*side), s, p.look.mark)
	}
	p.block.Draw(img, text, p.look.ink)
	return img
}
