package encode

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// film is one film in the making.
type film struct {
	o         Options
	work      *work
	src       Source
	pool      *pool
	stretches []Stretch
	samples   map[int]bool  // frames that are looked at for the poster
	slots     chan struct{} // one for each encoder that may run

	mu     sync.Mutex
	pieces []piece // by stretch; those not finished have no pictures
	reused int
	done   int // frames that went into encoders
	best   score
	poster Frame // pixels of best; empty when it was not drawn by this process
}

func newFilm(o Options, w *work, src Source) *film {
	f := &film{o: o, work: w, src: src, stretches: Stretches(o.Frames, o.FPS), samples: sampled(o.Frames), best: score{Frame: -1}}
	f.pieces = make([]piece, len(f.stretches))
	return f
}

// encode makes all stretches that are not there. The first error ends the
// others; stretches of which all frames were drawn are still finished then.
func (f *film) encode(parent context.Context) error {
	todo, err := f.reuse()
	if err != nil || len(todo) == 0 {
		return err
	}
	queue := make(chan Stretch, len(todo))
	for _, s := range todo {
		queue <- s
	}
	close(queue)
	// One encoder more than run at a time: while one gives its last pictures,
	// the next takes its first frames.
	f.slots = make(chan struct{}, min(f.o.Parallel+1, len(todo)))
	lanes := min(f.src.Workers(), len(todo))
	f.pool = newPool(f.o.Width, f.o.Height, lanes, cap(f.slots))

	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var wg sync.WaitGroup
	try := func(do func() error) {
		wg.Go(func() {
			if err := do(); err != nil {
				cancel(err)
			}
		})
	}
	// A stretch's end is waited for by parent: another stretch's fault is no
	// reason to lose this one. An interrupt is.
	later := func(e *encoder, scores []score) { try(func() error { return f.finish(parent, e, scores) }) }
	for worker := range lanes {
		try(func() error {
			for s := range queue {
				if err := f.draw(ctx, worker, s, later); err != nil {
					return err
				}
			}
			return nil
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return nil
}

// reuse takes what an earlier render finished and lists the rest.
func (f *film) reuse() (todo []Stretch, err error) {
	for i, s := range f.stretches {
		p, ok, err := f.work.find(s)
		if err != nil {
			return nil, inWork(err, f.work.dir, "read finished parts of the film")
		}
		if !ok {
			todo = append(todo, s)
			continue
		}
		f.pieces[i] = p
		f.reused++
		f.done += s.Len()
	}
	if f.reused > 0 {
		f.o.Log.Info("finished parts of an interrupted render are used", "parts", f.reused, "of", len(f.stretches))
		f.o.Progress(f.done, f.o.Frames)
	}
	return todo, nil
}

// draw draws one stretch into an encoder of its own, and gives that to later,
// which waits for its end, so that the next stretch can begin meanwhile.
func (f *film) draw(ctx context.Context, worker int, s Stretch, later func(*encoder, []score)) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case f.slots <- struct{}{}:
	}
	e, err := startEncoder(f.o, s, f.work.data(s)+partSuffix, cap(f.pool.free))
	if err != nil {
		<-f.slots
		return err
	}
	d := drawing{film: f, encoder: e, next: s.From}
	err = f.src.Frames(ctx, worker, s.From, s.To, func(frame int, fr Frame) error {
		d.err = d.take(ctx, frame, fr)
		return d.err
	})
	d.before.release()
	if err := d.verdict(ctx, err); err != nil {
		e.abort()
		<-f.slots
		return err
	}
	later(e, d.scores)
	return nil
}

// finish waits for a stretch's last pictures and keeps it.
func (f *film) finish(ctx context.Context, e *encoder, scores []score) error {
	defer func() { <-f.slots }()
	p, err := e.finish(ctx)
	if err != nil {
		return err
	}
	p.Scores = scores
	if err := f.work.keep(e.stretch, p); err != nil {
		return inWork(err, f.work.dir, "keep a finished part of the film")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pieces[e.stretch.Index] = p
	return nil
}

// drawing is one stretch that is being drawn.
type drawing struct {
	*film
	encoder *encoder
	next    int     // the frame that is due
	before  *buffer // the frame before it, as it was converted
	scores  []score
	err     error // of take
}

// take takes a frame: converted into a buffer, and given to the encoder if it
// differs from the one before.
func (d *drawing) take(ctx context.Context, frame int, fr Frame) error {
	if err := d.expected(frame, fr); err != nil {
		return err
	}
	b, err := d.pool.get(ctx)
	if err != nil {
		return err
	}
	if _, err := pixel.Convert(b.Frame, b.Bounds(), fr.Pix, fr.Stride, pixel.BGRX); err != nil {
		b.release()
		return fmt.Errorf("convert frame %d: %w", frame, err)
	}
	if d.before != nil && bytes.Equal(d.before.Data, b.Data) {
		b.release()
	} else {
		if err := d.encoder.give(ctx, frame, b); err != nil {
			b.release()
			return err
		}
		d.before.release()
		d.before = b
	}
	if d.samples[frame] {
		s := rate(fr, frame, d.o.Frames)
		d.scores = append(d.scores, s)
		d.consider(s, fr)
	}
	d.next++
	d.progress()
	return nil
}

func (d *drawing) expected(frame int, fr Frame) error {
	switch {
	case frame != d.next || frame >= d.encoder.stretch.To:
		return fmt.Errorf("frame %d was drawn where frame %d of up to %d was due", frame, d.next, d.encoder.stretch.To-1)
	case fr.Width != d.o.Width || fr.Height != d.o.Height:
		return fmt.Errorf("frame %d has %dx%d pixels, the film %dx%d", frame, fr.Width, fr.Height, d.o.Width, d.o.Height)
	case fr.Stride < 4*fr.Width || len(fr.Pix) < (fr.Height-1)*fr.Stride+4*fr.Width:
		return fmt.Errorf("frame %d has %d bytes with stride %d", frame, len(fr.Pix), fr.Stride)
	}
	return nil
}

// verdict is what became of the stretch, given what Frames returned. Our own
// errors come first: a Source may wrap what use returned, or swallow it.
func (d *drawing) verdict(ctx context.Context, err error) error {
	switch {
	case d.err != nil:
		return d.err
	case err != nil:
		return fmt.Errorf("draw frames %d to %d: %w", d.encoder.stretch.From, d.encoder.stretch.To-1, err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case d.next != d.encoder.stretch.To:
		return fmt.Errorf("%d of %d frames of a stretch were drawn", d.next-d.encoder.stretch.From, d.encoder.stretch.Len())
	}
	return nil
}

// consider keeps the pixels of the best frame for the poster so far.
func (f *film) consider(s score, fr Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.best.Frame < 0 || s.better(f.best) {
		f.best, f.poster = s, fr.clone()
	}
}

// progress counts a frame and tells so.
func (f *film) progress() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done++
	f.o.Progress(f.done, f.o.Frames)
}
