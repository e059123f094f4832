package main

import "image"

// sums gathers the errors of one crop over a take.
type sums struct {
	frames, full int
	planes       [3]float64
	worst        float64
	chroma       [3]float64
	rgb, ssim    float64
}

func (s *sums) addPlanes(decoded, source yuv, r image.Rectangle) {
	s.frames++
	for plane := range s.planes {
		mse := planeMSE(decoded, source, plane, r)
		s.planes[plane] += mse
		if plane == 0 {
			s.worst = max(s.worst, mse)
		}
	}
}

func (s *sums) addFull(decoded, source, source444 yuv, picture rgb, r image.Rectangle) {
	s.full++
	s.ssim += lumaSSIM(decoded, source, r)
	s.rgb += rgbMSE(decoded, picture, r)
	for plane := 1; plane < 3; plane++ {
		s.chroma[plane] += chromaMSE444(decoded, source444, plane, r)
	}
}

func (s *sums) crop() Crop {
	n, full := float64(s.frames), float64(max(s.full, 1))
	return Crop{
		Luma: psnr(s.planes[0] / n), LumaWorst: psnr(s.worst), SSIM: s.ssim / full,
		U: psnr(s.planes[1] / n), V: psnr(s.planes[2] / n),
		U444: psnr(s.chroma[1] / full), V444: psnr(s.chroma[2] / full), RGB: psnr(s.rgb / full),
	}
}
