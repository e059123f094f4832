package exit

import (
	"context"
	"io"
	"os"
	"time"
)

// Program is one run of ffmpeg over one of our files.
type Program struct {
	// Argv is the complete command line; Argv[0] is a path in the box. Nothing
	// in it comes from an author. File names in it are relative to an empty
	// directory in which it runs, and which is all that it can write.
	Argv []string
	// Stdin is the one file that the box sees: open for reading, at its start.
	Stdin *os.File
	// Wall bounds the run, Disk what it may write in bytes.
	Wall time.Duration
	Disk int64
	// Output takes what the program prints. It never fails and keeps little.
	Output io.Writer
}

// Ran is a run that is over. Its box is dead: nothing can change Work any more.
type Ran struct {
	// Status is the program's exit status; -1 when a signal or limit ended it.
	Status int
	// Limit names the limit that ended it, such as "wall"; empty: none.
	Limit string
	// Work is the directory that the program could write, and Owner the user
	// to whom files in it must belong.
	Work  *os.File
	Owner uint32
	// Close deletes what the run has left. It must be called.
	Close func() error
}

// Runner runs a program in a box of its own: without network, without any
// file of the host's but its programs, with limits held from outside. The
// error says that there was no such run; how it ended is in [Ran].
type Runner interface {
	Run(ctx context.Context, p Program) (Ran, error)
}
