package x11

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

const (
	// keepalive is for how long a still screen stays without a sign.
	keepalive = time.Second
	// never is far beyond any recording.
	never = time.Duration(1<<63 - 1)
	// pointerEvery is how often the pointer is asked for when it is only
	// logged, or rests. While it moves and is drawn, every tick does.
	pointerEvery = 50 * time.Millisecond
	// pointerRests is after how long without a move it is taken to rest.
	pointerRests = time.Second
)

// run is one call of Engine.Run: the loop and what it knows.
type run struct {
	cfg      capture.Config
	counters *Engine
	sink     *oneAtATime
	screen   *screen
	canvas   *canvas
	encoder  *encoder
	grid     *grid
	governor *governor

	pending pending
	started bool          // the first frame was fed
	first   int64         // its tick
	looked  time.Duration // when pixels were fetched last
	held    time.Duration // when the sink was told last that nothing changes
	kept    time.Duration // when a frame was made last that only keeps the film alive

	cursor    *cursor // drawn; nil: not
	pointer   image.Point
	pointerAt time.Duration // when to ask for it again; never: not at all
	movedAt   time.Duration // when it was seen to move last
	logged    bool          // the sink is told of its moves from here

	secondAt   time.Duration // when the running second ends
	secondBusy time.Duration // the encoder's busy time at its start
	dropped    int64         // in this second
}

// pending is damage whose pixels are not in the film yet.
type pending struct {
	any         bool
	first, last time.Duration
	whole       bool              // the whole screen
	rects       []image.Rectangle // taken from the server already
	overdue     bool              // it was due and the encoder was busy
	pulled      int64             // tick at which rects were taken while overdue
}

func newRun(e *Engine, cfg capture.Config, s *screen, sink capture.Sink) (*run, error) {
	c, err := newCanvas(cfg.Width, cfg.Height, s.format)
	if err != nil {
		return nil, err
	}
	r := &run{
		cfg: cfg, counters: e, sink: &oneAtATime{sink: sink}, screen: s, canvas: c,
		grid: newGrid(cfg.FPS), governor: newGovernor(cfg.FPS), pointerAt: never,
	}
	if err := r.prepareCursor(); err != nil {
		return nil, err
	}
	if r.encoder, err = startEncoder(cfg, c.frame.Width, c.frame.Height, r.sink); err != nil {
		return nil, err
	}
	now := cfg.Now()
	for _, why := range s.lacking {
		r.sink.event(capture.Event{At: now, Kind: capture.EventFallback, Detail: why})
	}
	r.pending = pending{any: true, whole: true, first: now, last: now}
	r.secondAt = now + time.Second
	return r, nil
}

func (r *run) prepareCursor() error {
	if !r.cfg.Cursor {
		return nil
	}
	r.pointerAt = r.cfg.Now()
	if err := r.screen.watchCursor(); err != nil {
		return err
	}
	c, err := r.screen.cursor()
	if err != nil {
		return err
	}
	r.cursor, r.pointer = c, c.at
	return nil
}

// film works until ctx ends or something fails.
func (r *run) film(ctx context.Context) error {
	defer r.watchInput(ctx)()
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() { r.reportDrops(r.cfg.Now()) }()
	for ctx.Err() == nil {
		next, err := r.step()
		if err != nil {
			return err
		}
		timer.Reset(next - r.cfg.Now())
		select {
		case <-ctx.Done():
		case <-r.screen.inbox.wake:
		case <-r.encoder.wake:
		case <-timer.C:
		}
	}
	return r.lastFrame()
}

