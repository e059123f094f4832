package grab

import (
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// timeline places ffmpeg's times on the grid of the recording.
//
// x11grab stamps frames with the wall clock (measured: -copyts shows the time
// of day), ffmpeg subtracts the first stamp. The stamps say how far apart two
// frames were taken, which the time of their arrival does not (the encoder
// takes its time in between); the arrival says when a stamp can't be true,
// because the wall clock was set or the machine slept.
type timeline struct {
	cfg    capture.Config
	offset time.Duration // stamp + offset = time since the epoch
	begun  bool
	count  int           // frames after the first
	last   int64         // tick of the last frame
	lateAt time.Duration // arrival since which every frame came late; 0: not late
}

// settle is how many frames after the first don't count as late: x11grab sets
// its own clock behind the first frame, so the second one always misses a tick.
const settle = 5

const (
	// ahead is how far in the future a stamp may lie; the encoder can't
	// deliver what has not happened, so more means a clock that was set.
	ahead = 100 * time.Millisecond
	// late is how long after its stamp a frame may arrive, and lateFor for how
	// long all of them may be late, before the clock is taken to have been set
	// back. A reader that was stopped gets a backlog of late frames, but then
	// frames in time again.
	late    = time.Second
	lateFor = 3 * time.Second
)

func newTimeline(cfg capture.Config) *timeline { return &timeline{cfg: cfg, last: -1} }

// place gives the tick of a frame stamped t that arrives now, and how many
// ticks had no frame since the one before.
func (l *timeline) place(t time.Duration) (tick, missed int64) {
	now := l.cfg.Now()
	if !l.begun {
		l.begun, l.offset = true, now-t
		l.last = l.cfg.Tick(now)
		return l.last, 0
	}
	l.correct(t, now)
	// Half a tick more: stamps are rounded to 1 ms, ticks are not.
	half := time.Second / time.Duration(2*l.cfg.FPS)
	tick = max(l.cfg.Tick(t+l.offset+half), l.last+1)
	missed = tick - l.last - 1
	l.last = tick
	if l.count++; l.count < settle {
		missed = 0
	}
	return tick, missed
}

func (l *timeline) correct(t, now time.Duration) {
	lag := now - (t + l.offset)
	switch {
	case lag < -ahead:
		l.offset += lag
		l.lateAt = 0
	case lag < late:
		l.lateAt = 0
	case l.lateAt == 0:
		l.lateAt = now
	case now-l.lateAt > lateFor:
		l.offset += lag
		l.lateAt = 0
	}
}
