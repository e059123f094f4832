package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// command is something to be run in the work folder.
type command struct {
	role    string
	argv    []string // argv[0] is an absolute path
	env     []string // more than Config.Env
	timeout time.Duration
	keep    int       // bytes of output that are kept: the first half and the last
	tee     io.Writer // gets all of it, too; may be nil
	errs    io.Writer // gets stderr instead of the output; may be nil
}

// ran is how it went.
type ran struct {
	out     string
	code    int  // exit status; -1: a signal
	timeout bool // it was ended because it took too long
	flooded bool // it was ended because it printed without end
}

// flood is how much a command may print before it is ended.
const flood = 32 << 20

// run runs a command to its end, and ends all of its process group with it. It
// has no terminal and no input. The error says that it could not be run, or
// that ctx has ended.
func (s *session) run(ctx context.Context, c command) (ran, error) {
	limit, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return ran{}, fmt.Errorf("start %s: %w", c.role, err)
	}
	defer func() { _ = r.Close() }()
	var stderr io.Writer = w
	if c.errs != nil {
		stderr = c.errs
	}
	child, err := s.spawn.Start(proc.Command{
		Role: c.role, Path: c.argv[0], Args: c.argv[1:], Dir: s.c.Work, Env: append(append([]string{}, s.c.Env...), c.env...),
		Stdout: w, Stderr: stderr,
	})
	_ = w.Close()
	if err != nil {
		return ran{}, err //nolint:wrapcheck // it names the role
	}
	kept, over := &window{most: c.keep}, make(chan struct{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		var to io.Writer = kept
		if c.tee != nil {
			to = io.MultiWriter(kept, c.tee)
		}
		if _, err := io.CopyN(to, r, flood); err == nil {
			close(over)
		}
	}()
	res := ran{}
	select {
	case <-child.Done():
	case <-limit.Done():
		res.timeout = true
		child.Kill()
	case <-over:
		res.flooded = true
		child.Kill()
	}
	_ = unix.Kill(-child.PID, unix.SIGKILL) // what it has left in the background
	s.spawn.ReapOrphans()
	// What left the group may hold the pipe open.
	_ = r.SetReadDeadline(time.Now().Add(time.Second))
	<-read
	res.out, res.code = kept.String(), status(child.Err())
	if ctx.Err() != nil {
		return res, fmt.Errorf("run %s: %w", c.role, ctx.Err())
	}
	return res, nil
}

func status(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// lines hands on what is written to it line by line. Of a line that is longer
// than most it keeps the beginning.
type lines struct {
	most int // bytes, and one write more
	take func(line []byte)
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		head, rest, found := bytes.Cut(p, []byte{'\n'})
		if len(l.part) < l.most {
			l.part = append(l.part, head...)
		}
		if !found {
			return n, nil
		}
		l.take(l.part)
		l.part, p = l.part[:0], rest
	}
}

// window keeps the first and the last bytes of what is written to it.
type window struct {
	most  int
	head  []byte
	tail  []byte
	total int64
}

func (w *window) Write(p []byte) (int, error) {
	n := len(p)
	w.total += int64(n)
	if room := w.most/2 - len(w.head); room > 0 {
		k := min(room, len(p))
		w.head = append(w.head, p[:k]...)
		p = p[k:]
	}
	w.tail = append(w.tail, p...)
	if len(w.tail) > 4*w.most+1<<16 {
		w.tail = append([]byte{}, w.tail[len(w.tail)-w.most/2:]...)
	}
	return n, nil
}

func (w *window) String() string {
	tail := w.tail[max(0, len(w.tail)-w.most/2):]
	if cut := w.total - int64(len(w.head)+len(tail)); cut > 0 {
		return fmt.Sprintf("%s\n[… %d bytes cut …]\n%s", w.head, cut, tail)
	}
	return string(w.head) + string(tail)
}
