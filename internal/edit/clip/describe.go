package clip

import (
	"github.com/proofreel/proofreel/internal/edit/page"
	"github.com/proofreel/proofreel/internal/edit/timeline"
)

// describe says what page needs to know of a clip.
func (m *maker) describe(r *rendered) page.Clip {
	p := r.plan
	names := m.names()
	c := page.Clip{
		Title: m.Name, Video: names.video, Poster: names.poster, Transcript: names.transcript,
		Width: r.size.X, Height: r.size.Y, Size: r.bytes,
		Length: p.Length(), Recording: p.Recording, Cut: p.CutTotal, Speed: p.Options.Speed, Started: p.Start,
	}
	for i, ch := range p.Chapters {
		until := p.Recording
		if i+1 < len(p.Chapters) {
			until = p.Chapters[i+1].At
		}
		c.Steps = append(c.Steps, m.step(p, ch, between(m.about, ch.At, until)))
	}
	return c
}

func (m *maker) step(p *timeline.Plan, ch timeline.Chapter, changes []page.Change) page.Step {
	s := page.Step{Name: ch.Title, From: p.Time(ch.In), To: p.Time(ch.Out), At: ch.At, Changes: changes}
	if n := len(ch.Results); n > 0 {
		last := ch.Results[n-1]
		s.Result, s.Outcome = last.Text, page.Failed
		if last.Pass {
			s.Outcome = page.Passed
		}
		s.ResultAt, s.ResultIn = p.Time(last.In), last.At
	}
	return s
}
