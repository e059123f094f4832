package timeline

import (
	"fmt"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// builder lays a plan out, from the first frame to the last.
type builder struct {
	grid grid
	opts Options
	plan *Plan

	at    int64 // the clip frame that comes next
	kept  int64 // ticks shown so far
	moved int64 // clip frames so far, holds apart

	step, result pill // that are up
}

// pill is a caption that is up.
type pill struct {
	up    bool
	index int   // in the plan
	until int64 // the frame until which it must be
}

func (b *builder) build(length int64, cuts []cut, cues []cue) {
	at := int64(0)
	for _, c := range cuts {
		b.show(at, c.from, c.began, &cues)
		b.plan.Cuts = append(b.plan.Cuts, Cut{Span{b.grid.time(c.from), b.grid.time(c.to)}, b.at, c.gap})
		b.plan.CutTotal += b.grid.time(c.to) - b.grid.time(c.from)
		b.plan.LastTick, at = c.from-1, c.to
	}
	if at < length {
		b.show(at, length, length, &cues)
		b.plan.LastTick = length - 1
		at = length
	}
	b.hold(at, b.step, b.result)
	b.end()
}

// show shows a kept stretch. Each cue in it, and the change at tick began,
// gets a frame of its own.
func (b *builder) show(from, to, began int64, cues *[]cue) {
	for from < to {
		for len(*cues) > 0 && (*cues)[0].tick <= from {
			b.caption((*cues)[0])
			*cues = (*cues)[1:]
		}
		next := to
		if from < began {
			next = min(next, began)
		}
		if len(*cues) > 0 {
			next = min(next, (*cues)[0].tick)
		}
		b.move(from, next)
		from = next
	}
}

// move shows the ticks [from, to). The rounding of one run is made good in the
// next; yet each has a frame.
func (b *builder) move(from, to int64) {
	b.kept += to - from
	per := int64(b.opts.Speed) * b.grid.fps // kept ticks in FPS frames
	target := (2*b.kept*int64(b.opts.FPS) + per) / (2 * per)
	n := max(1, target-b.moved)
	b.moved += n
	b.plan.Runs = append(b.plan.Runs, Run{Frame: b.at, Frames: n, From: from, To: to})
	b.at += n
}

// hold repeats the picture of a tick until the given pills are read.
func (b *builder) hold(tick int64, pills ...pill) {
	n := int64(0)
	for _, p := range pills {
		if p.up {
			n = max(n, p.until-b.at)
		}
	}
	if n == 0 {
		return
	}
	b.plan.Runs = append(b.plan.Runs, Run{Frame: b.at, Frames: n, From: tick, To: tick, Hold: true})
	b.at += n
}

// caption puts up the pill of a cue, and takes down those that it replaces: a
// step replaces both, a result the result before.
func (b *builder) caption(c cue) {
	mine := &b.result
	if c.Kind == recording.EventStep {
		b.hold(c.tick, b.step, b.result)
		b.down(&b.step)
		b.chapter(c)
		mine = &b.step
	} else {
		b.hold(c.tick, b.result)
	}
	b.down(&b.result)
	if c.owned {
		b.addResult(c)
	}
	*mine = pill{up: true, index: len(b.plan.Pills), until: b.at + b.frames(ReadingTime(c.Text))}
	b.plan.Pills = append(b.plan.Pills, Pill{
		Kind: c.Kind, Text: c.Text, Step: c.Step, Pass: c.Pass, In: b.at, At: b.grid.time(c.real),
	})
}

func (b *builder) down(p *pill) {
	if p.up {
		b.plan.Pills[p.index].Out = b.at
	}
	p.up = false
}

func (b *builder) chapter(c cue) {
	if n := len(b.plan.Chapters); n > 0 {
		b.plan.Chapters[n-1].Out = b.at
	}
	at := b.grid.time(c.real)
	b.plan.Chapters = append(b.plan.Chapters, Chapter{
		Step: c.Step, Title: c.Text, In: b.at, At: at, UTC: b.plan.Start.Add(at), Results: []Result{},
	})
}

// addResult notes a result in its chapter, which is the last one: results are
// arranged by their steps.
func (b *builder) addResult(c cue) {
	at := b.grid.time(c.real)
	last := &b.plan.Chapters[len(b.plan.Chapters)-1]
	last.Results = append(last.Results, Result{
		Pass: c.Pass != nil && *c.Pass, Text: c.Text, In: b.at, At: at, UTC: b.plan.Start.Add(at),
	})
}

// end takes the last pills down and sets the marks.
func (b *builder) end() {
	p := b.plan
	p.Frames = b.at
	b.down(&b.result)
	b.down(&b.step)
	if n := len(p.Chapters); n > 0 {
		p.Chapters[n-1].Out = b.at
	}
	if b.opts.Speed > 1 {
		p.Marks = append(p.Marks, Mark{MarkSpeed, fmt.Sprintf("%dx", b.opts.Speed), 0, p.Frames})
	}
	b.skipMarks()
}

// skipMarks marks the longer cuts; a mark gives way to the next one. A cut at
// the end has none, since nothing is later.
func (b *builder) skipMarks() {
	p, last := b.plan, -1
	for _, c := range p.Cuts {
		d := c.To - c.From
		if d < markOver || c.To >= p.Recording {
			continue
		}
		m := Mark{MarkSkip, Duration(d) + " later", c.Frame, min(c.Frame+b.frames(markShown), p.Frames)}
		if c.Gap {
			m.Kind, m.Text = MarkGap, Duration(d)+" not recorded"
		}
		if last >= 0 {
			p.Marks[last].Out = min(p.Marks[last].Out, m.In)
		}
		last = len(p.Marks)
		p.Marks = append(p.Marks, m)
	}
}

// frames is a length in clip frames, rounded up.
func (b *builder) frames(d time.Duration) int64 { return grid{int64(b.opts.FPS)}.ticks(d) }
