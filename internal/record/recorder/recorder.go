// Package recorder is one run of a recording: it drives a capture engine,
// keeps it alive, puts its frames into segments and has them verified, until
// it is told where the film ends. It starts no display and no browser, and
// makes no film of the segments.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/host/clock"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/mp4"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/media/verify"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// Config is what a run needs.
type Config struct {
	Dir     *recording.Dir
	Engines []capture.Engine // in the order of preference: the next one is taken when the first frame can't be had
	Capture capture.Config   // Now is set by the recorder
	// DisplayAlive says whether the display can still come back; nil: assume so.
	DisplayAlive func() bool
	Log          *slog.Logger
}

// attempts is how often in a row a capture that gives no frame is started anew
// before it is given up.
const attempts = 5

// pause is the time between two attempts.
const pause = 500 * time.Millisecond

// Recorder is a run.
type Recorder struct {
	cfg    Config
	take   *take
	zero   time.Duration // CLOCK_BOOTTIME when the engine's count began
	cancel context.CancelFunc

	started chan struct{} // closed at the first frame
	done    chan struct{} // closed when the capture has ended and all is on disk
	clock   recording.Clock

	mu     sync.Mutex
	engine capture.Engine
	why    string
	live   *verify.Live
	segs   []segment.Segment
	ended  *recording.Stop // why the capture ended by itself
	err    error           // why it could not begin, or what went wrong while it ended
}

// Start begins to film and returns when the first frame was captured. When it
// fails, nothing that it started runs any more.
func Start(ctx context.Context, cfg Config) (*Recorder, error) {
	damage, err := cfg.Dir.CreateDamage()
	if err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, zero: clock.Boottime(), started: make(chan struct{}), done: make(chan struct{})}
	r.cfg.Capture.Now = func() time.Duration { return clock.Boottime() - r.zero }
	r.take = &take{
		fps: cfg.Capture.FPS, segs: cfg.Dir.Segments(), log: cfg.Log, damage: damage, end: -1,
		input:   inputLog{log: cfg.Dir.NewInputLog(), names: cfg.Capture.Keys},
		size:    [2]int{profile.Even(cfg.Capture.Width), profile.Even(cfg.Capture.Height)},
		onTrack: r.verifyWith, first: r.begin,
	}
	// The run outlives the start: ctx bounds the wait for the first frame only.
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	go func() {
		defer close(r.done)
		r.run(run)
	}()
	select {
	case <-r.started:
		return r, nil
	case <-r.done:
	case <-ctx.Done():
		cancel()
		<-r.done
	}
	select {
	case <-r.started: // the frame and the end came together
		return r, nil
	default:
	}
	cancel()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("wait for the first frame: %w", err)
	}
	return nil, r.err
}

// begin takes the time of the first frame as the recording's epoch.
func (r *Recorder) begin(base int64) {
	at := r.zero + segment.Length(base, r.cfg.Capture.FPS)
	boot, err := proc.BootID()
	if err != nil {
		r.cfg.Log.Warn("no boot id", "err", err)
	}
	r.clock = recording.Clock{Epoch: int64(at), Boot: boot, Wall: time.Now().Add(at - clock.Boottime()).UTC()}
	close(r.started)
}

// Clock ties the film's time to the machine's clocks.
func (r *Recorder) Clock() recording.Clock { return r.clock }

// Now is the film's time.
func (r *Recorder) Now() time.Duration { return clock.Boottime() - time.Duration(r.clock.Epoch) }

// Engine is the engine that films, by which means, and which others it was
// taken instead of because they could not.
func (r *Recorder) Engine() (name, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why == "" {
		return r.engine.Name(), r.engine.How()
	}
	return r.engine.Name(), r.engine.How() + "; " + r.why
}

func (r *Recorder) verifyWith(track mp4.Track) func(segment.Segment) {
	dec := verify.Decoder{FFmpeg: r.cfg.Capture.FFmpeg, Spawn: r.cfg.Capture.Spawn, Log: r.cfg.Log}
	live := verify.NewLive(context.Background(), dec, track)
	r.mu.Lock()
	r.live = live
	r.mu.Unlock()
	return func(s segment.Segment) {
		r.mu.Lock()
		r.segs = append(r.segs, s)
		r.mu.Unlock()
		live.Add(s)
	}
}

// run films until ctx ends or filming is impossible.
func (r *Recorder) run(ctx context.Context) {
	stop, err := r.film(ctx)
	err = errors.Join(err, r.take.finish())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.err = stop, err
}

