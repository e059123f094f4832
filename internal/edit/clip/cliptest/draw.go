package cliptest

import (
	"image"
	"image/color"
	"math/rand/v2"
	"time"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/media/pixel"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// Fill paints a rectangle in a grey; its sides are even.
func Fill(f *pixel.Frame, r recording.Rect, luma byte) {
	for y := r.Y; y < r.Y+r.H; y++ {
		row := f.Y[y*f.Width+r.X:][:r.W]
		for x := range row {
			row[x] = luma
		}
	}
}

// Page paints a page with lines of text.
func Page(set *typeset.Setter, f *pixel.Frame, title string) {
	Fill(f, recording.Rect{W: f.Width, H: f.Height}, 235)
	block, err := set.Set(title+" "+lorem, typeset.Style{Size: max(f.Height/45, 8), MaxWidth: f.Width * 4 / 5, MaxLines: 30})
	if err != nil {
		return // sizes are the caller's
	}
	img := image.NewRGBA(image.Rect(0, 0, block.Width+16, block.Height+16))
	block.Draw(img, image.Pt(0, 0), color.RGBA{0x22, 0x26, 0x2E, 0xFF})
	overlay.NewSprite(img, image.Pt(f.Width/10, f.Height/5)).BlendI420(f, overlay.Opaque)
}

const lorem = "A recording is complete and long; a person wants the minute that matters. " +
	"Still stretches are cut, captions say what is done and how it went, and a click on a step plays from there. " +
	"The clock of the clip is each frame's own time, never a frame count. A changed glyph of eight by sixteen pixels is a change. " +
	"No change that an event points at is ever cut. The hold comes after the speed, so that a caption reads alike at each. " +
	"Whatever happens on the screen while nobody looks is kept in the master, and a clip is only one rendering of it."

// Box changes a rectangle at a time.
func Box(at time.Duration, r recording.Rect, luma byte) Change {
	return Change{At: at, Box: r, Draw: func(f *pixel.Frame) { Fill(f, r, luma) }}
}

// Paint is the first picture: a page.
func Paint(set *typeset.Setter, w, h int, title string) Change {
	return Change{Box: recording.Rect{W: w, H: h}, Draw: func(f *pixel.Frame) { Page(set, f, title) }}
}

// Noise changes every pixel at random, from a time on, so many times a second.
func Noise(w, h int, from, to time.Duration, perSecond int) []Change {
	random := rand.NewChaCha8([32]byte{1})
	var list []Change
	for n := 0; ; n++ {
		at := from + time.Duration(n)*time.Second/time.Duration(perSecond)
		if at >= to {
			return list
		}
		list = append(list, Change{At: at, Box: recording.Rect{W: w, H: h}, Draw: func(f *pixel.Frame) { _, _ = random.Read(f.Data) }})
	}
}

// Step and Result make events.
func Step(at time.Duration, n int, text string) recording.Event {
	return recording.Event{At: at, Kind: recording.EventStep, Text: text, Step: n}
}

// Result makes the event of a step's result.
func Result(at time.Duration, n int, pass bool, text string) recording.Event {
	return recording.Event{At: at, Kind: recording.EventResult, Text: text, Step: n, Pass: &pass}
}
