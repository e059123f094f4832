package grab

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// arrival is a frame: what ffmpeg stamped on it, when it was really taken, and
// when it reached us; both by the recording's clock.
type arrival struct{ stamp, taken, at time.Duration }

const (
	testFPS = 10
	step    = time.Second / testFPS
	latency = 30 * time.Millisecond // of the encoder
)

// script makes arrivals; its clock and ffmpeg's may be set apart.
type script struct {
	out  []arrival
	now  time.Duration // when the next frame is taken
	wall time.Duration // ffmpeg's stamp minus the recording's time
}

func begin() *script { return &script{now: 700 * time.Millisecond, wall: -700 * time.Millisecond} }

// frames takes n frames at the grid's pace.
func (s *script) frames(n int) *script {
	for range n {
		s.out = append(s.out, arrival{s.now + s.wall, s.now, s.now + latency})
		s.now += step
	}
	return s
}

// pause takes no frame for d.
func (s *script) pause(d time.Duration) *script { s.now += d; return s }

// setWall sets the wall clock, which ffmpeg stamps by.
func (s *script) setWall(by time.Duration) *script { s.wall += by; return s }

// backlog takes n frames that all arrive together at their end, as after a
// SIGSTOP of the reader.
func (s *script) backlog(n int) *script {
	from := len(s.out)
	s.frames(n)
	end := s.out[len(s.out)-1].at
	for i := range s.out[from:] {
		s.out[from+i].at = end
	}
	return s
}

// slow makes the last n frames arrive d later.
func (s *script) slow(n int, d time.Duration) *script {
	for i := range s.out[len(s.out)-n:] {
		s.out[len(s.out)-n+i].at += d
	}
	return s
}

// Where a frame stands in the film is where it was on the screen, whatever the
// clocks do: each case is a fault that would move the rest of the film.
func TestPlace(t *testing.T) {
	cases := []struct {
		name   string
		script *script
		missed int64
		off    int64 // by how many ticks a frame may stand wrong meanwhile
		settle int64 // the same for the last frame
	}{
		{"steady", begin().frames(100), 0, 0, 0},
		{"the second frame misses a tick, as x11grab's always does", begin().frames(1).pause(step).frames(50), 0, 0, 0},
		{"the machine was busy for 5 ticks", begin().frames(20).pause(5 * step).frames(20), 5, 0, 0},
		{"the encoder takes 0.8 s for a while", begin().frames(50).slow(20, 800*time.Millisecond).frames(20), 0, 0, 0},
		// The epoch is when the first frame came, so all frames stand as much
		// later, evenly, until a gap takes it up.
		{"the first frame is late: the encoder had to start", begin().frames(1).slow(1, 450*time.Millisecond).frames(50), 0, 4, 4},
		{"the same, and a gap", begin().frames(1).slow(1, 450*time.Millisecond).frames(20).pause(6 * step).frames(20), 2, 4, 0},
		{"backlog of 5 s after a stop of the reader", begin().frames(20).backlog(50).frames(50), 0, 0, 0},
		{"backlog twice", begin().frames(20).backlog(25).frames(5).backlog(25).frames(20), 0, 0, 0},
		{"wall clock set forward an hour", begin().frames(20).setWall(time.Hour).frames(50), 0, 1, 1},
		{"wall clock set forward half a second", begin().frames(20).setWall(500 * time.Millisecond).frames(50), 0, 1, 1},
		{"wall clock set back an hour", begin().frames(20).setWall(-time.Hour).frames(80), 0, 1, 1},
		{"set back, and busy after it was noticed", begin().frames(20).setWall(-time.Hour).frames(60).pause(3 * step).frames(20), 3, 1, 1},
		{"set back and forth", begin().frames(20).setWall(-time.Hour).frames(60).setWall(time.Hour).frames(60), 0, 1, 1},
		// The recording's clock and the wall clock both count the sleep.
		{"suspended for an hour", begin().frames(20).pause(time.Hour).frames(20), 36000, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var now time.Duration
			cfg := capture.Config{FPS: testFPS, Now: func() time.Duration { return now }}
			line := newTimeline(cfg)
			last, missed, off := int64(-1), int64(0), int64(0)
			for i, f := range c.script.out {
				now = f.at
				tick, n := line.place(f.stamp)
				if tick <= last {
					t.Fatalf("frame %d is on tick %d, the one before on %d", i, tick, last)
				}
				last, missed = tick, missed+n
				wrong := tick - cfg.Tick(f.taken)
				off = max(off, wrong, -wrong)
				if i == len(c.script.out)-1 && max(wrong, -wrong) > c.settle {
					t.Errorf("the last frame stands wrong by %d ticks", wrong)
				}
			}
			if off > c.off {
				t.Errorf("a frame stands wrong by %d ticks, allowed are %d", off, c.off)
			}
			if missed != c.missed {
				t.Errorf("%d ticks missed, want %d", missed, c.missed)
			}
		})
	}
}

// Whatever the clocks do, ticks rise and no tick is missed twice: the sink
// refuses a stream whose ticks don't.
func TestPlaceNeverGoesBack(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var now time.Duration
		line := newTimeline(capture.Config{FPS: 1 + r.IntN(60), Now: func() time.Duration { return now }})
		stamp, last := time.Duration(0), int64(-1)
		for i := range 300 {
			now += time.Duration(r.Int64N(int64(300 * time.Millisecond)))
			stamp += time.Duration(r.Int64N(int64(300 * time.Millisecond)))
			if r.IntN(50) == 0 {
				stamp += time.Duration(r.Int64N(int64(2*time.Hour))) - time.Hour
			}
			tick, missed := line.place(stamp)
			if tick <= last || missed < 0 || (i > 0 && missed > tick-last-1) {
				t.Fatalf("seed %d, frame %d: tick %d after %d, %d missed", seed, i, tick, last, missed)
			}
			last = tick
		}
	}
}
