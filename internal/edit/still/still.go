// Package still finds the stretches of a recording in which nothing changes on
// the screen, and what changed where between them. It knows two sources: the
// damage log of a capture that was told of every change ([FromDamage]), and
// the decoded frames of one that was not ([Detector], [FromFrames]). What is
// made of the stretches is decided elsewhere: nothing here cuts, and nothing
// here starts a process.
//
// # What is a change
//
// A single pixel of text is one. Two things are not, since they would keep a
// still screen from ever being still:
//
//   - A blinking text caret: at least three changes of one box of at most 4x40
//     pixels, 0.2 s to 1.3 s apart, in an even beat (or four in an alternating
//     one: some carets are longer on than off). A block caret, up to 16x40
//     pixels, must have blinked six times.
//   - A clock that ticks: at least five changes of a region of at most 160x48
//     pixels that share some pixels, one second apart (or three, a minute
//     apart). Its first and its last tick count as changes, since something
//     appeared there or stopped.
//
// All else is a change, even in the same place: what comes off the beat, what
// comes together with another change beside it, typing (its boxes move on, so
// they share no pixels, or grow from one key to the next), and a spinner (it turns faster than a caret blinks;
// it says that the program works, and a viewer who waits should see that).
package still

import (
	"cmp"
	"slices"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// Limits of what this package reports.
const (
	// minStretch is the shortest stretch that is reported.
	minStretch = 500 * time.Millisecond
	// Changes that are at most joinGap apart are reported as one, up to
	// maxChange long and with at most maxBoxes boxes.
	joinGap   = 250 * time.Millisecond
	maxChange = time.Second
	maxBoxes  = 8
)

// Stretch is a stretch of the recording in which the screen is still: from the
// frame that shows the change before it to the frame that shows the next
// change (or the recording's end). Both times lie on the recording's grid.
type Stretch struct {
	From time.Duration `json:"fromNs"`
	To   time.Duration `json:"toNs"`
}

// Change is what changed on the screen from one moment to another. The first
// changed frame is From's, the last one is To's; they may be the same.
type Change struct {
	From  time.Duration    `json:"fromNs"`
	To    time.Duration    `json:"toNs"`
	Boxes []recording.Rect `json:"boxes"` // pixels of the film; at most 8, then the boxes that hold them
}

// Periodic is a region whose changes were ignored.
type Periodic struct {
	Kind   Kind           `json:"kind"`
	Box    recording.Rect `json:"box"`
	Period time.Duration  `json:"periodNs"` // from one change to the next, on average
	From   time.Duration  `json:"fromNs"`
	To     time.Duration  `json:"toNs"`
}

// Kind names what a periodic region is taken for.
type Kind string

// The kinds of periodic regions.
const (
	Caret Kind = "caret"
	Clock Kind = "clock"
)

// Analysis is what is known of a recording's changes. The lists are in the
// order of time.
type Analysis struct {
	Still   []Stretch  `json:"still"` // longer than 0.5 s each; disjoint
	Changes []Change   `json:"changes"`
	Ignored []Periodic `json:"ignored"`
}

// FromDamage reads a damage log. Each entry is a change in the film's frame at
// the entry's time; entries may be in any order, and those outside the
// recording are left out. fps is the recording's grid.
//
// A log without entries says nothing (a capture logs its first picture), and
// the log of a recording that was killed may lack its last changes: use a
// [Detector] for those.
func FromDamage(entries []recording.Damage, fps int, length time.Duration) Analysis {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b recording.Damage) int { return cmp.Compare(a.At, b.At) })
	c := newCollector(fps)
	for i := 0; i < len(sorted); {
		tick := c.tick(sorted[i].At)
		var boxes []recording.Rect
		for ; i < len(sorted) && c.tick(sorted[i].At) == tick; i++ {
			boxes = append(boxes, sorted[i].Rects...)
		}
		if tick >= 0 && c.time(tick) < length {
			c.add(tick, tidy(boxes))
		}
	}
	return c.finish(length)
}

// tidy drops empty boxes and joins near ones.
func tidy(boxes []recording.Rect) []recording.Rect {
	boxes = slices.DeleteFunc(boxes, func(r recording.Rect) bool { return r.W <= 0 || r.H <= 0 })
	return joinNear(boxes)
}
