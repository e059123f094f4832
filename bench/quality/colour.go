package main

import (
	"image"
	"image/color"
	"math"
)

// rgb is a picture of 8-bit R'G'B' triplets.
type rgb struct {
	w, h int
	pix  []uint8
}

func newRGB(src image.Image) rgb {
	r := src.Bounds()
	out := rgb{w: r.Dx(), h: r.Dy(), pix: make([]uint8, 0, 3*r.Dx()*r.Dy())}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := unmultiplied(src.At(x, y))
			out.pix = append(out.pix, c.R, c.G, c.B)
		}
	}
	return out
}

// unmultiplied gives a colour without its alpha in it.
func unmultiplied(c color.Color) color.NRGBA {
	n, _ := color.NRGBAModel.Convert(c).(color.NRGBA) // what this model converts to
	return n
}

// yuv is a planar picture, BT.709, limited range; sub is 2 for 4:2:0 and 1 for 4:4:4.
type yuv struct {
	w, h, sub int
	planes    [3][]uint8
}

func newYUV(w, h, sub int) yuv {
	p := yuv{w: w, h: h, sub: sub}
	p.planes[0] = make([]uint8, w*h)
	p.planes[1] = make([]uint8, w/sub*(h/sub))
	p.planes[2] = make([]uint8, w/sub*(h/sub))
	return p
}

// Luma weights of ITU-R BT.709, section 3.2.
const kr, kb = 0.2126, 0.0722

// convert is the one step from R'G'B' to 8-bit limited Y'CbCr (ITU-R BT.709, sections
// 3.2 to 3.4, in floating point, rounded once). With sub 2 the chroma is that of the
// mean of each block of 2x2 pixels. Sizes must be multiples of sub.
func convert(p rgb, sub int) yuv {
	out := newYUV(p.w, p.h, sub)
	for i := range out.planes[0] {
		r, g, b := float64(p.pix[3*i]), float64(p.pix[3*i+1]), float64(p.pix[3*i+2])
		out.planes[0][i] = round(16 + 219.0/255*luma(r, g, b))
	}
	cw := p.w / sub
	for i := range out.planes[1] {
		r, g, b := p.blockMean(i%cw*sub, i/cw*sub, sub)
		y := luma(r, g, b)
		out.planes[1][i] = round(128 + 224.0/255*(b-y)/(2*(1-kb)))
		out.planes[2][i] = round(128 + 224.0/255*(r-y)/(2*(1-kr)))
	}
	return out
}

func luma(r, g, b float64) float64 { return kr*r + (1-kr-kb)*g + kb*b }

func (p rgb) blockMean(x, y, n int) (r, g, b float64) {
	for dy := range n {
		for dx := range n {
			at := 3 * ((y+dy)*p.w + x + dx)
			r, g, b = r+float64(p.pix[at]), g+float64(p.pix[at+1]), b+float64(p.pix[at+2])
		}
	}
	area := float64(n * n)
	return r / area, g / area, b / area
}

// toRGB is the way back of one pixel, each chroma sample standing for its block.
func (p yuv) toRGB(x, y int) (r, g, b uint8) {
	c := y/p.sub*(p.w/p.sub) + x/p.sub
	luma := (float64(p.planes[0][y*p.w+x]) - 16) * 255 / 219
	cb := (float64(p.planes[1][c]) - 128) * 255 / 224 * 2 * (1 - kb)
	cr := (float64(p.planes[2][c]) - 128) * 255 / 224 * 2 * (1 - kr)
	return round(luma + cr), round(luma - (kb*cb+kr*cr)/(1-kr-kb)), round(luma + cb)
}

func round(v float64) uint8 { return uint8(max(0, min(255, math.Round(v)))) }
