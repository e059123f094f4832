package typeset

import (
	"bytes"
	"image"
	"image/color"
	"image/png"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/draw"
	"golang.org/x/image/math/fixed"
)

// Draw draws the block in one colour, emoji in theirs, with its top left
// corner at a point of dst. Baselines lie on whole pixels. What falls outside
// dst is cut off.
func (b *Block) Draw(dst *image.RGBA, at image.Point, ink color.Color) {
	b.setter.mu.Lock()
	defer b.setter.mu.Unlock()
	for i, line := range b.lines {
		baseline := at.Y + i*b.style.LineHeight() + b.style.baseline()
		b.setter.drawLine(dst, line, fixed.I(at.X)+line.x, baseline, ink)
	}
}

// drawLine draws all outlines of a line in one pass of the rasterizer.
func (s *Setter) drawLine(dst *image.RGBA, line setLine, x fixed.Int26_6, baseline int, ink color.Color) {
	area := line.area(x, baseline).Intersect(dst.Bounds())
	if area.Empty() {
		return
	}
	s.raster.Reset(area.Dx(), area.Dy())
	for _, run := range line.runs {
		for _, g := range run.Glyphs {
			if g.GlyphID != 0 { // .notdef never shows
				s.drawGlyph(dst, run, g, area.Min, x, baseline)
			}
			x += g.Advance
		}
	}
	s.raster.Draw(dst, area, image.NewUniform(ink), image.Point{})
}

// area is where a line may draw: over its advance and its height by an em.
func (l setLine) area(x fixed.Int26_6, baseline int) image.Rectangle {
	em := 0
	for _, run := range l.runs {
		em = max(em, run.Size.Ceil())
	}
	return image.Rect(x.Floor()-em, baseline-2*em, (x+l.width).Ceil()+em, baseline+em)
}

func (s *Setter) drawGlyph(dst *image.RGBA, run shaping.Output, g shaping.Glyph, origin image.Point, x fixed.Int26_6, baseline int) {
	dotX := float32(x+g.XOffset)/64 - float32(origin.X)
	dotY := float32(baseline-origin.Y) - float32(g.YOffset)/64
	if bitmap, ok := run.Face.GlyphDataBitmap(g.GlyphID); ok {
		s.drawBitmap(dst, bitmap, g, run.Size*10/9, x+g.XOffset, fixed.I(baseline)-g.YOffset)
		return
	}
	outline, ok := run.Face.GlyphDataOutline(g.GlyphID)
	if !ok {
		return
	}
	scale := float32(run.Size) / 64 / float32(run.Face.Upem())
	point := func(p opentype.SegmentPoint) (float32, float32) { return dotX + p.X*scale, dotY - p.Y*scale }
	for i, seg := range outline.Segments {
		ax, ay := point(seg.Args[0])
		bx, by := point(seg.Args[1])
		cx, cy := point(seg.Args[2])
		switch seg.Op {
		case opentype.SegmentOpMoveTo:
			if i > 0 {
				s.raster.ClosePath()
			}
			s.raster.MoveTo(ax, ay)
		case opentype.SegmentOpLineTo:
			s.raster.LineTo(ax, ay)
		case opentype.SegmentOpQuadTo:
			s.raster.QuadTo(ax, ay, bx, by)
		case opentype.SegmentOpCubeTo:
			s.raster.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	s.raster.ClosePath()
}

// drawBitmap scales an emoji's picture to its place, on whole pixels: it has
// edges of its own.
func (s *Setter) drawBitmap(dst *image.RGBA, bitmap font.GlyphBitmap, g shaping.Glyph, size, x, y fixed.Int26_6) {
	picture, ok := s.pictures[g.GlyphID]
	if !ok {
		decoded, err := png.Decode(bytes.NewReader(bitmap.Data))
		if err != nil {
			return // the embedded font is checked by a test; nothing is better than a box
		}
		picture = decoded
		s.pictures[g.GlyphID] = picture
	}
	// Its middle lies on the middle of the capital letters beside it.
	height := -g.Height.Round()
	left, top := (x + g.XBearing).Round(), (y-size*capHeight/2000).Round()-height/2
	place := image.Rect(left, top, left+g.Width.Round(), top+height)
	draw.CatmullRom.Scale(dst, place, picture, picture.Bounds(), draw.Over, nil)
}
