package clip

import (
	"context"
	"image"

	"github.com/proofreel/proofreel/internal/edit/page"
	"github.com/proofreel/proofreel/internal/edit/still"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/pixel"
)

// study learns what changed when: from the damage log, else from the decoded
// film. It makes the timeline's input.
func (m *maker) study(ctx context.Context) error {
	m.notes = append(m.notes, m.src.notes...)
	length := m.src.time(m.src.ticks)
	m.input = timeline.Input{Length: length, FPS: m.src.track.FPS, Start: m.src.start, Events: m.src.events}
	if len(m.src.damage) > 0 {
		if err := m.distrust(ctx); err != nil {
			return err
		}
	}
	found := still.FromDamage(m.src.damage, m.src.track.FPS, length)
	if len(m.src.damage) == 0 {
		var err error
		if found, err = m.look(ctx); err != nil {
			return err
		}
	}
	for _, s := range found.Still {
		m.input.Still = append(m.input.Still, timeline.Span(s))
	}
	for _, g := range m.src.gaps() {
		m.input.Gaps = append(m.input.Gaps, timeline.Span{From: g[0], To: g[1]})
	}
	for _, c := range found.Changes {
		var box image.Rectangle
		for _, r := range c.Boxes {
			box = box.Union(image.Rect(r.X, r.Y, r.X+r.W, r.Y+r.H))
		}
		m.about = append(m.about, page.Change{From: c.From, To: c.To, X: box.Min.X, Y: box.Min.Y, Width: box.Dx(), Height: box.Dy()})
	}
	return nil
}

// look compares every picture of the film with the one before.
func (m *maker) look(ctx context.Context) (still.Analysis, error) {
	t := m.src.track
	d := still.NewDetector(t.Width, t.Height, t.FPS)
	all := make([]fed, len(m.src.samples))
	var own []int // samples with a picture of their own
	for i := range all {
		all[i] = fed{sample: i, wanted: int(m.src.shows[i]) == i}
		if all[i].wanted {
			own = append(own, i)
		}
	}
	n := 0
	err := m.decode(ctx, all, image.Pt(t.Width, t.Height), func(f *pixel.Frame) error {
		at := m.src.time(m.src.samples[own[n]].Tick)
		n++
		return d.Add(at, still.Picture{Y: f.Y, U: f.U, V: f.V, YStride: f.Width, CStride: f.Width / 2})
	})
	if err != nil {
		return still.Analysis{}, err
	}
	return d.Finish(m.src.time(m.src.ticks)), nil
}
