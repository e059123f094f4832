package cell

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// logPipe takes what a box writes. Until the way in has said that the job's
// program starts (with a word that nobody can guess), what comes is ours and
// the backend's: it is kept for an error. Afterwards it is the box's: passed
// on up to a limit, then counted and dropped, so that a box neither fills a
// disk nor waits for a reader.
type logPipe struct {
	r     *os.File
	nonce string

	ready  chan struct{} // closed when the program starts
	done   chan struct{} // closed at the end of the output
	failed proc.Tail     // what was written before

	mu    sync.Mutex
	total int64
}

// The words of the way in, each followed by the nonce and a line's end.
const readyWord = "proofreel-box-ready "

func newLogPipe(r *os.File, nonce string) *logPipe {
	return &logPipe{r: r, nonce: nonce, ready: make(chan struct{}), done: make(chan struct{})}
}

// copyTo runs until the last writer is gone or the pipe is closed.
func (l *logPipe) copyTo(w io.Writer, limit int64) {
	defer close(l.done)
	rest := l.awaitReady()
	out := &capped{w: w, left: limit, count: l.add}
	_, _ = out.Write(rest)
	_, _ = io.CopyBuffer(onlyWriter{out}, onlyReader{l.r}, make([]byte, 64<<10))
}

// awaitReady reads up to the word and gives what came behind it.
func (l *logPipe) awaitReady() []byte {
	word := []byte(readyWord + l.nonce + "\n")
	var seen []byte
	buf := make([]byte, 4096)
	for {
		n, err := l.r.Read(buf)
		seen = append(seen, buf[:n]...)
		if i := bytes.Index(seen, word); i >= 0 {
			_, _ = l.failed.Write(seen[:i])
			close(l.ready)
			return seen[i+len(word):]
		}
		if err != nil {
			_, _ = l.failed.Write(seen)
			return nil
		}
		if extra := len(seen) - 64<<10; extra > 0 {
			seen = seen[extra:]
		}
	}
}

func (l *logPipe) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += int64(n)
}

func (l *logPipe) bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// capped passes on so many bytes and drops the rest. It never fails: a reader
// of the log that does is no reason to stop the box.
type capped struct {
	w     io.Writer
	left  int64
	count func(int)
}

func (c *capped) Write(p []byte) (int, error) {
	c.count(len(p))
	take := p[:min(int64(len(p)), max(c.left, 0))]
	c.left -= int64(len(take))
	if c.w != nil && len(take) > 0 {
		if _, err := c.w.Write(take); err != nil {
			c.w = nil
		}
	}
	return len(p), nil
}

// Without the files' own methods io.CopyBuffer uses the buffer, and no splice
// that would go past the count.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)
