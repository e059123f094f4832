package main

import (
	"image"
	"maps"
)

// scrollStep is how far the scrolling take moves in a frame, in pixels: 480 a second.
const scrollStep = 8

// take is a sequence of frames, each a display's height of one picture, and the crops
// in which it is judged.
type take struct {
	frames  int
	picture rgb
	// converted is the picture in 4:4:4 and in 4:2:0, by the step of their sub.
	converted map[int]yuv
	// top is the picture's row with which frame i begins; it is even, so that a frame's
	// chroma is a part of the picture's.
	top func(i int) int
	// places are the crops in the whole picture.
	places map[string]image.Rectangle
}

func newTake(s shot, frames int, top func(int) int, probes map[string]string) take {
	t := take{frames: frames, picture: newRGB(s.picture), top: top, places: make(map[string]image.Rectangle)}
	t.converted = map[int]yuv{1: convert(t.picture, 1), 2: convert(t.picture, 2)}
	for crop, probe := range probes {
		t.places[crop] = s.rects[probe]
	}
	return t
}

// stillTake is the page, unmoved.
func stillTake(p pages, frames int) take {
	return newTake(p.display, frames, func(int) int { return 0 }, map[string]string{
		"text12": "text-12", "mono12": "text-12-mono", "ladder": "ladder", "edges": "edges", "colourText": "colour-text",
	})
}

// scrollTake moves a display's height down the tall picture. It is judged on the log
// and on the text ladder for as long as they are in view.
func scrollTake(p pages, frames int) take {
	start := p.tall.rects["clock"].Min.Y
	top := func(i int) int { return min(start+i*scrollStep, p.tall.picture.Bounds().Dy()-height) }
	return newTake(p.tall, frames, top, map[string]string{"log": "log", "text12": "text-12"})
}

// source is frame i before conversion; it shares the picture's samples.
func (t take) source(i int) rgb {
	at := 3 * t.picture.w * t.top(i)
	return rgb{w: t.picture.w, h: height, pix: t.picture.pix[at : at+3*t.picture.w*height]}
}

// frame is frame i with chroma every sub pixels; it shares the samples.
func (t take) frame(i, sub int) yuv {
	whole := t.converted[sub]
	out := yuv{w: whole.w, h: height, sub: sub}
	for plane, samples := range whole.planes {
		w, h, top := whole.w, height, t.top(i)
		if plane > 0 {
			w, h, top = w/sub, h/sub, top/sub
		}
		out.planes[plane] = samples[w*top : w*(top+h)]
	}
	return out
}

// minCrop is how much of a crop must be in view to be judged, in rows.
const minCrop = 12

// crops are the places that frame i shows, in its own coordinates.
func (t take) crops(i int) map[string]image.Rectangle {
	view := image.Rect(0, t.top(i), t.picture.w, t.top(i)+height)
	crops := maps.Clone(t.places)
	for name, r := range crops {
		crops[name] = r.Intersect(view).Sub(view.Min)
	}
	maps.DeleteFunc(crops, func(_ string, r image.Rectangle) bool { return r.Dy() < minCrop })
	return crops
}
