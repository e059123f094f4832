// Package boxed runs the programs of exit in boxes of an executor. It knows
// what such a box may use and nothing of films.
package boxed

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/exit"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Runner starts a box for each program. It has no door, no network and no
// file but the one that the program reads.
type Runner struct {
	Executor executor.Executor
	// JobID is the job's; the boxes are named after it.
	JobID string
	// Limits bound each box; zero values are the defaults. Wall and disk are
	// the program's.
	Limits sandbox.Limits
}

// Run runs a program to its end. When ctx ends before, the box is killed.
func (r Runner) Run(ctx context.Context, p exit.Program) (exit.Ran, error) {
	limits := r.Limits
	limits.Wall, limits.Disk = p.Wall, p.Disk
	box, err := r.Executor.Start(ctx, sandbox.Spec{
		JobID: r.name(), Argv: p.Argv, Limits: limits, Stdin: p.Stdin, Stdout: p.Output,
		Env: []string{"PATH=" + sandbox.Path, "HOME=" + sandbox.Home, "LANG=C.UTF-8", "TZ=UTC"},
	})
	if err != nil {
		return exit.Ran{}, fmt.Errorf("start a box: %w", err)
	}
	end, err := box.Wait(ctx)
	if err != nil {
		return exit.Ran{}, errors.Join(fmt.Errorf("wait for the box: %w", err), box.Close())
	}
	ran := exit.Ran{Status: end.Code, Work: box.Work(), Owner: uint32(box.Owner()), Close: box.Close}
	if end.Reason != executor.Exited {
		ran.Status, ran.Limit = -1, string(end.Reason)
	}
	return ran, nil
}

// name tells this box from the job's own, which may not be forgotten yet, and
// from those of other runs.
func (r Runner) name() string {
	const longest = 64 - len("-exit-") - 8
	job := r.JobID[:min(len(r.JobID), longest)]
	return job + "-exit-" + uuid.NewString()[:8]
}
