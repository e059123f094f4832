package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A lock whose file is removed must never be held twice: one who opened the old
// file while another made the new one would be alone with his lock.
func TestRemovedLockIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside, taken atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for taken.Load() < 100 {
				l, err := TryLock(path)
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				taken.Add(1)
				time.Sleep(50 * time.Microsecond) // for another to come in, if there is a way
				inside.Add(-1)
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// One who waits for a lock whose file is removed meanwhile must not be left with
// the lock of a file that nobody finds any more.
func TestWaitingForARemovedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *Lock)
	go func() {
		l, err := Acquire(path)
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	time.Sleep(50 * time.Millisecond) // for it to wait; one that comes later has nothing to find
	if err := first.Remove(); err != nil {
		t.Error(err)
	}
	second := <-got
	if second == nil {
		return
	}
	defer second.Unlock()
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("two hold the lock: %v", err)
	}
}
