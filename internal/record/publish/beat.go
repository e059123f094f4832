package publish

import (
	"sync/atomic"
	"time"
)

const (
	// beatEvery is the time between two beats while there is a wait.
	beatEvery = 500 * time.Millisecond
	// beatGap is the least time between two beats: a copy could beat a
	// thousand times a second.
	beatGap = 200 * time.Millisecond
)

// sparing passes on beats that are not too close to the one before.
func sparing(beat func()) func() {
	if beat == nil {
		return func() {}
	}
	began := time.Now()
	var next atomic.Int64 // time since began from which on a beat is due
	return func() {
		now := int64(time.Since(began))
		due := next.Load()
		if now >= due && next.CompareAndSwap(due, now+int64(beatGap)) {
			beat()
		}
	}
}

// beating does something that can't tell how far it is, and beats meanwhile,
// but no longer than the time within which it should have ended. It returns
// when the last beat is over.
func beating(beat func(), within time.Duration, do func() error) error {
	beat()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for until := time.Now().Add(within); time.Now().Before(until); beat() {
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	err := do()
	close(end)
	<-ended
	return err
}
