package x11

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// Name is the engine's stable name.
const Name = "x11-damage"

// Engine films an X11 display by its damage.
type Engine struct {
	captured, distinct, dropped atomic.Int64
	how                         atomic.Value // string; of the last run
}

// New makes an engine that has filmed nothing yet.
func New() *Engine { return &Engine{} }

// Name implements capture.Engine.
func (*Engine) Name() string { return Name }

// How implements capture.Engine.
func (e *Engine) How() string {
	if how, ok := e.how.Load().(string); ok {
		return how
	}
	return "X DAMAGE with pixels through MIT-SHM, where the X server has both"
}

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
		return "", explain(err, target.Display)
	}
	defer s.close()
	return s.how(), nil
}

// Run implements capture.Engine. It returns an *UnsupportedError, with nothing
// filmed, when this display's pixels can't be read.
func (e *Engine) Run(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
	err := e.run(ctx, cfg, sink)
	var lost *lostError
	if errors.As(err, &lost) && ctx.Err() != nil {
		return nil // all that was asked for is there
	}
	return explain(err, cfg.Display)
}

// explain names the display that was lost.
func explain(err error, display string) error {
	var lost *lostError
	if errors.As(err, &lost) {
		return &capture.DisplayLostError{Display: display, Err: lost.err}
	}
	return err
}

func (e *Engine) run(ctx context.Context, cfg capture.Config, sink capture.Sink) error {
	s, err := openScreen(ctx, cfg.Target, cfg.Now)
	if err != nil {
		return err
	}
	defer s.close()
	defer hurry(ctx, s)()
	e.how.Store(s.how())
	r, err := newRun(e, cfg, s, sink)
	if err != nil {
		return err
	}
	filmed := r.film(ctx)
	// What was filmed is delivered whatever ended the film. The encoder's
	// error goes first: the loop only saw what it caused.
	return cmp.Or(r.encoder.finish(ctx), filmed)
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
