package x11

import "time"

const (
	// slowest is the rate below which the governor does not go, in frames a second.
	slowest = 5
	// busyFor and calmFor are how many seconds of the same judgement make it
	// change the rate; calmFor doubles when a raise did not last.
	busyFor, calmFor, maxCalm = 2, 5, 60
	// fewest is how many ticks must have been due in a second to judge it.
	fewest = 3
)

// governor lowers the rate of an adaptive recording when the machine is short
// of CPU, in steps, and raises it again. It judges each second by the lag of
// our own ticks and by the frames that found the encoder busy.
type governor struct {
	fps     int
	strides []int64 // ticks from frame to frame, by level
	level   int

	frames, missed int
	lag            time.Duration // of all frames together
	busy, calm     int           // seconds in a row
	need           int           // calm seconds before the next raise
	sinceRaise     int           // judged seconds
}

func newGovernor(fps int) *governor {
	g := &governor{fps: fps, need: calmFor, sinceRaise: maxCalm}
	for _, s := range []int{1, 2, 3, 4, 6} {
		if s == 1 || fps/s >= slowest {
			g.strides = append(g.strides, int64(s))
		}
	}
	return g
}

func (g *governor) stride() int64 { return g.strides[g.level] }

// rate is the rate that the governor allows now, in frames a second.
func (g *governor) rate() int { return g.fps / int(g.stride()) }

// frame counts a frame that was taken lag after it was due.
func (g *governor) frame(lag time.Duration) {
	g.frames++
	g.lag += lag
}

// miss counts a frame that was due and not taken.
func (g *governor) miss() { g.missed++ }

// judge ends a second in which the encoder was at work for the share load of
// it. It says whether the rate has changed.
func (g *governor) judge(load float64) bool {
	due := g.frames + g.missed
	late := g.frames > 0 && g.lag/time.Duration(g.frames) > time.Second/time.Duration(2*g.fps)
	short := g.missed*10 >= due || late
	g.frames, g.missed, g.lag = 0, 0, 0
	if due < fewest {
		return false // a still screen says nothing about the machine
	}
	g.sinceRaise++
	if short {
		g.busy, g.calm = g.busy+1, 0
		return g.busy >= busyFor && g.lower()
	}
	g.busy, g.calm = 0, g.calm+1
	return g.calm >= g.need && g.raise(load)
}

func (g *governor) lower() bool {
	g.busy = 0
	if g.level == len(g.strides)-1 {
		return false
	}
	if g.sinceRaise < 2*calmFor {
		g.need = min(2*g.need, maxCalm) // the last raise was too early
	} else {
		g.need = calmFor
	}
	g.level++
	return true
}

// raise goes one step up when the encoder has the time for it.
func (g *governor) raise(load float64) bool {
	if g.level == 0 {
		return false
	}
	more := float64(g.strides[g.level]) / float64(g.strides[g.level-1])
	if load*more > 0.9 {
		return false
	}
	g.level--
	g.calm, g.sinceRaise = 0, 0
	return true
}
