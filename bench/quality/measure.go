package main

import (
	"image"
	"math"
)

// identical is the PSNR that stands for no difference at all, in dB.
const identical = 99.0

// psnr turns a mean squared error of 8-bit samples into dB.
func psnr(mse float64) float64 {
	if mse <= 0 {
		return identical
	}
	return min(identical, 10*math.Log10(255*255/mse))
}

// planeMSE compares one plane of two pictures in a crop given in luma pixels.
func planeMSE(a, b yuv, plane int, r image.Rectangle) float64 {
	sub := 1
	if plane > 0 {
		sub = a.sub
	}
	w := a.w / sub
	sum, n := 0, 0
	for y := r.Min.Y / sub; y < r.Max.Y/sub; y++ {
		for x := r.Min.X / sub; x < r.Max.X/sub; x++ {
			d := int(a.planes[plane][y*w+x]) - int(b.planes[plane][y*w+x])
			sum += d * d
			n++
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// chromaMSE444 compares the chroma that a viewer gets, each sample standing for its
// block, with the chroma of the full-resolution source.
func chromaMSE444(decoded, source444 yuv, plane int, r image.Rectangle) float64 {
	sum, n := 0, 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			shown := decoded.planes[plane][y/decoded.sub*(decoded.w/decoded.sub)+x/decoded.sub]
			d := int(shown) - int(source444.planes[plane][y*source444.w+x])
			sum += d * d
			n++
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// rgbMSE compares what a viewer sees with the picture before any conversion.
func rgbMSE(decoded yuv, source rgb, rect image.Rectangle) float64 {
	sum, n := 0, 0
	for y := rect.Min.Y; y < rect.Max.Y; y++ {
		for x := rect.Min.X; x < rect.Max.X; x++ {
			r, g, b := decoded.toRGB(x, y)
			at := 3 * (y*source.w + x)
			for i, v := range [3]uint8{r, g, b} {
				d := int(v) - int(source.pix[at+i])
				sum += d * d
			}
			n += 3
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// SSIM as in Wang et al. 2004, with flat 8x8 windows at every fourth sample.
const ssimWindow, ssimStep = 8, 4

// lumaSSIM is the mean structural similarity of a crop's luma; 1 is identical.
func lumaSSIM(a, b yuv, r image.Rectangle) float64 {
	sum, n := 0.0, 0
	for y := r.Min.Y; y+ssimWindow <= r.Max.Y; y += ssimStep {
		for x := r.Min.X; x+ssimWindow <= r.Max.X; x += ssimStep {
			sum += windowSSIM(a, b, x, y)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func windowSSIM(a, b yuv, x0, y0 int) float64 {
	const c1, c2, n = 0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255, ssimWindow * ssimWindow
	var sa, sb, saa, sbb, sab float64
	for y := y0; y < y0+ssimWindow; y++ {
		for x := x0; x < x0+ssimWindow; x++ {
			va, vb := float64(a.planes[0][y*a.w+x]), float64(b.planes[0][y*b.w+x])
			sa, sb, saa, sbb, sab = sa+va, sb+vb, saa+va*va, sbb+vb*vb, sab+va*vb
		}
	}
	ma, mb := sa/n, sb/n
	return (2*ma*mb + c1) * (2*(sab/n-ma*mb) + c2) / ((ma*ma + mb*mb + c1) * (saa/n - ma*ma + sbb/n - mb*mb + c2))
}
