package encode

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

const (
	// poolBytes bounds the frames that wait for encoders where fewer draw than
	// encode: then one who draws runs ahead into the next stretch.
	poolBytes = 192 << 20
	// perEncoder is the least number of buffers for each encoder: one that goes
	// into the pipe, one that is next, one that is drawn, and the one before it.
	perEncoder = 4
)

// pool holds the buffers of converted frames. Fresh memory costs more than the
// conversion that fills it, so buffers are used again.
type pool struct {
	width, height int
	free          chan *buffer
}

// buffer is one converted frame. It goes back to its pool when the last of its
// users releases it.
type buffer struct {
	*pixel.Frame
	pool  *pool
	users atomic.Int32
}

func newPool(width, height, drawers, encoders int) *pool {
	n := perEncoder * encoders
	if drawers < encoders {
		n = max(n, poolBytes/(width*height*3/2))
	}
	p := &pool{width: width, height: height, free: make(chan *buffer, n)}
	for range n {
		p.free <- &buffer{pool: p}
	}
	return p
}

// get waits for a buffer. Its user is the caller.
func (p *pool) get(ctx context.Context) (*buffer, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case b := <-p.free:
		if b.Frame == nil { // memory is taken when it is needed
			frame, err := pixel.NewFrame(p.width, p.height)
			if err != nil {
				p.free <- b
				return nil, fmt.Errorf("make a frame: %w", err)
			}
			b.Frame = frame
		}
		b.users.Store(1)
		return b, nil
	}
}

// share adds a user.
func (b *buffer) share() *buffer {
	b.users.Add(1)
	return b
}

// release ends the use by one user. nil is allowed.
func (b *buffer) release() {
	if b != nil && b.users.Add(-1) == 0 {
		b.pool.free <- b
	}
}
