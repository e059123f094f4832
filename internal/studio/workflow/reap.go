package workflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/proofreel/proofreel/internal/host/statefile"
)

func screenID(id string) string { return id + "-screen" }

// lockPath is beside the job's directory, so that it can be held while that is
// removed.
func (w *Workflow) lockPath(id string) string { return filepath.Join(w.jobs(), id+".lock") }

// forget removes a job's files: its sockets, its directory, its journals.
func (w *Workflow) forget(id string) error {
	errs := []error{os.RemoveAll(filepath.Join(w.jobs(), id))}
	for _, name := range []string{id, screenID(id)} {
		// The gateway keeps other files beside a journal: locks.
		left, err := filepath.Glob(w.gateway.Journal(name) + "*")
		errs = append(errs, err)
		for _, path := range left {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// Reap ends what jobs of dead processes have left: their boxes, sockets and
// journals. It says how many jobs and boxes there were. Jobs of processes that
// live are not touched.
func (w *Workflow) Reap(ctx context.Context) (int, error) {
	boxes, err := w.c.Executor.Reap(ctx)
	if err != nil {
		return boxes, fmt.Errorf("reap boxes of dead processes: %w", err)
	}
	entries, err := os.ReadDir(w.jobs())
	if err != nil {
		return boxes, fmt.Errorf("look for jobs of dead processes: %w", err)
	}
	n := 0
	var errs []error
	for _, e := range entries {
		id, isLock := strings.CutSuffix(e.Name(), ".lock")
		if !isLock {
			continue
		}
		lock, err := statefile.TryLock(w.lockPath(id))
		if errors.Is(err, statefile.ErrLocked) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n++
		errs = append(errs, w.forget(id), lock.Remove())
	}
	if err := errors.Join(errs...); err != nil {
		return boxes + n, fmt.Errorf("remove what jobs of dead processes left: %w", err)
	}
	return boxes + n, nil
}
