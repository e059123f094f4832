// Package film puts a film together from the segments of a recording, without
// encoding anything again. It neither captures nor judges.
package film

import (
	"errors"

	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/segment"
)

// Rates of a film.
const (
	CFR = "cfr" // a sample at every tick
	VFR = "vfr" // a sample where the picture changed; it lasts until the next
)

// keyEvery is the number of seconds after which a repeated keyframe stays a
// keyframe, so that players can seek inside a still stretch. The spec's limit
// is 2 s.
const keyEvery = 1.5

// kind is what a sample of the film is made of.
type kind byte

const (
	picture kind = iota // a recorded frame
	again               // the last keyframe, as a keyframe
	repeat              // the last picture, as a picture that changes nothing
)

// sample is one sample of the film.
type sample struct {
	kind kind
	tick int64
}

// Plan says what a film is made of.
type Plan struct {
	Track   mp4.Track
	End     int64 // length in ticks
	Samples int
	Frames  int64 // of the samples, frames that were encoded

	rate string
	segs []segment.Segment
	keys []int
	runs []mp4.Run
}

// ErrEmpty says that there is no frame to make a film of.
var ErrEmpty = errors.New("there is no frame")

// NewPlan plans a film of the segments that ends at tick end (exclusive). The
// first segment's first frame is the film's first sample, at time 0.
func NewPlan(track mp4.Track, segs []segment.Segment, end int64, rate string) (*Plan, error) {
	if len(segs) == 0 {
		return nil, ErrEmpty
	}
	p := &Plan{Track: track, End: end, rate: rate, segs: segs}
	p.End = max(end, segs[0].First()+1)
	last := int64(-1)
	p.walk(func(s sample, _ *segment.Segment, f mp4.Sample) bool {
		if last >= 0 {
			p.lasts(s.tick - last)
		}
		last = s.tick
		if s.kind == again || s.kind == picture && f.Key {
			p.keys = append(p.keys, p.Samples)
		}
		if s.kind == picture {
			p.Frames++
		}
		p.Samples++
		return true
	})
	p.lasts(p.End - last)
	return p, nil
}

// lasts notes that the sample before lasts n ticks.
func (p *Plan) lasts(n int64) {
	if k := len(p.runs) - 1; k >= 0 && p.runs[k].Ticks == n {
		p.runs[k].Count++
		return
	}
	p.runs = append(p.runs, mp4.Run{Count: 1, Ticks: n})
}

// walk gives the film's samples in order, with the frame they come from; for
// repeats that is none. It is the one place that decides what is in a film.
func (p *Plan) walk(do func(sample, *segment.Segment, mp4.Sample) bool) {
	next := p.segs[0].First() // the first tick that has no sample yet
	lastKey := next
	fill := func(upTo int64) bool {
		for ; p.rate == CFR && next < upTo; next++ {
			if !do(sample{repeat, next}, nil, mp4.Sample{}) {
				return false
			}
		}
		return true
	}
	for i := range p.segs {
		seg := &p.segs[i]
		for _, f := range seg.Frames {
			if f.Tick >= p.End {
				break
			}
			k := picture
			if seg.Still {
				if p.rate == VFR || f.Tick-lastKey < p.keyTicks() {
					continue
				}
				k = again
			}
			if !fill(f.Tick) || !do(sample{k, f.Tick}, seg, f) {
				return
			}
			if f.Key {
				lastKey = f.Tick
			}
			next = f.Tick + 1
		}
	}
	fill(p.End)
}

func (p *Plan) keyTicks() int64 { return int64(keyEvery * float64(p.Track.FPS)) }
