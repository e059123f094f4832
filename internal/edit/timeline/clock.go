package timeline

import (
	"math"
	"slices"
	"time"
)

// TickAt is the tick of the recording that a frame of the clip shows. Frames
// outside the clip show its first or last picture.
func (p *Plan) TickAt(frame int64) int64 {
	frame = min(max(frame, 0), p.Frames-1)
	r := p.Runs[p.runAt(func(r Run) bool { return r.Frame <= frame })]
	return min(r.From+(frame-r.Frame)*(r.To-r.From)/r.Frames, p.LastTick)
}

// FrameAt is TickAt as a time of the recording: the picture to show is that of
// the last recorded frame whose time is not after it.
func (p *Plan) FrameAt(frame int64) time.Duration { return p.recGrid().time(p.TickAt(frame)) }

// Time is the time of a frame of the clip.
func (p *Plan) Time(frame int64) time.Duration { return grid{int64(p.Options.FPS)}.time(frame) }

// Length is the clip's length.
func (p *Plan) Length() time.Duration { return p.Time(p.Frames) }

// Frame is the clip frame that is shown at a time of the clip.
func (p *Plan) Frame(at time.Duration) int64 {
	return min(grid{int64(p.Options.FPS)}.floor(at), p.Frames-1)
}

// ToRecording turns a time of the clip into one of the recording. It is total
// (times outside become the ends) and never falls. During a hold it stands
// still; at a cut it jumps.
func (p *Plan) ToRecording(clip time.Duration) time.Duration {
	clip = min(max(clip, 0), p.Length())
	r := p.Runs[p.runAt(func(r Run) bool { return p.Time(r.Frame) <= clip })]
	c0, c1, r0, r1 := p.ends(r)
	return r0 + share(clip-c0, c1-c0, r1-r0)
}

// ToClip turns a time of the recording into one of the clip. It is total and
// never falls. Times inside a cut become the cut's place in the clip; a time
// that is held becomes the end of its hold, where its event's caption comes.
// Outside of cuts, ToRecording of the answer is the time again (within 1 µs).
func (p *Plan) ToClip(rec time.Duration) time.Duration {
	g := p.recGrid()
	if rec < 0 {
		return 0
	}
	i := p.runAt(func(r Run) bool { return g.time(r.From) <= rec })
	c0, c1, r0, r1 := p.ends(p.Runs[i])
	switch {
	case rec >= r1 && i+1 < len(p.Runs) || p.Runs[i].Hold:
		return c1 // in the cut after the run
	case rec >= r1:
		return p.Length()
	default:
		return c0 + share(rec-r0, r1-r0, c1-c0)
	}
}

// UTC turns a time of the clip into one of the world.
func (p *Plan) UTC(clip time.Duration) time.Time {
	return p.Start.Add(p.ToRecording(clip)).UTC()
}

// FromUTC turns a time of the world into one of the clip, like ToClip.
func (p *Plan) FromUTC(at time.Time) time.Duration { return p.ToClip(at.Sub(p.Start)) }

// Segment is a piece of the map between the clip's time and the recording's:
// inside it both run evenly (in a hold, the clip's alone).
type Segment struct {
	ClipFrom      time.Duration `json:"clipFromNs"`
	ClipTo        time.Duration `json:"clipToNs"`
	RecordingFrom time.Duration `json:"recordingFromNs"`
	RecordingTo   time.Duration `json:"recordingToNs"`
	UTC           time.Time     `json:"utc"` // at RecordingFrom
	Hold          bool          `json:"hold,omitempty"`
}

// Map is the map as a list, for those who have no Plan: what lies between the
// RecordingTo of one segment and the RecordingFrom of the next was cut.
func (p *Plan) Map() []Segment {
	list := make([]Segment, len(p.Runs))
	for i, r := range p.Runs {
		c0, c1, r0, r1 := p.ends(r)
		list[i] = Segment{c0, c1, r0, r1, p.Start.Add(r0).UTC(), r.Hold}
	}
	return list
}

func (p *Plan) recGrid() grid { return grid{int64(p.RecordingFPS)} }

// ends are a run's times in the clip and in the recording.
func (p *Plan) ends(r Run) (c0, c1, r0, r1 time.Duration) {
	g := p.recGrid()
	return p.Time(r.Frame), p.Time(r.Frame + r.Frames), g.time(r.From), g.time(r.To)
}

// runAt is the last run for which begun holds, as it does for all before it;
// the first run when it holds for none.
func (p *Plan) runAt(begun func(Run) bool) int {
	i, _ := slices.BinarySearchFunc(p.Runs, 0, func(r Run, _ int) int {
		if begun(r) {
			return -1
		}
		return 1
	})
	return max(i-1, 0)
}

// share is part/whole of the length of; whole is not negative.
func share(part, whole, of time.Duration) time.Duration {
	if whole <= 0 {
		return 0
	}
	return time.Duration(math.Round(float64(part) / float64(whole) * float64(of)))
}
