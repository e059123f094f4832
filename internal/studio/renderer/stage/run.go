package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// ran is the answer of the harness's run, still and texts.
type ran struct {
	Texts  []drawnText `json:"texts"`
	Pixels string      `json:"pixels"`
	Cost   int64       `json:"cost"` // microseconds
	Next   int         `json:"next"`
	Error  *thrown     `json:"error"`
	Notes  []said      `json:"notes"`
}

// outcome is how a call of run ended.
type outcome struct {
	ran
	err error
}

// ringFrames has the worker draw and takes the frames from the ring.
func (w *worker) ringFrames(ctx context.Context, from, to int, use func(int, Frame) error) (err error) {
	w.runs++
	params, err := json.Marshal(map[string]any{
		"run": w.runs, "first": w.first(from), "from": from, "to": to, "sequential": w.sequential,
	})
	if err != nil {
		return fmt.Errorf("write the parameters of a run: %w", err)
	}
	done := make(chan outcome, 1)
	calling, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		var o outcome
		o.err = w.realm.Evaluate(calling, fmt.Sprintf("__stage.run(%s)", params), &o.ran)
		done <- o
	}()
	t := taker{w: w, ctx: ctx, done: done, at: from}
	err = t.takeSafely(to, use)
	if !t.ended {
		err = errors.Join(err, t.finish())
	}
	if err == nil && t.outcome.Error != nil { // told after the last frame
		err = w.s.threw(*t.outcome.Error)
	}
	w.s.takeNotes(t.outcome.Notes)
	w.next = t.outcome.Next
	if !w.sequential {
		w.next = 0
	}
	return err
}

// taker takes the frames of one run.
type taker struct {
	w       *worker
	ctx     context.Context //nolint:containedctx // of the one call that the taker lives for
	done    <-chan outcome
	outcome outcome // once it has ended
	ended   bool
	at      int           // the frame that is waited for
	cost    time.Duration // of the frame before
}

// takeSafely is take, but for a file that gets shorter under the mapping, which
// a browser gone bad could do: touching what is gone is an error then, and not
// the end of this process.
func (t *taker) takeSafely(to int, use func(int, Frame) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		caught := recover()
		if caught == nil {
			return
		}
		fault, ok := caught.(interface{ Addr() uintptr })
		if !ok || !t.w.ring.holds(fault.Addr()) {
			panic(caught) // of use, and none of ours
		}
		err = t.w.s.explain(errShrunk, t.at)
		t.w.s.browser.Kill(err)
	}()
	return t.take(to, use)
}

// errShrunk says that the browser took away what it had given.
var errShrunk = errors.New("the browser cut off the file with the frames")

// take gives frames to use as they come.
func (t *taker) take(to int, use func(int, Frame) error) error {
	w := t.w
	for ; t.at < to; t.at++ {
		if err := t.wait(); err != nil {
			return err
		}
		e, err := w.ring.entry(w.used)
		if err != nil {
			return w.explain(t.ctx, err, t.at)
		}
		if e.frame != t.at {
			return w.explain(t.ctx, fmt.Errorf("frame %d came, and %d was due", e.frame, t.at), t.at)
		}
		f := w.layout.frame(w.buf, e.pix, w.s.meta.Width, w.s.meta.Height)
		f.Cost, t.cost = e.cost, e.cost
		err = use(t.at, f)
		w.used++
		if err := errors.Join(err, w.ring.release(w.used)); err != nil {
			return err
		}
	}
	return nil
}

const (
	shortestNap = 200 * time.Microsecond
	longestNap  = 4 * time.Millisecond
)

// nap is how long to sleep between two looks at the ring: a part of what the
// frame before took, since there are slots for more than one frame and being
// late by a part of one delays nobody. Waking up costs most in a gVisor box.
func (t *taker) nap() time.Duration { return min(max(t.cost/4, shortestNap), longestNap) }

