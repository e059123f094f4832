package x11

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// cursor is the pointer's picture and place.
type cursor struct {
	at     image.Point // hot spot on the screen
	hot    image.Point // hot spot in the picture
	size   image.Point
	pixels []uint32 // ARGB, colours multiplied with alpha (XFIXES, GetCursorImage)
}

// box is the part of the screen that the picture covers.
func (c *cursor) box() image.Rectangle {
	if c == nil {
		return image.Rectangle{}
	}
	corner := c.at.Sub(c.hot)
	return image.Rectangle{Min: corner, Max: corner.Add(c.size)}
}

// watchCursor asks for an event whenever the pointer's picture changes.
func (s *screen) watchCursor() error {
	if s.xfixes != nil {
		return fmt.Errorf("the pointer's picture can't be had: %w", s.xfixes)
	}
	err := xfixes.SelectCursorInputChecked(s.conn, s.root, xfixes.CursorNotifyMaskDisplayCursor).Check()
	if err != nil {
		return s.lost("watch the pointer's picture", err)
	}
	return nil
}

// cursor fetches picture and place.
func (s *screen) cursor() (*cursor, error) {
	r, err := xfixes.GetCursorImage(s.conn).Reply()
	if err != nil {
		return nil, s.lost("fetch the pointer's picture", err)
	}
	c := &cursor{
		at:     image.Pt(int(r.X), int(r.Y)),
		hot:    image.Pt(int(r.Xhot), int(r.Yhot)),
		size:   image.Pt(int(r.Width), int(r.Height)),
		pixels: r.CursorImage,
	}
	if len(c.pixels) < c.size.X*c.size.Y {
		return nil, fmt.Errorf("the pointer's picture of %v has %d pixels", c.size, len(c.pixels))
	}
	return c, nil
}

// pointer asks where the pointer is; ok is false while it is on another screen.
func (s *screen) pointer() (p image.Point, ok bool, err error) {
	r, err := xproto.QueryPointer(s.conn, s.root).Reply()
	if err != nil {
		return image.Point{}, false, s.lost("ask for the pointer", err)
	}
	return image.Pt(int(r.RootX), int(r.RootY)), r.SameScreen, nil
}

// draw blends the picture into pixels of r, rows stride bytes apart.
func (c *cursor) draw(pixels []byte, stride int, r image.Rectangle, format pixel.Format) {
	box := c.box()
	part := box.Intersect(r)
	bpp := format.BytesPerPixel()
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			over := c.pixels[(y-box.Min.Y)*c.size.X+x-box.Min.X]
			if over>>24 == 0 {
				continue
			}
			blend(pixels[(y-r.Min.Y)*stride+(x-r.Min.X)*bpp:], over, format)
		}
	}
}

// blend lays one ARGB pixel, multiplied with its alpha, over a screen's pixel.
func blend(p []byte, over uint32, format pixel.Format) {
	keep := 255 - over>>24
	mix := func(under, shift, limit uint32) uint32 {
		// over's 8 bits are spread to the screen's range of 0..limit.
		top := (over>>shift&255*limit*2 + 255) / 510
		return min(limit, top+(under*keep*2+255)/510)
	}
	switch format {
	case pixel.RGB565:
		u := uint32(binary.LittleEndian.Uint16(p))
		v := mix(u>>11, 16, 31)<<11 | mix(u>>5&63, 8, 63)<<5 | mix(u&31, 0, 31)
		binary.LittleEndian.PutUint16(p, uint16(v))
	case pixel.X2R10G10B10:
		u := binary.LittleEndian.Uint32(p)
		v := mix(u>>20&1023, 16, 1023)<<20 | mix(u>>10&1023, 8, 1023)<<10 | mix(u&1023, 0, 1023)
		binary.LittleEndian.PutUint32(p, v)
	default:
		u := binary.LittleEndian.Uint32(p)
		v := mix(u>>16&255, 16, 255)<<16 | mix(u>>8&255, 8, 255)<<8 | mix(u&255, 0, 255)
		binary.LittleEndian.PutUint32(p, v)
	}
}
