package renderer

import (
	"context"
	"errors"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/renderer/encode"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// maxRestarts is how often what died is started again. What kills it three
// times is in the scene, or in the machine.
const maxRestarts = 2

// lasting calls do, and again when a program that it needs has died meanwhile:
// what was finished until then is right, and another one may go on. It tells
// how often.
func (s *Studio) lasting(ctx context.Context, do func() error) (restarts int, err error) {
	for ; ; restarts++ {
		err = do()
		if err == nil || restarts == maxRestarts || ctx.Err() != nil || !died(err) {
			return restarts, err
		}
		s.Log.Warn("what died is started again", "err", err)
	}
}

// died tells whether a browser, one of its processes, or an ffmpeg ended by
// itself or was killed by somebody else. What the scene did is never that.
func died(err error) bool {
	var (
		failure *scene.Failure
		browser *chromium.DiedError
		encoder *encode.EncoderError
	)
	switch {
	case errors.As(err, &failure):
		return false
	case errors.As(err, &browser), errors.Is(err, chromium.ErrGone):
		return true
	case errors.As(err, &encoder) && encoder.Hung:
		return true
	default:
		return encode.Killed(err)
	}
}

// diedFault is the error of what died again and again.
func diedFault(err error, hint, path string) error {
	if fault.As(err).Code == fault.EncodeFailed {
		return fault.Wrap(err, fault.EncodeFailed, hint, "ffmpeg died %d times while it encoded the film of %s", maxRestarts+1, path)
	}
	return fault.Wrap(err, fault.BrowserFailed, hint, "the browser died %d times while it drew %s", maxRestarts+1, path)
}
