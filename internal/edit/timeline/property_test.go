package timeline

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/media/recording"
)

var start = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)

// recordings draws a recording with anything in it: changes, gaps, events in
// any order and anywhere, at any rate.
func recordings(t *rapid.T) (Input, Options) {
	in := Input{
		FPS:    rapid.SampledFrom([]int{1, 10, 15, 25, 30, 60, 1000}).Draw(t, "recording's fps"),
		Length: time.Duration(rapid.IntRange(0, 120_000).Draw(t, "length")) * time.Millisecond,
		Start:  start,
	}
	g := grid{int64(in.FPS)}
	length := max(g.nearest(in.Length), 1)
	in.Length = max(in.Length, g.time(length)) // never empty
	at := int64(0)                             // changes lie at the stretches' ends
	for at < length {
		to := min(at+rapid.Int64Range(1, length).Draw(t, "still for"), length)
		in.Still = append(in.Still, Span{g.time(at), g.time(to)})
		at = to + rapid.SampledFrom([]int64{0, 0, 1, 2, 40}).Draw(t, "moving for")
	}
	for range rapid.IntRange(0, 2).Draw(t, "gaps") {
		from := rapid.Int64Range(0, length).Draw(t, "gap at")
		in.Gaps = append(in.Gaps, Span{g.time(from), g.time(from + rapid.Int64Range(0, length).Draw(t, "gap for"))})
	}
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		e := recording.Event{
			At:   time.Duration(rapid.IntRange(-2000, 125_000).Draw(t, "at")) * time.Millisecond,
			Text: rapid.SampledFrom([]string{"", "Open", "Log in as the second user, then open the list", "保存して一覧に戻る"}).Draw(t, "text"),
			Step: rapid.IntRange(0, 5).Draw(t, "step"),
			Kind: recording.EventStep,
		}
		if rapid.Bool().Draw(t, "result") {
			pass := rapid.Bool().Draw(t, "pass")
			e.Kind, e.Pass = recording.EventResult, &pass
		}
		in.Events = append(in.Events, e)
	}
	return in, Options{
		Stills:   rapid.SampledFrom([]Stills{StillsCut, StillsCut, StillsKeep}).Draw(t, "stills"),
		Speed:    rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "speed"),
		Position: Top,
		FPS:      rapid.SampledFrom([]int{1, 5, 15, 24, 30, 60}).Draw(t, "fps"),
	}
}

// property checks a rule over many recordings.
func property(t *testing.T, rule func(t *rapid.T, in Input, p *Plan)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		in, o := recordings(t)
		p, err := Build(in, o)
		if err != nil {
			t.Fatal(err)
		}
		rule(t, in, p)
	})
}

func (p *Plan) reading(text string) int64 {
	return grid{int64(p.Options.FPS)}.ticks(ReadingTime(text))
}

// Runs follow upon each other in the clip, and never go back in the recording;
// the length is their sum.
func TestRunsFollowEachOther(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		frame, tick := int64(0), int64(0)
		length := grid{int64(in.FPS)}.nearest(in.Length)
		for _, r := range p.Runs {
			if r.Frame != frame || r.Frames < 1 || r.From < tick || r.To > length || r.Hold != (r.From == r.To) {
				t.Fatalf("run %+v after frame %d, tick %d of %d", r, frame, tick, length)
			}
			frame, tick = r.Frame+r.Frames, r.To
		}
		if frame != p.Frames || p.Frames < 1 {
			t.Fatalf("%d frames, runs have %d", p.Frames, frame)
		}
	})
}

// Nothing that changed and no event is inside a cut.
func TestCutsHoldNothing(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		g := grid{int64(in.FPS)}
		for _, c := range p.Cuts {
			from, to := g.floor(c.From), g.floor(c.To)
			inside := func(tick int64) bool { return tick >= from && tick < to }
			for _, e := range in.Events {
				if at := min(g.floor(e.At), g.floor(p.Recording)-1); inside(at) {
					t.Fatalf("event at tick %d in the cut %d to %d", at, from, to)
				}
			}
			if c.Gap {
				continue // what changed there is not in the film
			}
			for _, s := range in.Still { // a stretch's ends are changes
				if inside(g.floor(s.From)) || g.floor(s.To) > from && g.floor(s.To) < to {
					t.Fatalf("a change at the ends of %v in the cut %d to %d", s, from, to)
				}
			}
			if !slices.ContainsFunc(in.Still, func(s Span) bool { return g.floor(s.From) < from && g.floor(s.To) >= to }) {
				t.Fatalf("the cut %d to %d is in no still stretch", from, to)
			}
		}
	})
}

