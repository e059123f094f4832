package cell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

const (
	stateName    = "state.json"
	cgroupPrefix = "proofreel-"
)

// state is what is written of a box so that whoever comes after a dead server
// finds what is left of it. Processes are named so that no other is hit.
type state struct {
	ID        string        `json:"id"`
	Job       string        `json:"job"`
	Backend   string        `json:"backend"`
	Server    proc.Identity `json:"server"`
	Process   proc.Identity `json:"process"`   // that we started
	First     proc.Identity `json:"first"`     // of the box's PID namespace
	Namespace uint64        `json:"namespace"` // its inode
	Cgroup    string        `json:"cgroup"`
	User      int           `json:"user"`
	Started   time.Time     `json:"started"`
}

// Reap ends what boxes of dead servers left, and says how many there were.
func (h *Host) Reap(ctx context.Context) (int, error) {
	entries, err := os.ReadDir(h.boxesDir())
	if err != nil {
		return 0, fmt.Errorf("look for boxes: %w", err)
	}
	count := 0
	var errs []error
	for _, e := range entries {
		var s state
		dir := filepath.Join(h.boxesDir(), e.Name())
		err := statefile.Read(filepath.Join(dir, stateName), &s)
		if errors.Is(err, os.ErrNotExist) && fresh(dir) {
			continue // somebody is about to write it
		}
		if err == nil && s.Server.Alive() {
			continue
		}
		count++
		if err := errors.Join(h.reapOne(ctx, s), os.RemoveAll(dir)); err != nil {
			errs = append(errs, fmt.Errorf("reap box %s of job %s: %w", e.Name(), s.Job, err))
			continue
		}
		h.Log.Info("reaped a box of a dead server", "job", s.Job, "backend", s.Backend)
	}
	return count, errors.Join(errs...)
}

func fresh(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && time.Since(st.ModTime()) < time.Minute
}

func (h *Host) reapOne(ctx context.Context, s state) error {
	if s.ID == "" {
		return nil // what can't be read names nobody
	}
	var errs []error
	ids := append([]proc.Identity{s.First, s.Process}, s.First.Below(s.Namespace)...)
	ids = append(ids, proc.Descendants(s.Process)...)
	ids = append(ids, proc.Marked(s.ID)...) // of boxes that are none
	for _, id := range ids {
		_ = id.Signal(unix.SIGKILL)
	}
	if h.cgroups != nil && strings.HasPrefix(s.Cgroup, cgroupPrefix) && filepath.Base(s.Cgroup) == s.Cgroup {
		g := h.cgroups.Group(s.Cgroup)
		errs = append(errs, g.Kill(ctx), g.Remove(ctx))
	}
	if left := proc.KillAll(ids, patience); len(left) > 0 {
		errs = append(errs, fmt.Errorf("%d processes did not die", len(left)))
	}
	return errors.Join(errs...)
}
