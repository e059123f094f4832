package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command says how to start a child.
type Command struct {
	Role   string // what the child is to us, for instance "encoder"
	Path   string
	Args   []string // without the program's name
	Env    []string // whole environment; nil: the parent's
	Dir    string
	Stdin  *os.File
	Stdout *os.File
	Stderr io.Writer  // an *os.File is inherited; another writer is fed by a goroutine that Wait waits for
	Files  []*os.File // inherited as descriptors 3, 4, ...
	Nice   int        // added to the parent's priority, 0 to 19
}

// Child is a started process. Its Wait goroutine runs from the start, so a
// child is never left a zombie.
type Child struct {
	Identity
	Role string

	done chan struct{}
	err  error
}

// Done is closed when the child has ended and was reaped.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err is how the child ended: nil for exit status 0, else an *exec.ExitError.
// It blocks until the child has ended.
func (c *Child) Err() error {
	<-c.done
	return c.err
}

// Spawner starts children that die with this process, whichever way it ends.
//
// Linux sends the parent-death signal when the *thread* that forked ends, not
// the process (prctl(2)), so every fork is made on one thread that lives as
// long as the Spawner.
type Spawner struct {
	jobs chan func()
	done chan struct{}

	mu   sync.Mutex
	live map[int]*Child
}

// NewSpawner starts the thread that forks. Close ends it.
func NewSpawner() *Spawner {
	s := &Spawner{jobs: make(chan func()), done: make(chan struct{}), live: map[int]*Child{}}
	go func() {
		defer close(s.done)
		s.forkOnOneThread()
	}()
	return s
}

// forkOnOneThread forks until Close, and ends its thread. It can't be the
// program's first thread: Go parks that one for good where it would end
// others, and no parent-death signal would come.
func (s *Spawner) forkOnOneThread() {
	runtime.LockOSThread() // the thread ends with the goroutine, which never unlocks it
	if unix.Gettid() == os.Getpid() {
		ended := make(chan struct{})
		go func() { // this goroutine keeps the first thread meanwhile
			defer close(ended)
			s.forkOnOneThread()
		}()
		<-ended
		runtime.UnlockOSThread()
		return
	}
	for job := range s.jobs {
		job()
	}
}

// Close ends the forking thread. Children that still run get their
// parent-death signal (SIGKILL) then.
func (s *Spawner) Close() {
	close(s.jobs)
	<-s.done
}

// Start starts a child in a process group of its own.
func (s *Spawner) Start(c Command) (*Child, error) {
	cmd := exec.Command(c.Path, c.Args...) //nolint:noctx // a child outlives the call: Stop and Kill end it
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.ExtraFiles = c.Env, c.Dir, c.Stderr, c.Files
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// A grandchild that keeps stderr open must not keep Wait from returning.
	cmd.WaitDelay = time.Second

	child := &Child{Role: c.Role, done: make(chan struct{})}
	started := make(chan error, 1)
	s.jobs <- func() { started <- s.fork(cmd, child, c.Nice) }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Role, err)
	}
	go func() {
		child.err = cmd.Wait()
		s.forget(child)
		close(child.done)
	}()
	return child, nil
}

func (s *Spawner) fork(cmd *exec.Cmd, child *Child, nice int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	id, err := Of(cmd.Process.Pid)
	if err != nil { // already a reaped PID can't be: Wait has not run yet
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("identify the child: %w", err)
	}
	child.Identity = id
	s.live[id.PID] = child
	if nice > 0 {
		// Lower priority is a courtesy: without the right to set it the
		// child still works.
		_ = unix.Setpriority(unix.PRIO_PROCESS, id.PID, nice)
	}
	return nil
}

func (s *Spawner) forget(c *Child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, c.PID)
}

// Live lists the children that have not ended.
func (s *Spawner) Live() []*Child {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Child, 0, len(s.live))
	for _, c := range s.live {
		out = append(out, c)
	}
	return out
}

// Stop ends the child: it is woken if it was stopped, gets sig, and is given
// time for as long as it moves. It is killed when nothing of it has moved
// (neither its CPU time nor what progress reports) for patience, or when ctx
// ends. progress may be nil. Stop returns when the child was reaped; it says
// whether the child had to be killed.
func (c *Child) Stop(ctx context.Context, sig unix.Signal, patience time.Duration, progress func() int64) (killed bool) {
	_ = c.Signal(unix.SIGCONT)
	_ = c.Signal(sig)
	if c.waitWhileMoving(ctx, patience, progress) {
		return false
	}
	c.Kill()
	return true
}

// Kill ends the child's whole process group at once and waits until the child
// was reaped.
func (c *Child) Kill() {
	if c.Alive() {
		_ = unix.Kill(-c.PID, unix.SIGKILL) // the child leads its group (Setpgid)
	}
	_ = c.Signal(unix.SIGKILL)
	<-c.done
}

func (c *Child) waitWhileMoving(ctx context.Context, patience time.Duration, progress func() int64) bool {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last, moved := mark{}, time.Now()
	for {
		select {
		case <-c.done:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		st, err := c.Stat()
		if errors.Is(err, ErrGone) {
			continue // about to be reaped
		}
		if st.State == 'T' {
			_ = c.Signal(unix.SIGCONT)
		}
		now := mark{cpu: st.CPU}
		if progress != nil {
			now.own = progress()
		}
		if now != last {
			last, moved = now, time.Now()
		}
		if time.Since(moved) > patience {
			return false
		}
	}
}

// mark is what is compared to see whether a process moves.
type mark struct {
	cpu uint64
	own int64
}