// A still stretch of over 1 s without events keeps 0.5 s, others all.
func TestStillStretchesKeepHalfASecond(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		g := grid{int64(in.FPS)}
		if len(in.Gaps) > 0 {
			return
		}
		for _, s := range in.Still {
			from, to := g.floor(s.From), g.floor(s.To)
			left := to - from
			for _, c := range p.Cuts {
				left -= max(0, min(to, g.floor(c.To))-max(from, g.floor(c.From)))
			}
			busy := slices.ContainsFunc(in.Events, func(e recording.Event) bool {
				at := min(g.floor(e.At), g.floor(p.Recording)-1)
				return at > from && at < to
			})
			want := to - from
			if p.Options.Stills == StillsCut && to-from > g.fps {
				want = (g.fps + 1) / 2
			}
			if !busy && left != want || left < min(want, (g.fps+1)/2) {
				t.Fatalf("%v keeps %d ticks of %d, want %d", s, left, to-from, want)
			}
		}
	})
}

// The change before a cut and the one after it each have a frame of the clip,
// also at rates at which half a second is less than one.
func TestChangesBesideCutsAreShown(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		g := p.recGrid()
		for _, c := range p.Cuts {
			before, after := g.floor(c.From)-(g.fps+1)/2, g.floor(c.To)
			if got := p.TickAt(p.Frame(p.ToClip(g.time(before)))); got != before {
				t.Fatalf("tick %d, with which the stretch of %+v begins, is not shown, but %d", before, c, got)
			}
			if c.To < p.Recording && p.TickAt(c.Frame) != after {
				t.Fatalf("tick %d after the cut %+v is not shown, but %d", after, c, p.TickAt(c.Frame))
			}
		}
	})
}

// Both maps are total and never fall.
func TestMapIsMonotoneAndTotal(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		for name, f := range map[string]func(time.Duration) time.Duration{"to recording": p.ToRecording, "to clip": p.ToClip} {
			span, end := p.Length(), p.Recording
			if name == "to clip" {
				span, end = end, span
			}
			last := time.Duration(0)
			for at := -span/8 - 1; at <= span+span/4; at += span/257 + 1 {
				got := f(at)
				if got < last || got > end {
					t.Fatalf("%s: %v gives %v after %v, end %v", name, at, got, last, end)
				}
				last = got
			}
		}
	})
}

// Outside cuts the map is its own inverse, and inside one it is the cut's place.
func TestMapIsItsOwnInverse(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		rec := time.Duration(rapid.Int64Range(0, int64(p.Recording)-1).Draw(t, "recording's time"))
		clip := p.ToClip(rec)
		i := slices.IndexFunc(p.Cuts, func(c Cut) bool { return rec >= c.From && rec < c.To })
		switch {
		case i >= 0:
			if want := p.Time(p.Cuts[i].Frame); clip != want && p.Cuts[i].To < p.Recording {
				t.Fatalf("%v in the cut %v gives %v, want %v", rec, p.Cuts[i], clip, want)
			}
		default:
			if back := p.ToRecording(clip); (back - rec).Abs() > time.Microsecond {
				t.Fatalf("%v gives %v, which gives %v", rec, clip, back)
			}
			if back := p.UTC(p.FromUTC(start.Add(rec))); (back.Sub(start) - rec).Abs() > time.Microsecond {
				t.Fatalf("UTC: %v gives %v", rec, back)
			}
		}
		clip = time.Duration(rapid.Int64Range(0, int64(p.Length())-1).Draw(t, "clip's time"))
		run := p.Runs[p.runAt(func(r Run) bool { return p.Time(r.Frame) <= clip })]
		if back := p.ToClip(p.ToRecording(clip)); !run.Hold && (back-clip).Abs() > time.Microsecond && p.ToRecording(clip) < p.recGrid().time(run.To) {
			t.Fatalf("clip time %v gives %v", clip, back)
		}
	})
}

// A clip frame shows the recording's frame of its time.
func TestFramesShowTheirTime(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		g := p.recGrid()
		last := int64(0)
		for k := int64(0); k < p.Frames; k++ {
			tick := p.TickAt(k)
			at := p.ToRecording(p.Time(k))
			if shown := g.time(tick) <= at+time.Microsecond && (g.time(tick+1) > at-time.Microsecond || tick == p.LastTick); tick < last || !shown {
				t.Fatalf("frame %d shows tick %d after %d; the map says %v", k, tick, last, at)
			}
			if p.Frame(p.Time(k)) != k {
				t.Fatalf("frame %d has the time %v, which is in frame %d", k, p.Time(k), p.Frame(p.Time(k)))
			}
			last = tick
		}
	})
}

// Every caption is up for its reading time, at every speed, and holds are no
// longer than that needs.
func TestReadingTimeAndHolds(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		up := map[int64]bool{} // ends of pills that were up for just their reading time
		for _, pill := range p.Pills {
			n := p.reading(pill.Text)
			if pill.Out-pill.In < n || pill.In < 0 || pill.Out > p.Frames {
				t.Fatalf("%+v is not up for %d frames of %d", pill, n, p.Frames)
			}
			up[pill.Out] = up[pill.Out] || pill.Out-pill.In == n
		}
		for _, r := range p.Runs {
			if r.Hold && !up[r.Frame+r.Frames] {
				t.Fatalf("the hold %+v serves no caption in %+v", r, p.Pills)
			}
		}
	})
}

