package x11

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/record/capture"
)

const (
	// moveEvery is how often the way of the pointer is noted at most. Mice
	// report up to a thousand times a second; a clip has far fewer pictures.
	moveEvery = 20 * time.Millisecond
	// typingEvery is how often typing is noted at most: the number of keys and
	// their rhythm would tell something of a password.
	typingEvery = time.Second
)

// The means by which input is known, as the log names them.
const (
	sourceRecord  = "X RECORD"
	sourcePointer = "the pointer's place alone"
)

// watchInput begins to hand what is done with pointer and keys to the sink, if
// it wants to know, and returns what ends that. Without RECORD the loop asks
// for the pointer's place instead. Nothing of it can fail the film.
func (r *run) watchInput(ctx context.Context) (stop func()) {
	if !r.sink.wantsInput() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &inputWatch{screen: r.screen, cfg: r.cfg, put: r.sink.input}
	var wg sync.WaitGroup
	wg.Go(func() {
		err := w.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		w.put(capture.Input{At: r.cfg.Now(), Kind: capture.InputSource, Source: fmt.Sprintf("%s: %v", sourcePointer, err)})
		r.screen.inbox.put(func(n *news) { n.askPointer = true })
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// inputWatch reads the events of a display's devices.
type inputWatch struct {
	screen *screen
	cfg    capture.Config
	put    func(capture.Input)

	keys    keymap
	at      image.Point   // where the pointer was noted last
	movedAt time.Duration // when that was
	pending bool          // to is not noted yet
	to      image.Point
	toAt    time.Duration
	typedAt map[capture.KeyClass]time.Duration
}

// watch works until ctx ends or something fails.
func (w *inputWatch) watch(ctx context.Context) error {
	conn, err := openRecord(ctx, w.cfg.Display, w.cfg.Xauthority)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.net.Close() })()
	defer func() { _ = conn.net.Close() }()
	defer w.flush()
	if err := w.begin(); err != nil {
		return err
	}
	for {
		if err := w.packet(conn); err != nil {
			return err
		}
	}
}

// begin notes where the pointer is before it moves.
func (w *inputWatch) begin() error {
	w.typedAt = map[capture.KeyClass]time.Duration{}
	at, ok, err := w.screen.pointer()
	if err != nil {
		return err
	}
	now := w.cfg.Now()
	w.put(capture.Input{At: now, Kind: capture.InputSource, Source: sourceRecord})
	if ok {
		w.move(at, now)
	}
	w.keys, err = w.screen.keymap()
	return err
}

// packet waits for one packet, or until a move is due to be noted.
func (w *inputWatch) packet(conn *wire) error {
	wait := time.Duration(0)
	if w.pending {
		wait = max(w.movedAt+moveEvery-w.cfg.Now(), time.Millisecond)
	}
	p, err := conn.next(wait)
	switch {
	case errors.Is(err, errQuiet):
		w.flush()
		return nil
	case err != nil:
		return err
	case p[0]&127 == packetMapping:
		w.keys, err = w.screen.keymap()
		return err
	case p[0] == packetReply && p[1] == recordEnd:
		return errors.New("the X server ended the record")
	}
	now := w.cfg.Now()
	for _, ev := range deviceEvents(p) {
		w.event(ev, now)
	}
	return nil
}

func (w *inputWatch) event(ev deviceEvent, now time.Duration) {
	at := image.Pt(ev.x, ev.y)
	switch ev.kind {
	case eventMotion:
		w.motion(at, now)
	case eventButtonPress, eventButtonRelease:
		w.pending = false // the button's entry says where the pointer is
		w.at, w.movedAt = at, now
		w.button(int(ev.detail), ev.kind == eventButtonPress, at, now)
	case eventKeyPress:
		w.flush()
		w.key(ev, now)
	}
}

// motion notes a move, or keeps it until one is due.
func (w *inputWatch) motion(to image.Point, now time.Duration) {
	if !w.pending && now-w.movedAt >= moveEvery {
		w.move(to, now)
		return
	}
	if w.pending && now-w.movedAt >= moveEvery {
		w.flush()
	}
	w.pending, w.to, w.toAt = true, to, now
}

// flush notes a move that was kept.
func (w *inputWatch) flush() {
	if w.pending {
		w.move(w.to, w.toAt)
	}
	w.pending = false
}

func (w *inputWatch) move(to image.Point, at time.Duration) {
	if to == w.at && w.movedAt != 0 {
		return
	}
	w.at, w.movedAt = to, at
	w.put(capture.Input{At: at, Kind: capture.InputMove, X: to.X, Y: to.Y})
}

// button notes a button; 4 to 7 are the wheel, whose releases say nothing.
func (w *inputWatch) button(n int, down bool, at image.Point, now time.Duration) {
	in := capture.Input{At: now, Kind: capture.InputUp, X: at.X, Y: at.Y}
	switch {
	case n >= 4 && n <= 7:
		if !down {
			return
		}
		notch := [4]image.Point{{Y: -1}, {Y: 1}, {X: -1}, {X: 1}}[n-4]
		in.Kind, in.DX, in.DY = capture.InputWheel, notch.X, notch.Y
	case down:
		in.Kind, in.Button = capture.InputDown, n
	default:
		in.Button = n
	}
	w.put(in)
}

// key notes a key by its class. Of keys that are part of typing, one is noted
// for many.
func (w *inputWatch) key(ev deviceEvent, now time.Duration) {
	k, ok := w.keys.key(ev.detail, ev.state, w.cfg.Keys)
	if !ok {
		return
	}
	switch k.Class {
	case capture.KeyText, capture.KeyBackspace, capture.KeyDelete:
		if last, typed := w.typedAt[k.Class]; typed && now-last < typingEvery {
			return
		}
		w.typedAt[k.Class] = now
	default: // told each time: no word shows in it
	}
	w.put(capture.Input{At: now, Kind: capture.InputKey, Key: k})
}
