package cell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Box is a started box.
type Box struct {
	id      string
	host    *Host
	backend string
	spec    sandbox.Spec
	began   time.Time

	// Made by start, in this order.
	owner  int
	user   *user
	dir    string
	state  state
	cgroup *proc.Cgroup
	work   *os.File
	log    *logPipe
	child  *proc.Child
	bare   bool // the work directory is one of the host's, in dir

	killed chan executor.Reason // a wish; the first counts
	done   chan struct{}
	exit   executor.Exit // good when done is closed
	stuck  error         // what could not be killed or removed

	close sync.Once
}

var _ executor.Box = (*Box)(nil)

// Work is the work directory as a descriptor.
func (b *Box) Work() *os.File { return b.work }

// Owner is the host's user of the files in it.
func (b *Box) Owner() int { return b.owner }

// Wait waits for the end.
func (b *Box) Wait(ctx context.Context) (executor.Exit, error) {
	select {
	case <-b.done:
		return b.exit, b.stuck
	case <-ctx.Done():
		return executor.Exit{}, fmt.Errorf("wait for the box: %w", ctx.Err())
	}
}

// Kill ends everything in the box and waits for it.
func (b *Box) Kill() error {
	b.wish(executor.Killed)
	<-b.done
	return b.stuck
}

// Close kills what runs and forgets the files.
func (b *Box) Close() error {
	err := b.Kill()
	b.close.Do(func() {
		err = errors.Join(err, b.forget())
		b.host.forget(b)
	})
	return err
}

func (b *Box) wish(r executor.Reason) {
	select {
	case b.killed <- r:
	default:
	}
}

// How often a box is looked at from outside. The kernel holds its limits
// where there are control groups; the look is the last line, and costs more
// without them.
const (
	lookOften  = 200 * time.Millisecond
	lookSeldom = 500 * time.Millisecond
)

// watch waits for the box's end, or brings it about.
func (b *Box) watch() {
	defer close(b.done)
	limits := b.spec.Limits
	wall := time.NewTimer(limits.Wall - time.Since(b.began))
	defer wall.Stop()
	every := lookSeldom
	if b.cgroup != nil {
		every = lookOften
	}
	look := time.NewTicker(every)
	defer look.Stop()
	reason := executor.Exited
	for reason == executor.Exited {
		select {
		case <-b.child.Done():
			b.finish(b.whyEnded())
			return
		case <-wall.C:
			reason = executor.Wall
		case reason = <-b.killed:
		case <-look.C:
			reason = b.overLimit()
		}
	}
	b.finish(reason)
}

// whyEnded looks behind an end by itself: a program that lost a process to
// the memory limit often gives up at once.
func (b *Box) whyEnded() executor.Reason {
	if b.cgroup != nil && b.cgroup.Usage().OOMKills > 0 {
		return executor.Memory
	}
	return executor.Exited
}

// overLimit says which limit the box is past, or Exited for none.
func (b *Box) overLimit() executor.Reason {
	l := b.spec.Limits
	if b.cgroup != nil {
		return b.whyEnded()
	}
	members := b.members()
	scratch, work := b.scratch(), used(b.work)
	if !b.bare && (work.bytes > l.Disk+l.Disk/64 || work.files+scratch.files > maxFiles) {
		return executor.Disk
	}
	switch {
	case int64(len(members)) > l.Pids+8:
		return executor.Pids
	case proc.ResidentBytes(members)+scratch.bytes > l.Memory:
		return executor.Memory
	default:
		return executor.Exited
	}
}

// scratch is what the box has put into its other writable directories, which
// lie in memory too.
func (b *Box) scratch() usage {
	var sum usage
	if b.state.First.PID == 0 {
		return sum
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		u := usedAt(fmt.Sprintf("/proc/%d/root%s", b.state.First.PID, dir))
		sum.bytes, sum.files = sum.bytes+u.bytes, sum.files+u.files
	}
	return sum
}

// members lists the processes in the box, as far as they are known.
func (b *Box) members() []proc.Identity {
	if b.state.Namespace != 0 {
		return b.state.First.Below(b.state.Namespace)
	}
	// Without a namespace of its own: by family, and by the marker, which what
	// forks itself away from its family still has.
	return append(proc.Descendants(b.child.Identity), proc.Marked(b.id)...)
}

// finish kills what is left, and notes how it ended.
func (b *Box) finish(reason executor.Reason) {
	ended := time.Now()
	took := proc.CgroupUsage{}
	b.stuck = b.killTree()
	if b.cgroup != nil {
		took = b.cgroup.Usage()
	}
	b.endLog()
	b.exit = executor.Exit{
		Reason: reason, Code: exitCode(b.child.Err()), Took: ended.Sub(b.began),
		LogBytes: b.log.bytes(), MemoryPeak: took.MemoryPeak, PidsDenied: took.PidsDenied,
	}
	b.exit.LogTruncated = b.exit.LogBytes > b.spec.Limits.LogBytes
	b.stuck = errors.Join(b.stuck, b.release())
	if b.stuck != nil {
		b.host.Log.Error("a box did not end as it should", "job", b.spec.JobID, "error", b.stuck)
	}
}

// patience is how long killed processes may take to be gone: what is in
// uninterruptible sleep dies when it wakes.
const patience = 30 * time.Second

// killTree ends every process of the box. It asks nothing of them: SIGKILL
// from outside, to all at once, and to the first of their PID namespace, with
// which the kernel kills the rest.
func (b *Box) killTree() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if b.cgroup != nil {
		errs = append(errs, b.cgroup.Kill(ctx))
	}
	// Looked up before the first process dies: afterwards they have no parent.
	members := append(b.members(), b.state.First)
	_ = b.state.First.Signal(unix.SIGKILL)
	b.child.Kill()
	if left := proc.KillAll(members, patience); len(left) > 0 {
		errs = append(errs, fmt.Errorf("%d processes did not die", len(left)))
	}
	return errors.Join(errs...)
}

// endLog waits for the log's end, which comes with the last writer's; a
// descriptor that somebody else inherited does not hold the box up.
func (b *Box) endLog() {
	select {
	case <-b.log.done:
	case <-time.After(5 * time.Second):
	}
	_ = b.log.r.Close()
	<-b.log.done
}

// release gives back what the box held but for its files.
func (b *Box) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if b.cgroup != nil {
		errs = append(errs, b.cgroup.Remove(ctx))
	}
	if b.dir != "" && !b.bare {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	b.user.free()
	return errors.Join(errs...)
}

// forget ends what outlives the processes: the files.
func (b *Box) forget() error {
	var errs []error
	if b.work != nil {
		errs = append(errs, b.work.Close())
	}
	if b.bare {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	return errors.Join(errs...)
}

// abandon undoes a start that failed, however far it came.
func (b *Box) abandon() {
	if b.child != nil {
		_ = b.killTree()
	}
	if b.log != nil {
		b.endLog()
	}
	if err := errors.Join(b.release(), b.forget()); err != nil {
		b.host.Log.Error("a box that did not start left something", "job", b.spec.JobID, "error", err)
	}
}

// exitCode is an exit status as a shell gives it.
func exitCode(err error) int {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		if err != nil {
			return -1
		}
		return 0
	}
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return e.ExitCode()
}