// wait waits until the next frame is in the ring. Looking is a load from
// memory; a message for each frame would cost both sides more than the naps.
func (t *taker) wait() error {
	w := t.w
	limit := w.s.cfg.FrameTimeout
	deadline, drawing := time.Now().Add(limit), -1
	for {
		ended := t.poll() // before the ring is looked at: what came before its end counts
		written, now, err := w.ring.state()
		if err != nil {
			return w.explain(t.ctx, err, t.at)
		}
		if written != w.used {
			return nil
		}
		if ended {
			return t.failed()
		}
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		if now != drawing { // frames before the one that is waited for
			deadline, drawing = time.Now().Add(limit), now
		}
		if time.Now().After(deadline) {
			frame := t.at
			if drawing >= 0 {
				frame = drawing
			}
			return w.explain(t.ctx, w.hung(t.ctx, frame, limit), frame)
		}
		time.Sleep(t.nap())
	}
}

// poll sees whether the run has ended.
func (t *taker) poll() bool {
	if t.ended {
		return true
	}
	select {
	case t.outcome = <-t.done:
		t.ended = true
	default:
	}
	return t.ended
}

// failed is why a run ended before its last frame.
func (t *taker) failed() error {
	switch o := t.outcome; {
	case o.err != nil:
		return t.w.explain(t.ctx, o.err, t.at)
	case o.Error != nil:
		return t.w.s.threw(*o.Error)
	default:
		return t.w.explain(t.ctx, fmt.Errorf("the worker ended at frame %d", o.Next), t.at)
	}
}

// finish waits for the end of a run, and makes it come when frames are not
// taken any more. A frame that is being drawn has its time, but after the
// context's end not for long.
func (t *taker) finish() error {
	w := t.w
	if err := w.ring.abort(w.runs); err != nil {
		return err
	}
	limit := w.s.cfg.FrameTimeout
	if t.ctx.Err() != nil {
		limit = min(limit, endPatience)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case t.outcome = <-t.done:
	case <-timer.C:
		w.s.browser.Kill(fmt.Errorf("a frame did not end within %v: %w", limit, errTimeout))
		t.outcome = <-t.done
	}
	t.ended = true
	written, _, err := w.ring.state()
	if err != nil {
		return err
	}
	w.used = written // what was drawn ahead is dropped
	return w.ring.release(written)
}

// callFrames asks for each frame.
func (w *worker) callFrames(ctx context.Context, from, to int, use func(int, Frame) error) error {
	width, height := w.s.meta.Width, w.s.meta.Height
	for frame := from; frame < to; frame++ {
		params := map[string]any{"first": w.first(frame), "frame": frame, "sequential": w.sequential}
		got, err := w.ask(ctx, "still", frame, 1+frame-w.first(frame), params)
		if err != nil {
			return err
		}
		w.next = got.Next
		pix, err := decodePixels(got.Pixels, width*height*4)
		if err != nil {
			return w.explain(ctx, err, frame)
		}
		f := w.layout.frame(w.buf, pix, width, height)
		f.Cost = time.Duration(got.Cost) * time.Microsecond
		if err := use(frame, f); err != nil {
			return err
		}
	}
	return nil
}

// ask calls a function of the harness that draws up to the frame. It may take
// the time of as many frames as it draws.
func (w *worker) ask(ctx context.Context, function string, frame, frames int, params any) (ran, error) {
	var got ran
	raw, err := json.Marshal(params)
	if err != nil {
		return got, fmt.Errorf("write the parameters of %s: %w", function, err)
	}
	limit := w.s.cfg.FrameTimeout * time.Duration(frames)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	err = w.realm.Evaluate(timed, fmt.Sprintf("__stage.%s(%s)", function, raw), &got)
	w.s.takeNotes(got.Notes)
	switch {
	case errors.Is(err, errTimeout):
		return got, w.explain(ctx, w.hung(ctx, frame, limit), frame)
	case err != nil:
		return got, w.explain(ctx, err, frame)
	case got.Error != nil:
		return got, w.s.threw(*got.Error)
	}
	return got, nil
}
