package still

import (
	"cmp"
	"slices"
	"time"

	"github.com/proofreel/proofreel/internal/media/recording"
)

// span is a stretch of changed ticks, the last one included.
type span struct {
	from, to int64
	boxes    []recording.Rect
}

// collector turns the changed boxes of each frame into an Analysis. Its memory
// grows with the recording's seconds, not with its frames.
type collector struct {
	fps     int64
	spans   []span  // changes for sure, in the order of time
	sites   []*site // small regions that might be periodic, the latest used first
	loose   []span  // toggles of sites that are gone, in no order
	ignored []Periodic
}

func newCollector(fps int) *collector { return &collector{fps: int64(max(fps, 1))} }

// tick is the first frame that can show a change of the time at. Logs round
// times down to milliseconds, and a tick's time is rounded up to nanoseconds.
func (c *collector) tick(at time.Duration) int64 {
	n := int64(at-10*time.Microsecond) * c.fps
	second := int64(time.Second)
	if n <= 0 {
		if at < 0 {
			return -1
		}
		return 0
	}
	return (n + second - 1) / second
}

// time is the time of a tick, rounded up to nanoseconds.
func (c *collector) time(tick int64) time.Duration {
	return time.Duration((tick*int64(time.Second) + c.fps - 1) / c.fps)
}

// ticks is a length in ticks, rounded down.
func (c *collector) ticks(d time.Duration) int64 { return int64(d) * c.fps / int64(time.Second) }

// add takes the boxes that changed in the frame of a tick. Ticks rise strictly.
func (c *collector) add(tick int64, boxes []recording.Rect) {
	for _, b := range boxes {
		small := within(b, clockW, clockH)
		if !small {
			c.cover(tick, b)
		}
		if !small || !c.toggle(tick, b) {
			c.change(tick, b)
		}
	}
}

// cover tells the sites under a large change of it.
func (c *collector) cover(tick int64, box recording.Rect) {
	for _, s := range c.sites {
		if union(s.core, box) != box {
			continue
		}
		if tick-s.last >= c.ticks(fastest) {
			s.toggles = append(s.toggles, toggle{tick: tick, box: s.core, covered: true, broken: s.broken})
			s.broken = false
		} else {
			s.broken = true
		}
		s.last = tick
	}
}

// change notes a change for sure.
func (c *collector) change(tick int64, box recording.Rect) {
	if n := len(c.spans); n > 0 {
		last := &c.spans[n-1]
		if tick-last.to <= c.ticks(joinGap) && tick-last.from <= c.ticks(maxChange) {
			last.to = max(last.to, tick)
			last.boxes = cover(last.boxes, box, maxBoxes)
			return
		}
	}
	c.spans = append(c.spans, span{tick, tick, []recording.Rect{box}})
}

// toggle gives a small change to the site it belongs to. It says false when it
// can't be periodic: it comes too soon after the one before.
func (c *collector) toggle(tick int64, box recording.Rect) bool {
	s := c.siteOf(box)
	fast := len(s.toggles) > 0 && tick-s.last < c.ticks(fastest)
	if s.last = tick; fast {
		s.broken = true
		return false
	}
	s.core, s.union = common(s.core, box), union(s.union, box)
	s.toggles = append(s.toggles, toggle{tick: tick, box: box, broken: s.broken})
	s.broken = false
	return true
}

// siteOf finds the site of a box, or begins one; the oldest gives way.
func (c *collector) siteOf(box recording.Rect) *site {
	at := slices.IndexFunc(c.sites, func(s *site) bool { return alike(s.toggles[len(s.toggles)-1].box, box, slack) && s.takes(box) })
	if at < 0 {
		at = slices.IndexFunc(c.sites, func(s *site) bool { return s.takes(box) })
	}
	if at < 0 {
		if len(c.sites) == maxSites {
			c.settle(c.sites[maxSites-1], -1)
			c.sites = c.sites[:maxSites-1]
		}
		c.sites = append(c.sites, &site{core: box, union: box})
		at = len(c.sites) - 1
	}
	s := c.sites[at]
	copy(c.sites[1:at+1], c.sites[:at])
	c.sites[0] = s
	return s
}

// settle judges a site whose toggles are complete. end is the recording's end
// in ticks, negative when the site is given up before it.
func (c *collector) settle(s *site, end int64) {
	c.ignored = append(c.ignored, s.judge(c, end)...)
	for _, t := range s.toggles {
		if !t.ignored && !t.covered {
			c.loose = append(c.loose, span{t.tick, t.tick, []recording.Rect{t.box}})
		}
	}
}

// finish ends the collection.
func (c *collector) finish(length time.Duration) Analysis {
	end := c.tick(length)
	for _, s := range c.sites {
		c.settle(s, end)
	}
	c.sites = nil
	all := slices.Concat(c.spans, c.loose)
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })

	var out Analysis
	at := int64(0) // the frame of the last change; the first frame is one
	var open *span // the change that is being joined
	flush := func() {
		if open != nil {
			out.Changes = append(out.Changes, Change{c.time(open.from), c.time(open.to), open.boxes})
		}
	}
	for i := range all {
		s := &all[i]
		out.still(c, at, s.from, length)
		at = max(at, s.to)
		if open != nil && s.from-open.to <= c.ticks(joinGap) && s.to-open.from <= c.ticks(maxChange) {
			open.to = max(open.to, s.to)
			for _, b := range s.boxes {
				open.boxes = cover(open.boxes, b, maxBoxes)
			}
			continue
		}
		flush()
		open = s
	}
	flush()
	out.still(c, at, end, length)
	out.Ignored = c.ignored
	slices.SortStableFunc(out.Ignored, func(a, b Periodic) int { return cmp.Compare(a.From, b.From) })
	return out
}

// still reports the stretch between two ticks when it is long enough.
func (a *Analysis) still(c *collector, from, to int64, length time.Duration) {
	s := Stretch{c.time(from), min(c.time(to), length)}
	if s.To-s.From > minStretch {
		a.Still = append(a.Still, s)
	}
}
