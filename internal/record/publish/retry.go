package publish

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Attempts are bounded, and the time between them grows.
const (
	maxAttempts = 4
	firstDelay  = time.Second
	maxDelay    = 30 * time.Second
)

// transient is a failure that another attempt may not meet: the network, a
// server's fault (5xx), too many requests (429).
type transient struct {
	err   error
	after time.Duration // what the server asked to wait; 0: nothing
}

func (e *transient) Error() string { return e.err.Error() }

func (e *transient) Unwrap() error { return e.err }

// retry calls try until it succeeds, fails with something that is not
// *transient, or has failed maxAttempts times. It never goes on after ctx.
func (u uploads) retry(ctx context.Context, what string, try func(context.Context) error) error {
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		u.Beat()
		err := try(ctx)
		var t *transient
		if err == nil || !errors.As(err, &t) {
			return err
		}
		if cause := ctx.Err(); cause != nil {
			return errors.Join(cause, err)
		}
		if attempt == maxAttempts {
			return err
		}
		// Half fixed, half by chance: many recorders must not come back together.
		wait := delay/2 + time.Duration(float64(delay)*u.Jitter())
		wait = min(max(wait, t.after), maxDelay)
		u.Log.Warn("trying again", "what", what, "attempt", attempt, "wait", wait, "error", u.redact.clean(err.Error()))
		if err := beating(u.Beat, wait+time.Second, func() error { return u.Sleep(ctx, wait) }); err != nil {
			return errors.Join(err, t.err)
		}
		delay = min(2*delay, maxDelay)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func randomFraction() float64 { return rand.Float64() } //nolint:gosec // jitter is no secret
