package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// cue is an event at its place on the grid.
type cue struct {
	recording.Event
	tick  int64 // where its caption comes
	real  int64 // where it happened; another tick only for a result away from its step
	owned bool  // of a result: it has a step
}

// arrange puts the events in the order in which they are shown.
func arrange(events []recording.Event, g grid, length int64) []cue {
	var steps, results []cue
	for _, e := range unique(events) {
		at := min(g.floor(e.At), length-1)
		c := cue{Event: e, tick: at, real: at}
		switch e.Kind {
		case recording.EventStep:
			if strings.TrimSpace(e.Text) == "" {
				c.Text = fmt.Sprintf("Step %d", e.Step)
			}
			steps = append(steps, c)
		case recording.EventResult:
			results = append(results, c)
		}
	}
	byStep := make([][]cue, len(steps))
	var early []cue // results before any step, of none
	for _, r := range results {
		own := stepOf(steps, r)
		if own < 0 {
			early = append(early, r)
			continue
		}
		r.Step, r.owned = steps[own].Step, true
		r.tick = max(r.tick, steps[own].tick)
		if own+1 < len(steps) {
			r.tick = min(r.tick, steps[own+1].tick)
		}
		byStep[own] = append(byStep[own], r)
	}
	out := early
	for i, s := range steps {
		out = append(append(out, s), byStep[i]...)
	}
	return out
}

// unique sorts events by time, in the order given where times are equal, and
// drops exact duplicates.
func unique(events []recording.Event) []recording.Event {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b recording.Event) int { return cmp.Compare(a.At, b.At) })
	type key struct {
		at   time.Duration
		kind recording.EventKind
		text string
		step int
		pass string
	}
	seen := make(map[key]bool, len(sorted))
	return slices.DeleteFunc(sorted, func(e recording.Event) bool {
		k := key{e.At, e.Kind, e.Text, e.Step, passText(e.Pass)}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}

func passText(p *bool) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// stepOf finds the step of a result in the order of time: the one that it
// names (of several with that number the one that is up), else the one that is
// up; -1 when there is none.
func stepOf(steps []cue, r cue) int {
	up, _ := slices.BinarySearchFunc(steps, r.tick, func(s cue, t int64) int {
		if s.tick <= t {
			return -1
		}
		return 1
	})
	for i := up - 1; i >= 0; i-- {
		if steps[i].Step == r.Step {
			return i
		}
	}
	for i := up; i < len(steps); i++ {
		if steps[i].Step == r.Step {
			return i
		}
	}
	return up - 1
}
