package overlay

import (
	"image"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// Sprite is a drawn picture with its place in the clip's frame. It is made
// once and blended many times; blending changes nothing in it.
type Sprite struct {
	// Picture is premultiplied; its bounds begin at (0, 0) and are even.
	Picture *image.RGBA
	// At is the place of its top left corner; even, may lie outside the frame.
	At image.Point

	// Premultiplied planes: luma and its alpha of every pixel, chroma and its
	// alpha of every 2x2 block.
	y, alpha, u, v, chromaAlpha []byte
}

// NewSprite places a picture with its top left corner at a point. An odd
// point or size is met by a transparent margin.
func NewSprite(picture *image.RGBA, at image.Point) *Sprite {
	even := image.Pt(at.X&^1, at.Y&^1)
	pad := at.Sub(even)
	b := picture.Bounds()
	w, h := (b.Dx()+pad.X+1)&^1, (b.Dy()+pad.Y+1)&^1
	if pad != (image.Point{}) || b.Min != (image.Point{}) || w != b.Dx() || h != b.Dy() {
		wide := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range b.Dy() {
			from := picture.PixOffset(b.Min.X, b.Min.Y+y)
			copy(wide.Pix[wide.PixOffset(pad.X, pad.Y+y):], picture.Pix[from:from+4*b.Dx()])
		}
		picture = wide
	}
	s := &Sprite{Picture: picture, At: even}
	s.convert(w, h)
	return s
}

// Bounds is the rectangle of the frame that the sprite covers.
func (s *Sprite) Bounds() image.Rectangle { return s.Picture.Bounds().Add(s.At) }

// convert fills the planes: BT.709, limited range (ITU-R BT.709-6, 3 and 4).
func (s *Sprite) convert(w, h int) {
	n := w * h
	buf := make([]byte, 2*n+3*n/4)
	s.y, s.alpha, s.u, s.v, s.chromaAlpha = buf[:n], buf[n:2*n], buf[2*n:2*n+n/4], buf[2*n+n/4:2*n+n/2], buf[2*n+n/2:]
	for by := 0; by < h; by += 2 {
		for bx := 0; bx < w; bx += 2 {
			var sr, sg, sb, sa float64
			for _, o := range [4]image.Point{{X: bx, Y: by}, {X: bx + 1, Y: by}, {X: bx, Y: by + 1}, {X: bx + 1, Y: by + 1}} {
				p := s.Picture.Pix[o.Y*s.Picture.Stride+o.X*4:][:4]
				r, g, b, a := float64(p[0]), float64(p[1]), float64(p[2]), float64(p[3])
				s.y[o.Y*w+o.X] = uint8(16*a/255 + (0.2126*r+0.7152*g+0.0722*b)*219/255 + 0.5)
				s.alpha[o.Y*w+o.X] = p[3]
				sr, sg, sb, sa = sr+r/4, sg+g/4, sb+b/4, sa+a/4
			}
			i := by/2*(w/2) + bx/2
			luma := 0.2126*sr + 0.7152*sg + 0.0722*sb
			s.u[i] = uint8(128*sa/255 + (sb-luma)/1.8556*224/255 + 0.5)
			s.v[i] = uint8(128*sa/255 + (sr-luma)/1.5748*224/255 + 0.5)
			s.chromaAlpha[i] = uint8(sa + 0.5)
		}
	}
}

// Opaque is the opacity of a sprite that is all there.
const Opaque = 256

// BlendI420 blends the sprite onto a frame with an opacity of 0 to Opaque and
// returns the rectangle that it touched.
func (s *Sprite) BlendI420(f *pixel.Frame, opacity int) image.Rectangle {
	area := s.Bounds().Intersect(image.Rect(0, 0, f.Width, f.Height))
	if area.Empty() || opacity <= 0 {
		return image.Rectangle{}
	}
	w := s.Picture.Rect.Dx()
	from := area.Min.Sub(s.At)
	for y := range area.Dy() {
		src, dst := (from.Y+y)*w+from.X, (area.Min.Y+y)*f.Width+area.Min.X
		blendRow(f.Y[dst:dst+area.Dx()], s.y[src:], s.alpha[src:], opacity)
	}
	for y := range area.Dy() / 2 {
		n := area.Dx() / 2
		src, dst := (from.Y/2+y)*(w/2)+from.X/2, (area.Min.Y/2+y)*(f.Width/2)+area.Min.X/2
		blendRow(f.U[dst:dst+n], s.u[src:], s.chromaAlpha[src:], opacity)
		blendRow(f.V[dst:dst+n], s.v[src:], s.chromaAlpha[src:], opacity)
	}
	return area
}

// blendRow computes dst = src + dst*(1-alpha) with src premultiplied.
func blendRow(dst, src, alpha []byte, opacity int) {
	src, alpha = src[:len(dst)], alpha[:len(dst)]
	for i, d := range dst {
		a := uint32(alpha[i])
		switch {
		case a == 0:
		case opacity >= Opaque:
			dst[i] = uint8(min(uint32(src[i])+div255(uint32(d)*(255-a)), 255))
		default:
			// One rounding over the whole sum: separate ones would darken a fade.
			o := uint32(opacity)
			sum := uint32(src[i])*255*o + uint32(d)*(255*Opaque-a*o)
			dst[i] = uint8(min((sum+255*Opaque/2)/(255*Opaque), 255))
		}
	}
}

func div255(v uint32) uint32 { return (v + 128 + (v+128)>>8) >> 8 }

// BlendRGBA blends the sprite onto a premultiplied picture, as BlendI420.
func (s *Sprite) BlendRGBA(dst *image.RGBA, opacity int) image.Rectangle {
	area := s.Bounds().Intersect(dst.Bounds())
	if area.Empty() || opacity <= 0 {
		return image.Rectangle{}
	}
	o := uint32(min(opacity, Opaque))
	for y := area.Min.Y; y < area.Max.Y; y++ {
		d := dst.Pix[dst.PixOffset(area.Min.X, y):][:4*area.Dx()]
		p := s.Picture.Pix[s.Picture.PixOffset(area.Min.X-s.At.X, y-s.At.Y):][:4*area.Dx()]
		for i := 0; i < len(d); i += 4 {
			a := uint32(p[i+3]) * o
			if a == 0 {
				continue
			}
			for c := range 4 {
				sum := uint32(p[i+c])*255*o + uint32(d[i+c])*(255*Opaque-a)
				d[i+c] = uint8(min((sum+255*Opaque/2)/(255*Opaque), 255))
			}
		}
	}
	return area
}
