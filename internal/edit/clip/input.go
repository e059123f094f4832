package clip

import (
	"fmt"
	"image"
	"slices"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/edit/overlay"
	"github.com/proofreel/proofreel/internal/edit/timeline"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// How long before and after it something that is drawn is seen, in the clip's
// time: a still stretch is not cut there, or the ring of a click that changed
// nothing could never be seen.
const (
	seenBefore = 400 * time.Millisecond
	seenAfter  = 600 * time.Millisecond
)

// draws says whether anything but the film and captions is drawn.
func (o Options) draws() bool { return o.Pointer || o.Keys || o.Zoom || o.Frame }

// readInput reads what was done with pointer and keys, if it is to be drawn,
// and keeps the stretches in which it was done.
func (m *maker) readInput() {
	if !m.Pointer && !m.Keys && !m.Zoom {
		return
	}
	if m.Dir != nil {
		var err error
		if _, m.inputs, err = m.Dir.Inputs(); err != nil {
			m.note(fmt.Sprintf("What was done with pointer and keys could not be read: %v.", err))
			return
		}
	}
	sort.SliceStable(m.inputs, func(i, j int) bool { return m.inputs[i].At < m.inputs[j].At })
	m.keepInput()
	m.noteInput()
}

// noteInput says what was asked for and is not in the recording.
func (m *maker) noteInput() {
	const driven = "A page that is driven through its browser gets none."
	places := map[image.Point]bool{}
	clicks, keys, unnamed := 0, 0, 0
	for _, in := range m.inputs {
		switch {
		case in.Kind != recording.InputKey:
			places[image.Pt(in.X, in.Y)] = true
			if in.Kind == recording.InputDown {
				clicks++
			}
		case keyText(in) != "":
			keys++
		default:
			unnamed++
		}
	}
	switch {
	case m.Pointer && len(places) < 2 && clicks == 0:
		m.note("The recording has no moves of the pointer: none is drawn. " + driven)
	case m.Pointer && m.src.defaults.Cursor:
		m.note("The film shows the pointer itself: only the rings of clicks are drawn. Start with --cursor off to have it drawn in clips.")
	}
	if m.Zoom && clicks == 0 {
		m.note("The recording has no clicks to zoom to. " + driven)
	}
	if m.Keys && keys+unnamed == 0 {
		m.note("The recording has no keys: none is drawn. " + driven)
	}
	if m.Keys && unnamed > 0 {
		m.note(fmt.Sprintf("%d keys have no name and are not drawn: start with --keys to have shortcuts named.", unnamed))
	}
}

// keepInput takes what is drawn out of the still stretches.
func (m *maker) keepInput() {
	speed := max(m.Speed, 1)
	before, after := seenBefore*time.Duration(speed), seenAfter*time.Duration(speed)
	for _, in := range m.inputs {
		click := in.Kind == recording.InputDown && (m.Pointer || m.Zoom)
		key := in.Kind == recording.InputKey && m.Keys && keyText(in) != ""
		if click || key {
			m.input.Still = without(m.input.Still, timeline.Span{From: in.At - before, To: in.At + after})
		}
	}
}

// without takes a span out of spans.
func without(all []timeline.Span, out timeline.Span) []timeline.Span {
	var left []timeline.Span
	for _, s := range all {
		if s.To <= out.From || s.From >= out.To {
			left = append(left, s)
			continue
		}
		if s.From < out.From {
			left = append(left, timeline.Span{From: s.From, To: out.From})
		}
		if s.To > out.To {
			left = append(left, timeline.Span{From: out.To, To: s.To})
		}
	}
	return left
}

// stage prepares what is drawn over a plan; nil: nothing.
func (m *maker) stage(r *rendered) (*overlay.Stage, error) {
	if !m.draws() {
		return nil, nil //nolint:nilnil // nothing to draw is no fault
	}
	t := m.src.track
	a := overlay.Actions{Film: image.Pt(t.Width, t.Height), Size: r.size, Frame: m.Frame, Caps: overlay.Bottom}
	if m.Position == timeline.Bottom {
		a.Caps = overlay.Top
	}
	acts := onClip(r.plan, m.inputs)
	if m.Pointer {
		a.Clicks = acts.clicks
		if !m.src.defaults.Cursor && acts.moved() {
			a.Path = overlay.NewPath(acts.moves, acts.clicks)
		}
	}
	if m.Keys {
		a.Chords = overlay.Chords(acts.keys)
	}
	if m.Zoom {
		a.Camera = overlay.NewCamera(float64(t.Width), float64(t.Height), acts.scenes, overlay.DefaultZoom())
	}
	return overlay.NewStage(m.Deps.Setter, a) //nolint:wrapcheck // it is told as a note
}

// actions is what was done, at the clip's times.
type actions struct {
	moves  []overlay.Move
	clicks []overlay.Click
	keys   []overlay.Key
	scenes []overlay.Click // what a camera looks at: clicks, and what is done after them in their place
}

// moved says whether the pointer was anywhere but in one place.
func (a actions) moved() bool {
	return len(a.clicks) > 0 || slices.ContainsFunc(a.moves, func(m overlay.Move) bool { return m.Point != a.moves[0].Point })
}

// onClip puts inputs, which are in the order of time, on a plan's clip. Of
// what was cut out only the pointer's last place is left, where the cut ends.
func onClip(p *timeline.Plan, inputs []recording.Input) (a actions) {
	for _, in := range inputs {
		if in.At > p.Recording {
			break
		}
		at, cut := p.ToClip(in.At), inCut(p, in.At)
		place := overlay.Point{X: float64(in.X), Y: float64(in.Y)}
		if in.Kind != recording.InputKey {
			a.moves = append(a.moves, overlay.Move{At: at, Point: place})
		}
		switch {
		case cut:
		case in.Kind == recording.InputDown:
			c := overlay.Click{At: at, Point: place, Button: overlay.Button(in.Button)}
			a.clicks, a.scenes = append(a.clicks, c), append(a.scenes, c)
		case in.Kind == recording.InputKey:
			if text := keyText(in); text != "" {
				a.keys = append(a.keys, overlay.Key{At: at, Text: text, Modifiers: in.Modifiers})
			}
			if n := len(a.scenes); n > 0 {
				a.scenes = append(a.scenes, overlay.Click{At: at, Point: a.scenes[n-1].Point})
			}
		case in.Kind == recording.InputWheel && len(a.scenes) > 0:
			a.scenes = append(a.scenes, overlay.Click{At: at, Point: place})
		}
	}
	return a
}

func inCut(p *timeline.Plan, at time.Duration) bool {
	i := sort.Search(len(p.Cuts), func(i int) bool { return p.Cuts[i].To > at })
	return i < len(p.Cuts) && at >= p.Cuts[i].From
}

// keyText is what a key's cap says; empty for a key that is not drawn.
func keyText(in recording.Input) string {
	switch in.Name {
	case "Left":
		return "←"
	case "Up":
		return "↑"
	case "Right":
		return "→"
	case "Down":
		return "↓"
	case "":
	default:
		return in.Name
	}
	switch in.Class {
	case "text":
		return "typing"
	case "enter":
		return "Enter"
	case "tab":
		return "Tab"
	case "backspace":
		return "Backspace"
	case "delete":
		return "Delete"
	case "escape":
		return "Esc"
	default:
		return ""
	}
}

// pictureSize is the size in which a stage wants the film's pictures: that in
// which they are seen whole, or what there is in a closer view.
func (m *maker) pictureSize(s *overlay.Stage) image.Point {
	whole := s.Whole()
	if s.Camera == nil {
		return whole
	}
	near := m.src.size(int(float64(whole.X) * overlay.DefaultZoom().Scale))
	if near.X <= whole.X {
		return whole
	}
	return near
}
