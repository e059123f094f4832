package x11

import "time"

const (
	// settle is for how long no damage must come before a picture is taken
	// for whole: programs paint a frame in several requests.
	settle = 2 * time.Millisecond
	// maxLead is how far before its tick's time a frame may be taken. A page
	// that paints at the grid's own rate drifts against it, so that two paints
	// fall into one tick and none into the next; the lead lets the second of
	// them have the next tick instead of being lost.
	maxLead = 8 * time.Millisecond
)

// grid gives frames their ticks: strictly rising, at most one a stride.
type grid struct {
	fps    int
	stride int64 // ticks from one frame to the next, at least; 1 is full rate
	last   int64 // the last tick given away
}

func newGrid(fps int) *grid {
	return &grid{fps: fps, stride: 1, last: -1}
}

// tick is the last tick whose time is not after t.
func (g *grid) tick(t time.Duration) int64 {
	return int64(t) * int64(g.fps) / int64(time.Second)
}

// at is the time of a tick: the first moment t for which tick(t) is n.
func (g *grid) at(n int64) time.Duration {
	return time.Duration((n*int64(time.Second) + int64(g.fps) - 1) / int64(g.fps))
}

func (g *grid) period() time.Duration { return time.Second / time.Duration(g.fps) }

// open is when the next frame may be taken at the earliest.
func (g *grid) open() time.Duration {
	if g.last < 0 {
		return 0
	}
	return g.at(g.last+g.stride) - min(maxLead, g.period()/2)
}

// due is when to take a picture whose damage came from first to last: as soon
// as it has settled, and within a period of when it could be taken at first.
func (g *grid) due(first, last time.Duration) time.Duration {
	open := g.open()
	limit := max(open, first) + g.period()
	return max(open, min(last+settle, limit))
}

// take gives the tick for a picture of the time t, which is not before open.
func (g *grid) take(t time.Duration) int64 {
	next := g.tick(t)
	if g.last >= 0 {
		next = max(next, g.last+g.stride)
	}
	g.last = next
	return next
}

// hold marks the ticks up to that of t as told, and returns it.
func (g *grid) hold(t time.Duration) int64 {
	g.last = max(g.last, g.tick(t))
	return g.last
}
