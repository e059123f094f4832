package recorder

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// gapAfter is for how long neither a frame nor a hold may come before the
// film has a gap there.
const gapAfter = 2500 * time.Millisecond

// take is the sink of one recording: it rebases ticks so that the first frame
// is tick 0, writes segments, keeps the damage log, and notes incidents.
type take struct {
	fps     int
	segs    string
	onTrack func(mp4.Track) func(segment.Segment) // told once, when the first header comes; gives the taker of ended segments
	first   func(base int64)                      // told once, at the first frame
	log     *slog.Logger
	damage  *recording.DamageLog
	input   inputLog

	mu        sync.Mutex
	w         *segment.Writer
	track     mp4.Track
	size      [2]int
	base      int64 // tick of the first frame, by the engine's count
	begun     bool
	last      int64 // last tick that is covered, by the film's count
	end       int64 // first tick that is not in the film; <0: not known yet
	frames    int64
	bytes     int64
	recent    []int64 // ticks of the frames of the last 5 s, for the achieved rate
	incidents []recording.Incident
	kinds     map[string]int // how many of each kind there were
}

// errHeader says that a restarted encoder makes a stream that can't follow the
// one before in one film.
var errHeader = errors.New("the encoder's parameter sets changed")

// Header implements capture.Sink.
func (t *take) Header(sps, pps []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.w != nil {
		if string(sps) != string(t.track.SPS) || string(pps) != string(t.track.PPS) {
			return errHeader
		}
		return nil
	}
	t.track = mp4.Track{Width: t.size[0], Height: t.size[1], FPS: t.fps, SPS: sps, PPS: pps}
	t.w = segment.NewWriter(t.segs, t.track, 0, t.onTrack(t.track))
	return nil
}

// Frame implements capture.Sink.
func (t *take) Frame(f segment.Frame) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.w == nil {
		return errors.New("a frame came before its parameter sets")
	}
	if !t.begun {
		t.begun, t.base, t.last = true, f.Tick, 0
		t.first(f.Tick)
		t.inputs() // what came before the film
	}
	f.Tick -= t.base
	if t.end >= 0 && f.Tick >= t.end {
		return nil // after the film's end
	}
	if t.frames > 0 && f.Tick <= t.last {
		// An engine that was started anew counts from its own first frame,
		// which may fall on a tick that has a picture already.
		f.Tick = t.last + 1
	}
	t.gap(f.Tick)
	if err := t.w.Write(f); err != nil {
		return err
	}
	t.last = f.Tick
	t.frames++
	t.bytes += int64(len(f.Data))
	t.recent = append(t.recent, f.Tick)
	return nil
}

// Hold implements capture.Sink.
func (t *take) Hold(tick int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		return nil
	}
	tick -= t.base
	if tick <= t.last || (t.end >= 0 && tick >= t.end) {
		return nil
	}
	t.gap(tick)
	t.last = tick
	return t.w.Hold(tick)
}

// gap notes an incident when nothing was known of the screen for too long
// before tick.
func (t *take) gap(tick int64) {
	d := segment.Length(tick-t.last, t.fps)
	if d <= gapAfter {
		return
	}
	t.add(recording.Incident{
		At: segment.Length(t.last, t.fps), Kind: recording.IncidentGap,
		Detail: fmt.Sprintf("no picture of the screen for %.1f s; the film holds the one before", d.Seconds()),
	})
}

// Change implements capture.Sink.
func (t *take) Change(c capture.Change) error {
	t.mu.Lock()
	base, begun := t.base, t.begun
	t.mu.Unlock()
	if !begun || t.damage == nil {
		return nil
	}
	at := c.At - segment.Length(base, t.fps)
	rects := make([]recording.Rect, len(c.Rects))
	for i, r := range c.Rects {
		rects[i] = recording.Rect(r)
	}
	return t.damage.Add(max(at, 0), rects)
}

// Event implements capture.Sink.
func (t *take) Event(e capture.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := max(e.At-segment.Length(t.base, t.fps), 0)
	if !t.begun {
		at = 0
	}
	t.add(recording.Incident{At: at, Kind: string(e.Kind), Detail: e.Detail})
}

// perKind is how many incidents of one kind are told one by one: a day on a
// busy machine must not make an answer of a hundred thousand lines.
const perKind = 50

// add notes an incident; the caller holds the lock.
func (t *take) add(i recording.Incident) {
	if t.kinds == nil {
		t.kinds = map[string]int{}
	}
	switch t.kinds[i.Kind]++; {
	case t.kinds[i.Kind] <= perKind:
		t.incidents = append(t.incidents, i)
	case t.kinds[i.Kind] == perKind+1:
		i.Detail = "and more of this kind from here on"
		t.incidents = append(t.incidents, i)
	}
}

// note adds an incident of the recorder's own.
func (t *take) note(i recording.Incident) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log.Warn("incident", "kind", i.Kind, "detail", i.Detail, "at", i.At)
	t.add(i)
}

// endAt fixes the film's end: frames at or after tick end are not in it.
func (t *take) endAt(end int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end < 0 {
		t.end = max(end, 1) // a film has its first frame
	}
}

// finish ends the last segment.
func (t *take) finish() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.input.close()
	if t.w == nil {
		return err
	}
	if t.begun && t.end > 0 {
		t.gap(t.end)
	}
	err = errors.Join(err, t.w.Finish())
	if t.damage != nil {
		err = errors.Join(err, t.damage.Close())
	}
	return err
}

// progress is a snapshot of the counters.
type progress struct {
	frames, bytes, last int64
	achieved            float64
	incidents           []recording.Incident
}

// snapshot gives the counters at the film's time now.
func (t *take) snapshot(now time.Duration) progress {
	const window = 5 * time.Second
	t.mu.Lock()
	defer t.mu.Unlock()
	from := int64(now-window) * int64(t.fps) / int64(time.Second)
	i := 0
	for i < len(t.recent) && t.recent[i] < from {
		i++
	}
	t.recent = append(t.recent[:0], t.recent[i:]...)
	span := min(now, window).Seconds()
	p := progress{frames: t.frames, bytes: t.bytes, last: t.last, incidents: append([]recording.Incident(nil), t.incidents...)}
	if span > 0 {
		p.achieved = float64(len(t.recent)) / span
	}
	return p
}
