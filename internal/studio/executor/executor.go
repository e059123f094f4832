// Package executor says what it means to run a job in a box: the port that
// backends implement. Its sub-packages are the backends (bwrap, gvisor, and
// process for development), what they share (cell: a started box; entry: the
// way in), the suite that each must pass (executortest), and machine, which
// opens the one that was chosen for this machine.
//
// What a box may do is not decided here but in sandbox.
package executor

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Executor runs boxes. It may be used from several goroutines.
type Executor interface {
	// Name is the backend's: bwrap, gvisor or process.
	Name() string
	// Probe runs the conformance probe in a real box. A report that is not
	// green means: run no job here.
	Probe(ctx context.Context) (sandbox.Report, error)
	// Start starts a box and returns once its program runs. ctx bounds the
	// start only. It fails closed: on an error nothing runs and nothing is left.
	// Errors wrap sandbox.ErrSpec, ErrUnavailable or ErrStart.
	Start(ctx context.Context, spec sandbox.Spec) (Box, error)
	// Reap ends what boxes of dead servers have left on this machine, and says
	// how many there were. Boxes of servers that live are not touched.
	Reap(ctx context.Context) (int, error)
	// Close kills the boxes that are left and waits for them.
	Close() error
}

// Box is a started box. It may be used from several goroutines.
type Box interface {
	// Wait waits for the end of everything in the box. ctx bounds the waiting,
	// not the box.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends everything in the box and waits for it. It needs no help from
	// inside, and a second call does no harm.
	Kill() error
	// Work is the directory sandbox.WorkDir as a descriptor of the host's. It
	// outlives the processes and ends with Close. What lies in it is hostile:
	// after Kill or Wait nobody writes there any more.
	Work() *os.File
	// Owner is the host's user id that the files of Work have.
	Owner() int
	// Close kills what runs, frees what the box held and forgets its files.
	Close() error
}

// Reason says why a box ended.
type Reason string

// The reasons.
const (
	Exited Reason = "exited" // its program ended by itself
	Killed Reason = "killed" // by Kill or Close
	Wall   Reason = "wall"   // the wall clock
	Memory Reason = "memory" // the memory limit
	Disk   Reason = "disk"   // the work directory grew past its limit, where the kernel does not hold it
	Pids   Reason = "pids"   // more processes than allowed, where the kernel does not hold it
)

// Exit is how a box ended.
type Exit struct {
	Reason       Reason
	Code         int           // exit status; 128 + signal when a signal ended it. Means nothing unless Reason is Exited
	Took         time.Duration // from the start to the end
	LogBytes     int64         // that the box wrote to stdout and stderr
	LogTruncated bool          // more than Limits.LogBytes
	MemoryPeak   int64         // bytes; 0: not known
	PidsDenied   int64         // forks that the limit refused; 0: none, or not known
}

// What Start's errors wrap.
var (
	ErrUnavailable = errors.New("the box's backend can't be used here")
	ErrStart       = errors.New("the box did not start")
)
