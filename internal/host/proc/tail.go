package proc

import "sync"

// Tail keeps the last bytes that were written to it: enough of a child's
// stderr to say why it ended. The zero value is ready. It may be used from
// several goroutines.
type Tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailBytes is how much a Tail keeps.
const tailBytes = 4 << 10

// Write keeps the end of p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
