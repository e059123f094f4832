package still

import (
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// What is periodic. The package comment says it in words.
const (
	caretW, caretH = 4, 40
	blockW, blockH = 16, 40 // a block caret of a terminal
	clockW, clockH = 160, 48

	caretMin, caretEvenMin, blockMin = 4, 3, 6 // changes
	blinkFast                        = 200 * time.Millisecond
	blinkSlow                        = 1300 * time.Millisecond

	clockMin, minuteMin = 5, 3

	// slack is how far the edges of a periodic box may be from one change to
	// the next (a lossy picture blurs them), and how much larger a block caret
	// may look (damage is on the chroma grid).
	slack = 2
	// jitter is how far from its beat a change may be, beside the grid's step.
	jitter = 40 * time.Millisecond
	// fastest is the shortest interval of anything periodic; below it is animation.
	fastest = 150 * time.Millisecond
	// maxSites bounds how many small regions are looked at at a time.
	maxSites = 32
)

// toggle is one change of a site.
type toggle struct {
	tick    int64
	box     recording.Rect
	broken  bool // something else happened in the site between it and the one before
	covered bool // a large change, noted as such, went over the site: a clock may have ticked under it
	ignored bool
}

// narrow says that the box is a text caret's, not a block caret's.
func (t toggle) narrow() bool { return within(t.box, caretW, caretH) }

// site is a small region of the screen and its changes, none of which comes
// fast upon another.
type site struct {
	core, union recording.Rect // what all changes share, and what holds them
	toggles     []toggle
	last        int64 // tick of the last change, fast ones included
	broken      bool
}

// takes says whether a box belongs to the site.
func (s *site) takes(box recording.Rect) bool {
	c := common(s.core, box)
	return c.W > 0 && c.H > 0 && within(union(s.union, box), clockW, clockH)
}

// judge marks what is to be ignored and says what it is.
func (s *site) judge(c *collector, end int64) []Periodic {
	var found []Periodic
	for i := 0; i < len(s.toggles); {
		blinks := s.caret(c, i)
		ticks, period := s.clock(c, i)
		switch {
		case blinks == 0 && ticks == 0:
			i++
		case blinks > ticks || blinks > 0 && s.toggles[i].narrow():
			found = append(found, s.ignore(c, Caret, i, i+blinks, i, i+blinks))
			i += blinks
		default:
			from, to := s.inner(c, i, i+ticks, end, period)
			found = append(found, s.ignore(c, Clock, i, i+ticks, from, to))
			i += ticks
		}
	}
	return found
}

// inner is the part of a clock's ticks that is ignored: something appeared with
// the first and stopped with the last, unless the recording began or ended
// within a beat of them.
func (s *site) inner(c *collector, from, to int, end int64, period time.Duration) (int, int) {
	beat := c.ticks(period + period/2)
	if s.toggles[from].tick > beat {
		from++
	}
	if end < 0 || end-s.toggles[to-1].tick > beat {
		to--
	}
	return from, to
}

// ignore marks the toggles [from, to) of the beat [first, end).
func (s *site) ignore(c *collector, kind Kind, first, end, from, to int) Periodic {
	for k := from; k < to; k++ {
		s.toggles[k].ignored = true
	}
	p := Periodic{Kind: kind, From: c.time(s.toggles[first].tick), To: c.time(s.toggles[end-1].tick)}
	for _, t := range s.toggles[first:end] {
		p.Box = union(p.Box, t.box)
	}
	p.Period = (p.To - p.From) / time.Duration(end-first-1)
	return p
}

// gap is the time from toggle i-1 to toggle i; negative when they are no beat.
func (s *site) gap(c *collector, i int) time.Duration {
	if s.toggles[i].broken {
		return -1
	}
	return c.time(s.toggles[i].tick) - c.time(s.toggles[i-1].tick)
}

// caret is how many toggles from i on are a caret's; 0 when there is none.
func (s *site) caret(c *collector, i int) int {
	box, tolerance := s.toggles[i].box, c.time(1)+jitter
	if s.toggles[i].covered || !within(box, blockW+slack, blockH+slack) {
		return 0
	}
	even, n := true, 1
	var gaps [2]time.Duration // of the odd and the even beats
	for ; i+n < len(s.toggles); n++ {
		g := s.gap(c, i+n)
		if g < blinkFast || g > blinkSlow || s.toggles[i+n].covered || !alike(box, s.toggles[i+n].box, slack) {
			break
		}
		if n > 2 && (g-gaps[n%2]).Abs() > tolerance {
			break
		}
		if gaps[n%2] = g; n > 1 && (gaps[0]-gaps[1]).Abs() > tolerance {
			even = false
		}
	}
	need := caretMin
	switch {
	case !s.toggles[i].narrow():
		need = blockMin
	case even:
		need = caretEvenMin
	}
	if n < need {
		return 0
	}
	return n
}

// clock is how many toggles from i on are a clock's, and its period.
func (s *site) clock(c *collector, i int) (int, time.Duration) {
	if s.toggles[i].covered {
		return 0, 0
	}
	for _, k := range []struct {
		period, tolerance time.Duration
		least             int
	}{
		{time.Second, c.time(1) + jitter, clockMin},
		{time.Minute, c.time(1) + 10*jitter, minuteMin},
	} {
		n := 1
		for ; i+n < len(s.toggles); n++ {
			if g := s.gap(c, i+n); (g - k.period).Abs() > k.tolerance {
				break
			}
		}
		if n >= k.least && !s.grows(i, i+n) {
			return n, k.period
		}
	}
	return 0, 0
}

// grows says that the boxes of the toggles [from, to) grow, or shrink, three
// times in a row: what is typed into a field that is aligned right.
func (s *site) grows(from, to int) bool {
	row := 0
	for k := from + 1; k < to; k++ {
		switch d := s.toggles[k].box.W - s.toggles[k-1].box.W; {
		case d > slack:
			row = max(row, 0) + 1
		case d < -slack:
			row = min(row, 0) - 1
		default:
			row = 0
		}
		if abs(row) >= 3 {
			return true
		}
	}
	return false
}
