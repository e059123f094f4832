package x11

import (
	"sync"

	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// oneAtATime lets the encoder's reader and the loop share a sink. The reader
// waits for the sink: that is how a slow disk slows the capture down. The loop
// must not wait, or it would see neither damage nor drops meanwhile: what it
// has to say is left behind, and said by whoever has the sink.
type oneAtATime struct {
	sink capture.Sink
	mu   sync.Mutex // held while the sink is called

	queueMu sync.Mutex
	queue   []func() error
	err     error // the first that something of the queue gave
}

func (o *oneAtATime) Header(sps, pps []byte) error {
	return o.now(func() error { return o.sink.Header(sps, pps) })
}

func (o *oneAtATime) Frame(f segment.Frame) error {
	return o.now(func() error { return o.sink.Frame(f) })
}

func (o *oneAtATime) Hold(tick int64) error {
	return o.now(func() error { return o.sink.Hold(tick) })
}

func (o *oneAtATime) change(c capture.Change) {
	o.later(func() error { return o.sink.Change(c) })
}

func (o *oneAtATime) event(ev capture.Event) {
	o.later(func() error { o.sink.Event(ev); return nil })
}

// wantsInput says whether input has anyone to go to.
func (o *oneAtATime) wantsInput() bool {
	_, wanted := o.sink.(capture.InputSink)
	return wanted
}

func (o *oneAtATime) input(in capture.Input) {
	if s, ok := o.sink.(capture.InputSink); ok {
		o.later(func() error { s.Input(in); return nil })
	}
}

// now calls the sink, after what was left behind.
func (o *oneAtATime) now(call func() error) error {
	o.mu.Lock()
	o.flush()
	err := o.failed()
	if err == nil {
		err = call()
	}
	o.mu.Unlock()
	o.drain()
	return err
}

// later leaves a call behind.
func (o *oneAtATime) later(call func() error) {
	o.queueMu.Lock()
	o.queue = append(o.queue, call)
	o.queueMu.Unlock()
	o.drain()
}

// drain makes the calls that were left behind, unless somebody has the sink:
// that one drains after it gave the sink back, so nothing stays behind.
func (o *oneAtATime) drain() {
	for o.waiting() && o.mu.TryLock() {
		o.flush()
		o.mu.Unlock()
	}
}

func (o *oneAtATime) waiting() bool {
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	return len(o.queue) > 0
}

// flush makes the calls; mu is held.
func (o *oneAtATime) flush() {
	o.queueMu.Lock()
	calls := o.queue
	o.queue = nil
	o.queueMu.Unlock()
	for _, call := range calls {
		err := call()
		o.queueMu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.queueMu.Unlock()
	}
}

// failed is the first error of a call that was left behind.
func (o *oneAtATime) failed() error {
	o.queueMu.Lock()
	defer o.queueMu.Unlock()
	return o.err
}