// film runs the engines. It returns why it ended by itself, or why it could
// not begin.
func (r *Recorder) film(ctx context.Context) (*recording.Stop, error) {
	var why []string
	for _, e := range r.cfg.Engines {
		r.mu.Lock()
		r.engine, r.why = e, reason(why)
		r.mu.Unlock()
		err := e.Run(ctx, r.cfg.Capture, r.take)
		if r.begun() {
			return r.keep(ctx, e, err), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = errors.New("it ended without a frame")
		}
		r.cfg.Log.Warn("capture engine gave no frame", "engine", e.Name(), "err", err)
		why = append(why, fmt.Sprintf("%s: %v", e.Name(), err))
	}
	return nil, fmt.Errorf("no frame could be captured: %s", reason(why))
}

func reason(why []string) string {
	s := ""
	for i, w := range why {
		if i > 0 {
			s += "; "
		}
		s += w
	}
	return s
}

func (r *Recorder) begun() bool {
	select {
	case <-r.started:
		return true
	default:
		return false
	}
}

// keep starts an engine that ended by itself anew, for as long as that helps.
func (r *Recorder) keep(ctx context.Context, e capture.Engine, err error) *recording.Stop {
	failures := 0
	for ctx.Err() == nil {
		if stop := r.hopeless(err); stop != nil {
			return stop
		}
		r.take.note(recording.Incident{
			At: r.Now(), Kind: recording.IncidentDied, Salvaged: true,
			Detail: fmt.Sprintf("the capture ended by itself and was started again: %v", err),
		})
		before := r.take.snapshot(r.Now()).frames
		if err = e.Run(ctx, r.cfg.Capture, r.take); r.take.snapshot(r.Now()).frames > before {
			failures = 0
		} else if failures++; failures >= attempts {
			return &recording.Stop{At: r.Now(), Reason: recording.ReasonCaptureLost, Detail: fmt.Sprint(err)}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// hopeless says that an engine which ended with err need not be tried again.
func (r *Recorder) hopeless(err error) *recording.Stop {
	var lost *capture.DisplayLostError
	var enc *capture.EncoderError
	alive := r.cfg.DisplayAlive == nil || r.cfg.DisplayAlive()
	switch {
	case !alive:
		return &recording.Stop{At: r.Now(), Reason: recording.ReasonDisplayLost, Detail: "the X server ended"}
	case err == nil || errors.As(err, &lost) || errors.As(err, &enc):
		return nil
	default: // the sink refused: no space, or a stream that can't follow
		return &recording.Stop{At: r.Now(), Reason: recording.ReasonCaptureLost, Detail: err.Error()}
	}
}

// Lost is closed when the capture has ended, by itself or by EndAt.
func (r *Recorder) Lost() <-chan struct{} { return r.done }

// Ended says why the capture ended by itself, once Lost is closed; nil when it
// did not.
func (r *Recorder) Ended() *recording.Stop {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// EndAt fixes the film's end and tells the capture to end. It does not wait.
func (r *Recorder) EndAt(at time.Duration) {
	r.take.endAt(segment.Ticks(at, r.cfg.Capture.FPS))
	r.cancel()
}

// Live gives the figures for status.
func (r *Recorder) Live() recording.Live {
	now := r.Now()
	p := r.take.snapshot(now)
	r.mu.Lock()
	e, live := r.engine, r.live
	r.mu.Unlock()
	st := e.Stats()
	l := recording.Live{
		At: now, Captured: p.frames, Distinct: st.Distinct, Dropped: st.Dropped, Bytes: p.bytes,
		Achieved: p.achieved,
	}
	if live != nil {
		l.Verified = live.Frames()
	}
	return l
}

// Note adds an incident that somebody else saw, at the film's time now.
func (r *Recorder) Note(kind, detail string, salvaged bool) {
	r.take.note(recording.Incident{At: r.Now(), Kind: kind, Detail: detail, Salvaged: salvaged})
}

// Incidents lists what happened so far.
func (r *Recorder) Incidents() []recording.Incident { return r.take.snapshot(r.Now()).incidents }

// Captured is what a run left on disk.
type Captured struct {
	Track     mp4.Track
	Segments  []segment.Segment
	Bad       []verify.Bad
	Incidents []recording.Incident
	Stats     capture.Stats
	End       int64 // length of the film in ticks
}

// Drain waits until the capture has ended and everything is on disk.
func (r *Recorder) Drain() error {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Finish waits until everything that was captured is verified. It comes after
// EndAt or after the capture's own end.
func (r *Recorder) Finish() (Captured, error) {
	<-r.done
	r.mu.Lock()
	live := r.live
	r.mu.Unlock()
	var bad []verify.Bad
	var err error
	if live != nil {
		if bad, err = live.Finish(); err != nil {
			err = fmt.Errorf("verify the segments: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take.mu.Lock()
	defer r.take.mu.Unlock()
	end := r.take.end
	if end < 0 {
		end = r.take.last + 1
	}
	return Captured{
		Track: r.take.track, Segments: r.segs, Bad: bad, Incidents: r.take.incidents,
		Stats: r.engine.Stats(), End: end,
	}, err
}