// Of steps one is up at a time, and of results one; a result only with its own
// step; and each comes with the frame of its own moment.
func TestPillsDoNotMix(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		var step, result *Pill
		for i := range p.Pills {
			pill := &p.Pills[i]
			same := &step
			if pill.Kind == recording.EventResult {
				same = &result
				if step != nil && (pill.Step != step.Step || pill.In < step.In || pill.Out > step.Out) {
					t.Fatalf("%+v is not with its step, but with %+v", pill, step)
				}
			} else if p.FrameAt(pill.In) != pill.At {
				t.Fatalf("%+v comes with the frame of %v", pill, p.FrameAt(pill.In))
			}
			if *same != nil && (*same).Out > pill.In {
				t.Fatalf("%+v is up with %+v", *same, pill)
			}
			*same = pill
		}
	})
}

// The speed is exact but for rounding, where no run is too short for a frame.
func TestSpeed(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		per := float64(p.Options.Speed*in.FPS) / float64(p.Options.FPS) // ticks a frame
		var frames, ticks, tiny float64
		for _, r := range p.Runs {
			if r.Hold {
				continue
			}
			frames += float64(r.Frames)
			ticks += float64(r.To - r.From)
			if float64(r.To-r.From) < per {
				tiny++
			}
		}
		if off := frames - ticks/per; off < -0.5 || off > 0.5+tiny {
			t.Fatalf("%v frames for %v ticks at %v a frame, %v short runs", frames, ticks, per, tiny)
		}
		kept := time.Duration(ticks) * time.Second / time.Duration(in.FPS)
		if (kept + p.CutTotal - p.Recording).Abs() > time.Duration(len(p.Cuts)+1)*2 {
			t.Fatalf("%v kept and %v cut of %v", kept, p.CutTotal, p.Recording)
		}
	})
}

// Each cut of 3 s or more is marked with what was cut, for 1.2 s or until the
// next mark; shorter ones are not.
func TestSkipMarks(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		marks := slices.DeleteFunc(slices.Clone(p.Marks), func(m Mark) bool { return m.Kind == MarkSpeed })
		if (len(p.Marks) != len(marks)) != (p.Options.Speed > 1) {
			t.Fatalf("speed marks in %+v at %d", p.Marks, p.Options.Speed)
		}
		n := 0
		for _, c := range p.Cuts {
			d := c.To - c.From
			if d < markOver || c.To >= p.Recording {
				continue
			}
			m := marks[n]
			n++
			shown := grid{int64(p.Options.FPS)}.ticks(markShown)
			whole := m.Out-m.In == shown || m.Out == p.Frames || n < len(marks) && m.Out == marks[n].In
			text := fmt.Sprintf("%s later", Duration(d))
			if c.Gap {
				text = fmt.Sprintf("%s not recorded", Duration(d))
			}
			if m.Text != text || m.In != c.Frame || m.Out <= m.In || !whole || p.TickAt(m.In) != p.recGrid().floor(c.To) {
				t.Fatalf("the mark %+v for the cut %+v", m, c)
			}
		}
		if n != len(marks) {
			t.Fatalf("%d marks, want %d", len(marks), n)
		}
	})
}

// Speed changes neither what is cut nor what a chapter is.
func TestSpeedChangesNoCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, o := recordings(t)
		var first *Plan
		for _, o.Speed = range []int{1, 2, 4} {
			p, err := Build(in, o)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = p
				continue
			}
			if p.CutTotal != first.CutTotal || len(p.Cuts) != len(first.Cuts) || len(p.Chapters) != len(first.Chapters) || len(p.Pills) != len(first.Pills) {
				t.Fatalf("at %dx: %v cut in %d, at 1x: %v in %d", o.Speed, p.CutTotal, len(p.Cuts), first.CutTotal, len(first.Cuts))
			}
		}
	})
}

// Chapters are the steps in the order of time, and end where the next begins.
func TestChapters(t *testing.T) {
	property(t, func(t *rapid.T, in Input, p *Plan) {
		var steps []Pill
		for _, pill := range p.Pills {
			if pill.Kind == recording.EventStep {
				steps = append(steps, pill)
			}
		}
		if len(steps) != len(p.Chapters) {
			t.Fatalf("%d chapters for %d steps", len(p.Chapters), len(steps))
		}
		for i, c := range p.Chapters {
			end := p.Frames
			if i+1 < len(p.Chapters) {
				end = p.Chapters[i+1].In
			}
			if c.In != steps[i].In || c.Out != end || c.Title != steps[i].Text || !c.UTC.Equal(start.Add(c.At)) {
				t.Fatalf("chapter %+v for %+v, end %d", c, steps[i], end)
			}
			if at := p.ToClip(c.At); (at-p.Time(c.In)).Abs() > p.Time(p.Frames) || p.ToRecording(p.Time(c.In)) != c.At {
				t.Fatalf("chapter %+v begins at %v of the clip, which is %v", c, p.Time(c.In), p.ToRecording(p.Time(c.In)))
			}
		}
	})
}
