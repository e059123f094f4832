package encode

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
)

const (
	posterSamples = 20
	posterQuality = 90 // of the JPEG, 1 to 100
	// posterEarly is the part of a film in which titles still come in; a frame
	// of it must be that much better to be chosen.
	posterEarly, posterHandicap = 0.2, 0.6
)

// score says how telling a frame is, 0 to 1.
type score struct {
	Frame int     `json:"frame"`
	Score float64 `json:"score"`
}

// better says whether a frame is to be the poster rather than another. Of two
// equal ones it is the earlier, whichever was drawn first.
func (s score) better(than score) bool {
	return s.Score > than.Score || s.Score == than.Score && s.Frame < than.Frame
}

// sampled gives the frames that are looked at for the poster: evenly spread,
// the first and the last included only in very short films.
func sampled(frames int) map[int]bool {
	n := min(posterSamples, frames)
	all := make(map[int]bool, n)
	for i := range n {
		all[(2*i+1)*frames/(2*n)] = true
	}
	return all
}

// rate scores a frame: by how much there is to see (edges, and how much of the
// picture they fill), by contrast and by colour. A uniform frame has 0, and one
// that fades has less than the same when it is fully there.
func rate(f Frame, frame, frames int) score {
	m := look(f)
	s := 0.35*math.Sqrt(min(m.edges/24, 1)) + 0.25*m.filled + 0.2*min(m.contrast/64, 1) + 0.2*min(m.colour/90, 1)
	if m.contrast < 1 {
		s = 0
	}
	if float64(frame) < posterEarly*float64(frames) {
		s *= posterHandicap
	}
	// Rounded, so that no processor's last bit chooses.
	return score{Frame: frame, Score: math.Round(s*1e6) / 1e6}
}

// measures of one frame. All but filled are in steps of 8-bit values.
type measures struct {
	edges    float64 // mean difference of neighbours
	contrast float64 // standard deviation of luma
	colour   float64 // Hasler and Süsstrunk's colourfulness, 2003
	filled   float64 // part of the tiles in which there is any detail
}

// tiles is how many tiles a picture has in each direction.
const tiles = 12

// look measures a frame on a grid of at most 480 by 480 points: an edge that is
// not on it does not show on a poster's thumbnail either.
func look(f Frame) measures {
	step := max(1, max(f.Width, f.Height)/480)
	w, h := f.Width/step, f.Height/step
	var luma, rg, yb moments
	var tile [tiles * tiles]moments
	edges := 0.0
	above := make([]float64, w)
	for y := range h {
		row := f.Pix[y*step*f.Stride:]
		left := 0.0
		for x := range w {
			p := row[4*x*step : 4*x*step+3 : 4*x*step+3]
			b, g, r := float64(p[0]), float64(p[1]), float64(p[2])
			v := 0.2126*r + 0.7152*g + 0.0722*b
			if x > 0 && y > 0 {
				edges += (math.Abs(v-left) + math.Abs(v-above[x])) / 2
			}
			left, above[x] = v, v
			luma.add(v)
			tile[y*tiles/h*tiles+x*tiles/w].add(v)
			rg.add(r - g)
			yb.add((r+g)/2 - b)
		}
	}
	m := measures{edges: edges / float64(w*h), contrast: luma.deviation()}
	m.colour = math.Hypot(rg.deviation(), yb.deviation()) + 0.3*math.Hypot(rg.mean(), yb.mean())
	for i := range tile {
		if tile[i].deviation() > 3 {
			m.filled += 1.0 / (tiles * tiles)
		}
	}
	return m
}

// moments sums up values for their mean and deviation.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

func (m *moments) mean() float64 { return m.sum / max(m.n, 1) }

func (m *moments) deviation() float64 {
	mean := m.mean()
	return math.Sqrt(max(m.squares/max(m.n, 1)-mean*mean, 0))
}

// toJPEG encodes a frame: baseline, without any metadata.
func toJPEG(f Frame) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	for y := range f.Height {
		src, dst := f.Pix[y*f.Stride:], img.Pix[y*img.Stride:(y+1)*img.Stride]
		for i := 0; i < len(dst); i += 4 {
			dst[i], dst[i+1], dst[i+2], dst[i+3] = src[i+2], src[i+1], src[i], 255
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: posterQuality}); err != nil {
		return nil, fmt.Errorf("encode the poster: %w", err)
	}
	return out.Bytes(), nil
}

// clone copies a frame out of its owner's memory.
func (f Frame) clone() Frame {
	c := Frame{Width: f.Width, Height: f.Height, Stride: 4 * f.Width}
	c.Pix = make([]byte, 0, c.Stride*c.Height)
	for y := range f.Height {
		c.Pix = append(c.Pix, f.Pix[y*f.Stride:y*f.Stride+c.Stride]...)
	}
	return c
}
