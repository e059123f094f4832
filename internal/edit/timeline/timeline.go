// Package timeline plans a clip: what of a recording is shown when, how fast,
// under which captions, and how the times of the clip, of the recording and of
// the world belong together. It is arithmetic: it reads and starts nothing,
// draws nothing and knows no pixels.
//
// # The rules
//
// Everything lies on two grids: the recording's ticks and the clip's frames.
//
//   - A still stretch of more than 1 s keeps its first 0.5 s; the rest is cut.
//     The first, because a viewer needs that time to see what the change before
//     it did; what it looks like just before the next change is the same
//     picture. An event ends a still stretch and begins another: so its moment
//     is always shown, and a caption is up for 0.5 s before what it announces
//     happens. No change and no event lies inside a cut.
//   - The speed applies to what is left. A change that begins a stretch, the
//     frame after a cut, and each event have a clip frame of their own that
//     shows exactly their tick; between these moments frames are spread evenly,
//     so that all are within half a frame of the exact speed.
//   - A hold repeats the frame of an event's moment under the old captions
//     until those had their reading time; then come the event's own. It is
//     inserted after the speed. The last captions get theirs at the clip's end.
//   - A result stands with its own step: one whose time lies before its step
//     or after the next one is shown at that limit.
package timeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// The constants of the rules.
const (
	stillOver = time.Second            // a longer still stretch is cut
	stillKept = 500 * time.Millisecond // to this
	markOver  = 3 * time.Second        // a cut of this or more is marked
	markShown = 1200 * time.Millisecond
)

// Stills says what becomes of still stretches.
type Stills string

// What can become of still stretches.
const (
	StillsCut  Stills = "cut"
	StillsKeep Stills = "keep"
)

// Position says where captions stand.
type Position string

// Where captions can stand. Marks stand in a corner away from them.
const (
	Top    Position = "top"
	Bottom Position = "bottom"
)

// Options are the choices of a clip.
type Options struct {
	Stills   Stills   `json:"stills"`
	Speed    int      `json:"speed"` // 1, 2 or 4
	Position Position `json:"position"`
	FPS      int      `json:"fps"` // of the clip, 1 to 60
}

// Span is a stretch of the recording, To not included. The package still's
// stretches convert to it.
type Span struct {
	From time.Duration `json:"fromNs"`
	To   time.Duration `json:"toNs"`
}

// Input is a recording, as far as its timeline goes.
type Input struct {
	Length time.Duration // of the film
	FPS    int           // the film's grid, 1 to 1000
	Start  time.Time     // wall clock at the film's first frame
	// Still are the stretches without a change on the screen. Of two that
	// overlap, the later begins where the earlier ends.
	Still []Span
	// Gaps are stretches of which nothing is known: the film holds the picture
	// before. They are cut like still ones, and a mark says what they are.
	Gaps []Span
	// Events may be in any order. Exact duplicates count once; times outside
	// the film become its first or last frame; other kinds than steps and
	// results are left out.
	Events []recording.Event
}

// ErrEmpty says that the recording is shorter than a frame.
var ErrEmpty = errors.New("the recording has no frame")

// ErrOptions says that an option or the recording's rate is out of range; the
// message tells which one.
var ErrOptions = errors.New("the options make no clip")

func (in Input) check(o Options) error {
	switch {
	case o.Stills != StillsCut && o.Stills != StillsKeep:
		return fmt.Errorf("%w: stills is %q, not cut or keep", ErrOptions, o.Stills)
	case o.Speed != 1 && o.Speed != 2 && o.Speed != 4:
		return fmt.Errorf("%w: speed is %d, not 1, 2 or 4", ErrOptions, o.Speed)
	case o.Position != Top && o.Position != Bottom:
		return fmt.Errorf("%w: position is %q, not top or bottom", ErrOptions, o.Position)
	case o.FPS < 1 || o.FPS > 60:
		return fmt.Errorf("%w: the clip's rate is %d, not 1 to 60", ErrOptions, o.FPS)
	case in.FPS < 1 || in.FPS > 1000:
		return fmt.Errorf("%w: the recording's rate is %d, not 1 to 1000", ErrOptions, in.FPS)
	default:
		return nil
	}
}

// Build plans a clip. It fails with ErrEmpty or ErrOptions alone.
func Build(in Input, o Options) (*Plan, error) {
	if err := in.check(o); err != nil {
		return nil, err
	}
	g := grid{int64(in.FPS)}
	length := g.nearest(in.Length)
	if length < 1 {
		return nil, ErrEmpty
	}
	cues := arrange(in.Events, g, length)
	var cuts []cut
	if o.Stills == StillsCut {
		cuts = findCuts(in, g, length, cues)
	}
	b := builder{grid: g, opts: o, plan: &Plan{
		Options: o, RecordingFPS: in.FPS, Recording: g.time(length), Start: in.Start,
		Cuts: []Cut{}, Pills: []Pill{}, Marks: []Mark{}, Chapters: []Chapter{}, // lists in JSON, never null
	}}
	b.build(length, cuts, cues)
	return b.plan, nil
}

// grid is the recording's ticks.
type grid struct{ fps int64 }

// onGrid is how far a time may be from its tick's and still mean it: logs
// round, some up and some down.
const onGrid = 10 * time.Microsecond

// time is a tick's time, rounded up to nanoseconds.
func (g grid) time(tick int64) time.Duration {
	return time.Duration((tick*int64(time.Second) + g.fps - 1) / g.fps)
}

// floor is the tick that is shown at a time, from 0 on.
func (g grid) floor(t time.Duration) int64 {
	return scale(max(t, 0)+onGrid, g.fps)
}

// ceil is the first tick at or after a time, from 0 on.
func (g grid) ceil(t time.Duration) int64 {
	if t <= onGrid {
		return 0
	}
	return scale(t-onGrid, g.fps) + 1
}

func (g grid) nearest(t time.Duration) int64 {
	return scale(max(t, 0)+time.Second/time.Duration(2*g.fps), g.fps)
}

// ticks is how many ticks a length takes, rounded up.
func (g grid) ticks(d time.Duration) int64 {
	return (int64(d)*g.fps + int64(time.Second) - 1) / int64(time.Second)
}

// scale is how many whole ticks a time holds; it does not overflow.
func scale(t time.Duration, fps int64) int64 {
	s := int64(t / time.Second)
	return s*fps + int64(t%time.Second)*fps/int64(time.Second)
}