// lastFrame takes what was painted before the end. A page that never stops
// painting gets one look more, no second.
func (r *run) lastFrame() error {
	looked := r.looked
	for {
		next, err := r.step()
		if err != nil || !r.pending.any || r.looked != looked {
			return err
		}
		timer := time.NewTimer(next - r.cfg.Now())
		select {
		case <-r.encoder.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// step does all that is due and says when to come again.
func (r *run) step() (next time.Duration, err error) {
	state := r.encoder.state()
	if state.err != nil {
		return 0, state.err
	}
	if err := cmp.Or(r.sink.failed(), r.news()); err != nil {
		return 0, err
	}
	now := r.cfg.Now()
	r.endSecond(now, state)
	if now >= r.pointerAt {
		if err := r.askPointer(now); err != nil {
			return 0, err
		}
	}
	if r.pending.any {
		next, err = r.picture(now, state)
	} else {
		next, err = r.still(now, state)
	}
	return min(next, r.pointerAt), err
}

// news folds what the server told us into the state.
func (r *run) news() error {
	n := r.screen.inbox.take()
	if n.lost {
		return &lostError{errors.New("the X server closed the connection")}
	}
	if n.damaged {
		r.pending.add(n.first, n.last)
	}
	if n.resized {
		if err := r.resized(); err != nil {
			return err
		}
	}
	if n.askPointer {
		r.logged, r.pointer, r.pointerAt = true, image.Pt(-1, -1), 0
	}
	if n.cursor && r.cursor != nil {
		c, err := r.screen.cursor()
		if err != nil {
			return err
		}
		r.moveCursor(c, r.cfg.Now())
	}
	return nil
}

func (p *pending) add(first, last time.Duration) {
	if !p.any {
		p.any, p.first = true, first
	}
	p.last = max(p.last, last)
}

// resized follows the screen: the film keeps its size.
func (r *run) resized() error {
	before := r.screen.size
	if err := r.screen.resize(); err != nil {
		return err
	}
	now, size, film := r.cfg.Now(), r.screen.size, r.canvas.frame.Picture
	if size == before {
		return nil
	}
	r.pending.add(now, now)
	r.pending.whole = true
	detail := fmt.Sprintf("the screen is now %dx%d, the film stays at %dx%d", size.X, size.Y, film.X, film.Y)
	switch {
	case size.X > film.X || size.Y > film.Y:
		detail += ": what lies beyond it is not in the film"
	case size != film:
		detail += ": the rest of it is black"
	}
	r.sink.event(capture.Event{At: now, Kind: capture.EventGeometry, Detail: detail})
	return nil
}

// picture takes a picture of the pending damage when it is due.
func (r *run) picture(now time.Duration, state encoderState) (next time.Duration, err error) {
	due := r.grid.due(r.pending.first, r.pending.last)
	if r.looked > 0 { // a program that repaints equal pixels without a pause is looked at once a tick
		due = max(due, r.looked+r.grid.period()*time.Duration(r.grid.stride)/2)
	}
	if now < due {
		return due, nil
	}
	if !state.room() {
		return r.wait(now)
	}
	if r.pending.overdue {
		due = now // the wait is counted as misses, not as our lag
	}
	return now, r.take(now, now-due)
}

// wait notes what the film misses while the encoder is busy: damage that comes
// in a later tick than damage which was due already replaces it.
func (r *run) wait(now time.Duration) (next time.Duration, err error) {
	tick := r.grid.tick(now)
	p := &r.pending
	if p.overdue && tick < p.pulled+r.grid.stride {
		return r.grid.at(p.pulled + r.grid.stride), nil
	}
	rects, err := r.damage()
	if err != nil {
		return 0, err
	}
	if p.overdue && len(rects) > 0 {
		r.dropped++
		r.counters.dropped.Add(1)
		r.governor.miss()
	}
	p.rects = append(p.rects, rects...)
	p.overdue, p.pulled = true, tick
	return r.grid.at(tick + r.grid.stride), nil
}

// damage takes the server's damage; without DAMAGE all is damaged.
func (r *run) damage() ([]image.Rectangle, error) {
	if r.screen.damage == 0 {
		return []image.Rectangle{r.canvas.bounds(r.screen.size)}, nil
	}
	return r.screen.damaged()
}

// still keeps a still film alive. Without DAMAGE it also decides when to look.
func (r *run) still(now time.Duration, state encoderState) (next time.Duration, err error) {
	next, err = r.keepAlive(now, state)
	if r.screen.damage != 0 || err != nil {
		return next, err
	}
	if at := r.looked + r.grid.period()*time.Duration(r.grid.stride); now < at {
		return min(next, at), nil
	}
	r.pending = pending{any: true, first: now, last: now}
	return now, nil
}

// keepAlive holds the still film once a second; before the first hold its
// picture is made a keyframe, with which a segment can begin.
func (r *run) keepAlive(now time.Duration, state encoderState) (next time.Duration, err error) {
	if state.inside > 0 || !state.room() {
		return never, nil // the encoder wakes us
	}
	if !state.key {
		at := max(r.grid.at(state.keyTick)+keepalive, r.kept+keepalive, r.grid.open())
		if now < at {
			return at, nil
		}
		r.kept = now
		r.feed(r.grid.take(now))
		return never, nil
	}
	r.held = max(r.held, r.grid.at(r.grid.last))
	if at := r.held + keepalive; now < at {
		return at, nil
	}
	r.held = now
	return now + keepalive, r.sink.Hold(r.grid.hold(now))
}

// endSecond reports the drops of the running second and lets the governor judge.
func (r *run) endSecond(now time.Duration, state encoderState) {
	if now < r.secondAt {
		return
	}
	span := now - r.secondAt + time.Second
	load := float64(state.busy-r.secondBusy) / float64(span)
	r.secondAt, r.secondBusy = now+time.Second, state.busy
	r.reportDrops(now)
	if !r.cfg.Adaptive {
		return
	}
	before := r.governor.rate()
	if r.governor.judge(load) {
		r.grid.stride = r.governor.stride()
		detail := fmt.Sprintf("from %d to %d frames a second", before, r.governor.rate())
		r.sink.event(capture.Event{At: now, Kind: capture.EventRate, Detail: detail})
	}
}

// reportDrops tells what was dropped since the last report.
func (r *run) reportDrops(now time.Duration) {
	if r.dropped == 0 {
		return
	}
	detail := fmt.Sprintf("%d frames: the encoder was busy", r.dropped)
	r.sink.event(capture.Event{At: now, Kind: capture.EventDropped, Detail: detail})
	r.dropped = 0
}
