package renderer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/studio/renderer/encode"
	"github.com/proofreel/proofreel/internal/studio/renderer/stage"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// slowFilm is the mean time of a frame from which on a film says that it is
// slow: so far above what a scene should take that a busy machine alone does
// not get there.
const slowFilm = 250 * time.Millisecond

// frames is a stage as the encoder sees it. It also tells how slow the scene is.
type frames struct {
	*stage.Stage

	mu      sync.Mutex
	n       int
	total   time.Duration
	slowest time.Duration
	at      int // the frame that was slowest
}

// Frames implements encode.Source.
func (f *frames) Frames(ctx context.Context, worker, from, to int, use func(int, encode.Frame) error) error {
	return f.Stage.Frames(ctx, worker, from, to, func(n int, p stage.Frame) error { //nolint:wrapcheck // it is the user's error already
		f.count(n, p.Cost)
		return use(n, encode.Frame{Pix: p.Pix, Stride: p.Stride, Width: p.Width, Height: p.Height})
	})
}

func (f *frames) count(frame int, cost time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	f.total += cost
	if cost > f.slowest {
		f.slowest, f.at = cost, frame
	}
}

// slow is a note that the film took long because of the scene; false when it
// did not.
func (f *frames) slow() (scene.Note, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 || f.total/time.Duration(f.n) < slowFilm {
		return scene.Note{}, false
	}
	return scene.Note{
		Code: "slow_frames", Frame: f.at,
		Text: fmt.Sprintf("a frame took %d ms in the mean, frame %d %d ms: `proofreel scene check` helps to find out why",
			(f.total / time.Duration(f.n)).Milliseconds(), f.at, f.slowest.Milliseconds()),
	}, true
}
