package publish

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// beats counts beats and can be waited on.
type beats struct {
	n    atomic.Int64
	mu   sync.Mutex
	want int64
	met  chan struct{}
}

func (b *beats) beat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n.Add(1) == b.want {
		close(b.met)
	}
}

// A CLI that waits for its server in silence must beat, or a caller takes it
// for dead and kills it; and a wait between attempts must as well.
func TestUploadsBeatWhileItWaits(t *testing.T) {
	b := &beats{want: 5, met: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRig(t, newSite(t, good), func(o *Options) { o.Beat = b.beat }, behaviour{Hang: true})
	failed := make(chan error, 1)
	go func() {
		_, err := r.Publish(ctx, r.film)
		failed <- err
	}()
	select {
	case <-b.met: // Patience is minutes: these came while nothing moved
	case err := <-failed:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("no beats")
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	after := b.n.Load()
	time.Sleep(2 * beatEvery)
	if b.n.Load() != after {
		t.Error("it beats after its end")
	}
}

func TestUploadsBeatBetweenAttempts(t *testing.T) {
	var n atomic.Int64
	r := newRig(t, newSite(t, good), func(o *Options) {
		o.Beat = func() { n.Add(1) }
		o.Sleep = func(context.Context, time.Duration) error {
			enough := n.Load() + 2
			for until := time.Now().Add(time.Minute); n.Load() < enough; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(until) {
					return errors.New("no beats between attempts")
				}
			}
			return nil
		}
	}, said(4, "NETWORK", 0), said(2, "", 0))
	_, err := r.Publish(t.Context(), r.film)
	if got := len(calls(t, r.calls)); err == nil || got != 2 {
		t.Errorf("%v after %d calls", err, got)
	}
}

// Beats end with the time that something may take: what hangs is to be seen.
func TestBeatingIsBounded(t *testing.T) {
	var n atomic.Int64
	silent := errors.New("done")
	err := beating(func() { n.Add(1) }, 0, func() error {
		time.Sleep(2 * beatEvery)
		return silent
	})
	if !errors.Is(err, silent) || n.Load() != 1 {
		t.Errorf("%v after %d beats", err, n.Load())
	}
}

// A copy beats, but not for every piece that it reads.
func TestSparing(t *testing.T) {
	var n atomic.Int64
	beat := sparing(func() { n.Add(1) })
	began := time.Now()
	for range 1000 {
		beat()
	}
	if most := int64(time.Since(began)/beatGap) + 1; n.Load() < 1 || n.Load() > most {
		t.Errorf("%d beats, at most %d", n.Load(), most)
	}
	sparing(nil)()
}

func TestDirBeats(t *testing.T) {
	b := &beats{}
	p, err := New(Target{Kind: KindDir, Path: t.TempDir()}, Options{Beat: b.beat})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Publish(t.Context(), film(t, 3<<20)); err != nil {
		t.Fatal(err)
	}
	if b.n.Load() == 0 {
		t.Error("no beat")
	}
}
