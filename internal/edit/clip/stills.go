package clip

import (
	"image"
	"time"

	"golang.org/x/image/draw"

	"github.com/proofreel/proofreel/internal/edit/page"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// stills are the frames that are kept as pictures: one for each still of the
// contact sheet, without captions (the sheet has its own), and the poster,
// with them.
type stills struct {
	about page.Clip
	sheet *page.SheetPlan // nil: no steps
	shots map[int64][]int // by frame: indices of the sheet's shots
	taken []image.Image   // by shot

	wish    int64        // the frame that the poster should be; -1: any
	poster  *pixel.Frame // the wished frame, when it is not blank
	richest *pixel.Frame // the frame with the most on it
	richAt  int64        // the frame at which the richest picture came; -1: it was taken
	score   float64
}

// blank is the content under which a picture shows nothing.
const blank = 0.002

func newStills(m *maker, r *rendered) *stills {
	s := &stills{about: m.describe(r), shots: map[int64][]int{}, wish: wish(r.plan), richAt: -1}
	sheet, err := page.PlanSheet(s.about)
	if err != nil {
		return s // without steps there is no sheet
	}
	s.sheet, s.taken = sheet, make([]image.Image, len(sheet.Shots))
	for i, shot := range sheet.Shots {
		f := r.plan.Frame(shot.At)
		s.shots[f] = append(s.shots[f], i)
	}
	return s
}

// wish is the frame that tells most: where the last result has just come, else
// where the last step ends.
func wish(p *timeline.Plan) int64 {
	for i := len(p.Chapters) - 1; i >= 0; i-- {
		c := p.Chapters[i]
		if n := len(c.Results); n > 0 {
			return max(min(p.Frame(p.Time(c.Results[n-1].In)+300*time.Millisecond), c.Out-1), 0)
		}
	}
	if n := len(p.Chapters); n > 0 {
		return max(p.Chapters[n-1].Out-1, 0)
	}
	return -1
}

// picture looks at a new picture, which comes with frame f.
func (s *stills) picture(f int64, clean *pixel.Frame) {
	if c := content(clean); s.richest == nil || c > s.score*1.05 {
		s.score, s.richAt = c, f
	}
}

// frame keeps the frame where it is wanted. Not all that come are sent.
func (s *stills) frame(f int64, clean, out *pixel.Frame) {
	for _, shot := range s.shots[f] {
		s.taken[shot] = scaled(toRGBA(clean), s.sheet.Tile)
	}
	if f == s.wish && content(clean) >= blank {
		s.poster = keep(s.poster, out)
	}
	if f == s.richAt {
		s.richest, s.richAt = keep(s.richest, out), -1
	}
}

// best is the poster.
func (s *stills) best() *image.RGBA {
	f := s.poster
	if f == nil {
		f = s.richest
	}
	return toRGBA(f)
}

func keep(into, f *pixel.Frame) *pixel.Frame {
	if into == nil {
		into = &pixel.Frame{Picture: f.Picture, Width: f.Width, Height: f.Height, Data: make([]byte, len(f.Data))}
		luma, chroma := len(f.Y), len(f.U)
		into.Y, into.U, into.V = into.Data[:luma], into.Data[luma:luma+chroma], into.Data[luma+chroma:]
	}
	copy(into.Data, f.Data)
	return into
}

// content is the share of places at which a picture has an edge: about 0 for a
// blank page, 0.1 for a full one.
func content(f *pixel.Frame) float64 {
	edges, all := 0, 0
	for y := 0; y < f.Height; y += 4 {
		row := f.Y[y*f.Width:][:f.Width]
		for x := 2; x < len(row); x += 4 {
			all++
			if d := int(row[x]) - int(row[x-2]); d > 16 || d < -16 {
				edges++
			}
		}
	}
	return float64(edges) / float64(max(all, 1))
}

// toRGBA turns a frame into RGB: BT.709, limited range (ITU-R BT.709-6, 3).
func toRGBA(f *pixel.Frame) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, f.Width, f.Height))
	for y := range f.Height {
		row := img.Pix[y*img.Stride:][:4*f.Width]
		luma, chroma := f.Y[y*f.Width:], y/2*(f.Width/2)
		for x := range f.Width {
			l := 1.164383 * (float32(luma[x]) - 16)
			u, v := float32(f.U[chroma+x/2])-128, float32(f.V[chroma+x/2])-128
			row[4*x] = byte8(l + 1.792741*v)
			row[4*x+1] = byte8(l - 0.213249*u - 0.532909*v)
			row[4*x+2] = byte8(l + 2.112402*u)
			row[4*x+3] = 255
		}
	}
	return img
}

func byte8(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

func scaled(img *image.RGBA, size image.Point) image.Image {
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}
