package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// Bounds of one run of the CLI.
const (
	maxStdout = 1 << 20   // bytes of its answer that are kept
	maxStderr = 2 << 10   // last bytes of its complaints that are kept
	maxRun    = time.Hour // in all, even when it shows progress
)

// result is how a run ended.
type result struct {
	code   int // exit code
	stdout string
	stderr string
}

// run starts the CLI in a process group of its own and waits for it. When it
// shows no progress for Patience, or ctx ends, all of it is killed. A run that
// hung or was killed by others is *transient.
func (u uploads) run(parent context.Context, bin string, args, env []string) (result, error) {
	ctx, cancel := context.WithTimeout(parent, maxRun)
	defer cancel()
	out, outEnd, err := startReader(maxStdout)
	if err != nil {
		return result{}, err
	}
	defer out.stop()
	stderr := &keepLast{max: maxStderr}
	child, err := u.Spawn.Start(proc.Command{
		Role: "uploads", Path: bin, Args: args, Env: env, Dir: "/", Stdout: outEnd, Stderr: stderr, Nice: 5,
	})
	_ = outEnd.Close() // the child has its own
	if err != nil {
		return result{}, err
	}
	ended := u.watch(ctx, child, func() int64 { return out.seen() + stderr.seen() })
	out.stop()
	if err := parent.Err(); err != nil {
		return result{}, fmt.Errorf("uploads put was interrupted: %w", err)
	}
	if ended != "" {
		return result{}, &transient{err: fmt.Errorf("uploads put %s and was ended: %s", ended, stderr)}
	}
	res := result{stdout: out.text(), stderr: stderr.String()}
	var exit *exec.ExitError
	switch err := child.Err(); {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return res, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		res.code = exit.ExitCode()
		return res, nil
	default:
		return result{}, &transient{err: fmt.Errorf("uploads put was killed: %w: %s", err, stderr)}
	}
}

// watch waits for the child. When it had to be killed, it says why. CPU time of
// the child and of what it started, and output, are progress: a transfer
// spends both. It beats for as long as the child may wait: its patience is
// the bound.
func (u uploads) watch(ctx context.Context, child *proc.Child, output func() int64) (ended string) {
	tick := time.NewTicker(min(beatEvery, u.Patience/4))
	defer tick.Stop()
	type mark struct {
		cpu    uint64
		output int64
	}
	var last mark
	moved := time.Now()
	for {
		select {
		case <-child.Done():
			return ""
		case <-ctx.Done():
			killTree(child)
			return fmt.Sprintf("took longer than %v", maxRun)
		case <-tick.C:
		}
		u.Beat()
		tree := append(proc.Descendants(child.Identity), child.Identity)
		now := mark{output: output()}
		for _, id := range tree {
			if st, err := id.Stat(); err == nil {
				now.cpu += st.CPU
			}
		}
		if now != last {
			last, moved = now, time.Now()
		}
		if time.Since(moved) > u.Patience {
			killTree(child)
			return fmt.Sprintf("showed no progress for %v", u.Patience)
		}
	}
}

// killTree ends the child, its group, and descendants that left the group.
func killTree(child *proc.Child) {
	tree := proc.Descendants(child.Identity)
	child.Kill()
	proc.KillAll(tree, time.Second)
}

// reader reads a pipe and keeps its beginning.
type reader struct {
	from *os.File
	done chan struct{}
	once sync.Once

	mu    sync.Mutex
	kept  []byte
	total int64
}

// startReader gives a reader and the writing end of its pipe.
func startReader(limit int) (*reader, *os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	r := &reader{from: from, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			r.mu.Lock()
			r.total += int64(n)
			r.kept = append(r.kept, buf[:min(n, limit-len(r.kept))]...)
			r.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return r, to, nil
}

// stop waits for the end of the pipe, but not for a stray process that holds
// it open.
func (r *reader) stop() {
	r.once.Do(func() {
		_ = r.from.SetReadDeadline(time.Now().Add(time.Second))
		<-r.done
		_ = r.from.Close()
	})
}

func (r *reader) seen() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.kept)
}

// keepLast is a writer that keeps the end of what was written.
type keepLast struct {
	max int

	mu    sync.Mutex
	kept  []byte
	total int64
}

var _ io.Writer = (*keepLast)(nil)

func (k *keepLast) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total += int64(len(p))
	k.kept = append(k.kept, p[max(0, len(p)-k.max):]...)
	k.kept = k.kept[max(0, len(k.kept)-k.max):]
	return len(p), nil
}

func (k *keepLast) seen() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.total
}

func (k *keepLast) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.kept)
}
