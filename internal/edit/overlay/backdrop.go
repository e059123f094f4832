package overlay

import (
	"fmt"
	"image"
	"image/color"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// Backdrop is a background with room for the picture, whose corners are round
// and which throws a shadow.
type Backdrop struct {
	// Inner is where the picture goes: even in place and size.
	Inner image.Rectangle

	size    image.Point
	ground  *pixel.Frame
	corners []*Sprite // background over the picture's corners
}

// NewBackdrop makes the background of a clip of width by height pixels (64 at
// least). The picture inside keeps the frame's aspect.
func NewBackdrop(width, height int) (*Backdrop, error) {
	if width < 64 || height < 64 {
		return nil, fmt.Errorf("%w: %dx%d", ErrScreen, width, height)
	}
	frame, err := pixel.NewFrame(width, height)
	if err != nil {
		return nil, err
	}
	margin := even(min(width, height) * 6 / 100)
	w := (width - 2*margin) &^ 1
	h := (w*height/width + 1) &^ 1
	x, y := even((width-w)/2), even((height-h)/2)
	b := &Backdrop{Inner: image.Rect(x, y, x+w, y+h), size: image.Pt(width, height), ground: frame}
	ground := b.draw(margin)
	NewSprite(ground, image.Point{}).BlendI420(frame, Opaque)
	b.cutCorners(ground, margin)
	return b, nil
}

// radius of the picture's corners for a margin.
func radius(margin int) float64 { return float64(margin) * 0.3 }

func (b *Backdrop) body(margin int) shape {
	return roundRect(float64(b.Inner.Min.X), float64(b.Inner.Min.Y), float64(b.Inner.Dx()), float64(b.Inner.Dy()), radius(margin))
}

// draw returns the background with the shadow of the picture. The gradient is
// slow and dark: a background mustn't be brighter than what stands on it.
func (b *Backdrop) draw(margin int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, b.size.X, b.size.Y))
	from, to := [3]float64{0x3B, 0x4A, 0x7A}, [3]float64{0x6E, 0x4B, 0x7E}
	for y := range b.size.Y {
		for x := range b.size.X {
			t := (float64(x)/float64(b.size.X) + float64(y)/float64(b.size.Y)) / 2
			// An ordered dither keeps the bands of a slow gradient out of 8 bits.
			d := float64((x*5+y*3)%8)/8 - 0.5
			p := img.Pix[img.PixOffset(x, y):][:4]
			for i := range 3 {
				p[i] = uint8(from[i] + (to[i]-from[i])*t + d + 0.5)
			}
			p[3] = 255
		}
	}
	shadow(img, b.body(margin), float64(margin)*0.9, float64(margin)*0.15, 0.45)
	return img
}

// cutCorners keeps what of the background lies over the picture's corners.
func (b *Backdrop) cutCorners(ground *image.RGBA, margin int) {
	body, r := b.body(margin), even(int(radius(margin))+2)
	in := b.Inner
	for _, at := range []image.Point{in.Min, {X: in.Max.X - r, Y: in.Min.Y}, {X: in.Min.X, Y: in.Max.Y - r}, {X: in.Max.X - r, Y: in.Max.Y - r}} {
		img := image.NewRGBA(image.Rect(0, 0, r, r))
		for y := range r {
			for x := range r {
				a := 1 - coverage(body(float64(at.X+x)+0.5, float64(at.Y+y)+0.5))
				g := ground.Pix[ground.PixOffset(at.X+x, at.Y+y):][:4]
				over(img, x, y, color.NRGBA{R: g[0], G: g[1], B: g[2], A: 255}, a)
			}
		}
		b.corners = append(b.corners, NewSprite(img, at))
	}
}

// Compose fills dst, a frame of the backdrop's size, with the background and
// the picture inside, which must have the size of Inner.
func (b *Backdrop) Compose(dst, picture *pixel.Frame) error {
	if dst.Width != b.ground.Width || dst.Height != b.ground.Height || picture.Width != b.Inner.Dx() || picture.Height != b.Inner.Dy() {
		return fmt.Errorf("backdrop of %dx%d around %v: frame %dx%d, picture %dx%d",
			b.ground.Width, b.ground.Height, b.Inner, dst.Width, dst.Height, picture.Width, picture.Height)
	}
	copy(dst.Data, b.ground.Data)
	put := func(to []byte, stride int, from []byte, w, h, x, y int) {
		for row := range h {
			copy(to[(y+row)*stride+x:], from[row*w:][:w])
		}
	}
	in := b.Inner
	put(dst.Y, dst.Width, picture.Y, in.Dx(), in.Dy(), in.Min.X, in.Min.Y)
	put(dst.U, dst.Width/2, picture.U, in.Dx()/2, in.Dy()/2, in.Min.X/2, in.Min.Y/2)
	put(dst.V, dst.Width/2, picture.V, in.Dx()/2, in.Dy()/2, in.Min.X/2, in.Min.Y/2)
	for _, c := range b.corners {
		c.BlendI420(dst, Opaque)
	}
	return nil
}
