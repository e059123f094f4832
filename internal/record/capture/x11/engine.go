package x11

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// Name is the engine's stable name.
const Name = "x11-damage"

// PointerSink is a capture.Sink that also wants to know where the pointer is,
// whether or not it is drawn. It is told when the pointer has moved, at most
// 20 times a second.
type PointerSink interface {
	capture.Sink
	// Pointer says that the pointer's hot spot is at x, y, in pixels of the
	// display, at the time at since the epoch.
	Pointer(at time.Duration, x, y int) error
}

// Engine films an X11 display by its damage.
type Engine struct {
	captured, distinct, dropped atomic.Int64
}

// New makes an engine that has filmed nothing yet.
func New() *Engine { return &Engine{} }

// Name implements capture.Engine.
func (*Engine) Name() string { return Name }

// Stats implements capture.Engine.
func (e *Engine) Stats() capture.Stats {
	return capture.Stats{Captured: e.captured.Load(), Distinct: e.distinct.Load(), Dropped: e.dropped.Load()}
}

// Check connects to a display and says by which means this engine would film
// it, in words for the answer, or an *UnsupportedError or a
// *capture.DisplayLostError.
func Check(ctx context.Context, target capture.Target) (how string, err error) {
	s, err := openScreen(ctx, target, func() time.Duration { return 0 })
	if err != nil {
		return "", err
	}
	defer s.close()
	return s.how(), nil
}

// Run implements capture.Engine. It returns an *UnsupportedError, with nothing
// filmed, when this display's pixels can't be read.
func (e *Engine) Run(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
	s, err := openScreen(ctx, cfg.Target, cfg.Now)
	if err != nil {
		return err
	}
	defer s.close()
	defer hurry(ctx, s)()
	r, err := newRun(e, cfg, s, sink)
	if err != nil {
		return err
	}
	filmed := r.film(ctx)
	encoded := r.encoder.finish(ctx)

	var lost *lostError
	switch {
	case encoded != nil:
		return encoded
	case errors.As(filmed, &lost) && ctx.Err() != nil:
		return nil // all that was asked for is there
	case errors.As(filmed, &lost):
		return &capture.DisplayLostError{Display: cfg.Display, Err: filmed}
	default:
		return filmed
	}
}

// hurry bounds how long a server that no longer answers can hold us up once
// the film is to end.
func hurry(ctx context.Context, s *screen) (stop func()) {
	const grace = 2 * time.Second
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		select {
		case <-done:
		case <-time.After(grace):
			_ = s.net.Close()
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
