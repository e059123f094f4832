package x11

import (
	"errors"
	"fmt"
	"image"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

// take fetches what is pending, paints it, and feeds the frame if it changed.
// lag is how late that is.
func (r *run) take(now, lag time.Duration) error {
	r.looked = now
	rects, err := r.damage()
	if err != nil {
		return err
	}
	p := r.pending
	r.pending = pending{}
	bounds := r.canvas.bounds(r.screen.size)
	if rects = append(rects, p.rects...); p.whole {
		rects = []image.Rectangle{bounds}
	}
	changed, err := r.paint(plan(rects, bounds))
	if errors.Is(err, errShrunk) {
		// The event that tells the new size is on its way; the damage stays.
		r.pending = pending{any: true, whole: true, first: p.first, last: now}
		return r.resized()
	}
	if err != nil {
		return err
	}
	if p.whole {
		if changed, err = r.canvas.blacken(changed, bounds); err != nil {
			return err
		}
	}
	if len(changed) == 0 && r.started {
		return nil
	}
	r.governor.frame(max(0, lag))
	r.counters.distinct.Add(1)
	tick := r.grid.take(p.last)
	r.sink.change(capture.Change{At: r.grid.at(tick), Rects: changed})
	r.feed(tick)
	return nil
}

// paint fetches rects into the standing picture and says what changed.
func (r *run) paint(rects []image.Rectangle) ([]capture.Rect, error) {
	if len(rects) == 0 {
		return nil, nil
	}
	pixels, err := r.screen.fetch(rects)
	if err != nil {
		return nil, err
	}
	var changed []capture.Rect
	for i, rect := range rects {
		stride := r.screen.stride(rect.Dx())
		if r.cursor != nil {
			r.cursor.draw(pixels[i], stride, rect, r.screen.format)
		}
		if changed, err = r.canvas.paint(changed, rect, pixels[i], stride); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// feed gives the standing picture to the encoder.
func (r *run) feed(tick int64) {
	if !r.started {
		r.started, r.first = true, tick
	}
	r.counters.captured.Add(1)
	r.encoder.feed(r.canvas.frame, tick, time.Duration(tick-r.first)*time.Second/time.Duration(r.cfg.FPS))
}

// askPointer follows the pointer, and logs where it is if nobody else does.
func (r *run) askPointer(now time.Duration) error {
	at, ok, err := r.screen.pointer()
	if err != nil {
		return err
	}
	if ok && at != r.pointer {
		r.pointerMoved(at, now)
	}
	every := max(pointerEvery, r.grid.period())
	if r.cursor != nil && now-r.movedAt < pointerRests {
		every = r.grid.period()
	}
	r.pointerAt = now + every
	return nil
}

func (r *run) pointerMoved(to image.Point, now time.Duration) {
	r.pointer, r.movedAt = to, now
	if r.cursor != nil {
		moved := *r.cursor
		moved.at = to
		r.moveCursor(&moved, now)
	}
	if r.logged {
		r.sink.input(capture.Input{At: now, Kind: capture.InputMove, X: to.X, Y: to.Y})
	}
}

// moveCursor damages where the pointer's picture was and where it will be.
func (r *run) moveCursor(to *cursor, now time.Duration) {
	r.pending.add(now, now)
	r.pending.rects = append(r.pending.rects, r.cursor.box(), to.box())
	r.cursor, r.pointer = to, to.at
}

// how says by which means the screen is filmed.
func (s *screen) how() string {
	events, pixels := "X DAMAGE", "MIT-SHM"
	if s.damage == 0 {
		events = "polling"
	}
	if s.memory == nil {
		pixels = "the socket"
	}
	how := fmt.Sprintf("%s with pixels through %s, %s", events, pixels, s.format)
	for _, why := range s.lacking {
		how += "; " + why
	}
	return how
}
