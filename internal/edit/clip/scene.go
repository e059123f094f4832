package clip

import (
	"image"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/typeset"
)

// scene is a picture of the film with the clip's frames that show it.
type scene struct {
	sample   int
	from, to int64 // clip frames, to not included
}

// scenes says which picture each frame of a plan shows.
func (s *source) scenes(p *timeline.Plan) []scene {
	var list []scene
	for f := range p.Frames {
		sample := s.shown(p.TickAt(f))
		if n := len(list); n > 0 && list[n-1].sample == sample {
			list[n-1].to = f + 1
			continue
		}
		list = append(list, scene{sample, f, f + 1})
	}
	return list
}

// needed are the samples that the decoder must get to show the scenes: each
// picture with all before it that it depends on.
func (s *source) needed(list []scene) []fed {
	var all []fed
	next := 0 // the first sample that was not given
	for _, sc := range list {
		from := max(s.key(sc.sample), next)
		for n := from; n <= sc.sample; n++ {
			all = append(all, fed{sample: n, wanted: n == sc.sample})
		}
		next = sc.sample + 1
	}
	return all
}

// size is the clip's size for a width: the film's aspect, even, never larger.
func (s *source) size(width int) image.Point {
	w := min(width, s.track.Width) &^ 1
	h := (s.track.Height*w/s.track.Width + 1) &^ 1
	return image.Pt(w, max(h, 2))
}

// captions puts a plan's pills and marks up.
func captions(set *typeset.Setter, p *timeline.Plan, size image.Point) (*overlay.Track, error) {
	var list []overlay.Caption
	for _, c := range p.Pills {
		kind := overlay.Step
		if c.Kind == recording.EventResult {
			kind = overlay.Failed
			if c.Pass != nil && *c.Pass {
				kind = overlay.Passed
			}
		}
		list = append(list, overlay.Caption{Kind: kind, Text: c.Text, In: p.Time(c.In), Out: p.Time(c.Out)})
	}
	for _, c := range p.Marks {
		kind := overlay.Skip
		if c.Kind == timeline.MarkSpeed {
			kind = overlay.Speed
		}
		list = append(list, overlay.Caption{Kind: kind, Text: c.Text, In: p.Time(c.In), Out: p.Time(c.Out)})
	}
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // nothing to draw is no fault
	}
	position := overlay.Top
	if p.Options.Position == timeline.Bottom {
		position = overlay.Bottom
	}
	return overlay.NewTrack(set, list, overlay.Screen{Width: size.X, Height: size.Y, Position: position, Frame: p.Time(1)}) //nolint:wrapcheck // it is told as a note
}
