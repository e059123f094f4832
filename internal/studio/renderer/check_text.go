package renderer

import (
	"fmt"
	"image"
	"math"

	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// What text must be to be read in a film that is played in a window.
const (
	smallText   = 24.0 // pixels of the font in a frame of 1080 rows
	lowContrast = 3.0  // WCAG 2.2, 1.4.3, of large text: text of a film is large
	hidden      = 1.15 // what has less is covered by something, or left out on purpose
	opaque      = 0.9  // less than this comes or goes
	ring        = 3    // pixels around a text in which its background is looked for
)

// textKey tells texts apart: what is drawn, and by which line.
type textKey struct {
	text  string
	place scene.Place
}

// textSeen is what is known of a text over all frames that were looked at.
type textSeen struct {
	frames, outside, faint int
	first                  int // frame
	size                   float64
	contrast               float64
}

// texts gathers what was drawn where.
type texts struct {
	seen  map[textKey]*textSeen
	order []textKey
}

// look takes the texts of a frame, with its pixels.
func (x *texts) look(n int, list []stage.Text, f stage.Frame) {
	if x.seen == nil {
		x.seen = map[textKey]*textSeen{}
	}
	frame := image.Rect(0, 0, f.Width, f.Height)
	once := map[textKey]bool{} // a text that is drawn several times in a frame has a shadow
	for _, t := range list {
		key := textKey{t.Text, t.Place}
		if t.Alpha < opaque || t.Box.Empty() || once[key] {
			continue
		}
		once[key] = true
		s := x.seen[key]
		if s == nil {
			s = &textSeen{first: n, size: t.Size * 1080 / float64(min(f.Width, f.Height)), contrast: math.Inf(1)}
			x.seen[key] = s
			x.order = append(x.order, key)
		}
		s.frames++
		s.size = max(s.size, t.Size*1080/float64(min(f.Width, f.Height)))
		if !t.Box.In(frame) {
			s.outside++
			continue
		}
		if c := visible(f, t.Box); c < lowContrast && c > hidden {
			s.faint++
			s.contrast = min(s.contrast, c)
		}
	}
}

// findings warn of what holds in every frame that shows a text: text that comes
// from outside, grows or fades in is movement. Texts that one line of the scene
// draws are one finding.
func (x *texts) findings() []Finding {
	var all []Finding
	more := map[[2]string]int{} // code and place to the others of the finding
	add := func(key textKey, s *textSeen, code, what, hint string) {
		id := [2]string{code, key.place.String()}
		more[id]++
		if more[id] > 1 {
			return
		}
		all = append(all, Finding{Code: code, Text: fmt.Sprintf("the text %q %s", short(key.text), what), Frame: s.first, Place: key.place, Hint: hint})
	}
	for _, key := range x.order {
		s := x.seen[key]
		if s.frames > 1 && s.outside == s.frames {
			add(key, s, "text_outside", "reaches outside of the frame", "env.text.fit finds the size at which a text fits.")
		}
		if s.size <= smallText-0.5 {
			add(key, s, "text_small", fmt.Sprintf("has a size of %.0f pixels in a frame of 1080 rows", s.size), fmt.Sprintf("Less than %.0f can't be read in a window.", smallText))
		}
		if s.frames > 1 && s.faint == s.frames {
			add(key, s, "text_faint", fmt.Sprintf("has a contrast of %.1f to what is around it", s.contrast), fmt.Sprintf("%.0f is the least for large text.", lowContrast))
		}
	}
	for i, f := range all {
		if n := more[[2]string{f.Code, f.Place.String()}] - 1; n > 0 {
			all[i].Text += fmt.Sprintf(" (and %d more of this line)", n)
		}
	}
	return all
}

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

// visible is the contrast of a text as it is to be seen: of the pixel in its box
// that differs most from the mean of a ring around the box. So it holds for
// every fill, and for what was drawn over the text.
func visible(f stage.Frame, box image.Rectangle) float64 {
	outer := box.Inset(-ring).Intersect(image.Rect(0, 0, f.Width, f.Height))
	var sum, n float64
	low, high := 1.0, 0.0
	linear := linearTable()
	for y := outer.Min.Y; y < outer.Max.Y; y++ {
		row := f.Pix[y*f.Stride:]
		for x := outer.Min.X; x < outer.Max.X; x++ {
			// Relative luminance of WCAG 2.2, 0 to 1.
			l := 0.2126*linear[row[4*x+2]] + 0.7152*linear[row[4*x+1]] + 0.0722*linear[row[4*x]]
			if image.Pt(x, y).In(box) {
				low, high = min(low, l), max(high, l)
			} else {
				sum += l
				n++
			}
		}
	}
	if n == 0 {
		return hidden // the text fills the frame: there is nothing around it
	}
	back := sum / n
	return max((high+0.05)/(back+0.05), (back+0.05)/(low+0.05))
}

// linearTable turns sRGB's bytes into light, 0 to 1.
func linearTable() (t [256]float64) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			t[i] = v / 12.92
		} else {
			t[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return t
}
