// Package supervisor owns recordings: the detached process that runs one from
// start to film, and the calls by which other processes start it, ask for its
// state, add events and end it. What is filmed, how, and where the film goes
// is done by the packages below; this one keeps the order and the promises:
// nothing is lost, nothing is left behind, the answer is the same twice.
package supervisor

import (
	"errors"
	"fmt"
	"log/slog"
	"sort"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/clock"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// Manager is how a command reaches the recordings of this user.
type Manager struct {
	Home    string              // directory of all recordings
	Exe     string              // our own binary, started as the supervisor
	Getenv  func(string) string // the caller's environment
	Environ []string            // what the supervisor inherits
	Log     *slog.Logger
}

// open finds a recording: by its id, or, without one, the only one that runs,
// else the newest. It reaps the leftovers of dead supervisors on the way.
func (m *Manager) open(id string, running bool) (*recording.Dir, recording.Manifest, error) {
	if id == "" {
		id = m.Getenv("PROOFREEL_RECORDING")
	}
	if id != "" {
		dir, err := recording.Open(m.Home, id)
		if err != nil {
			return nil, recording.Manifest{}, stateError(err, id)
		}
		man, err := dir.Load()
		if err != nil {
			return nil, man, stateError(err, id)
		}
		return dir, man, nil
	}
	return m.pick(running)
}

// pick chooses the recording that a command without an id means.
func (m *Manager) pick(running bool) (*recording.Dir, recording.Manifest, error) {
	all, err := m.load()
	if err != nil {
		return nil, recording.Manifest{}, err
	}
	var live []entry
	for _, e := range all {
		if e.err == nil && !e.man.Phase.Terminal() {
			live = append(live, e)
		}
	}
	switch {
	case len(live) == 1:
		return live[0].dir, live[0].man, nil
	case len(live) > 1:
		ids := ""
		for _, e := range live {
			ids += " " + e.man.ID
		}
		return nil, recording.Manifest{}, fault.New(fault.Ambiguous, "Name one of these recordings:"+ids+".", "%d recordings run and none was named", len(live))
	case running:
		return nil, recording.Manifest{}, fault.New(fault.NotFound, "Start one with: proofreel start", "no recording runs")
	}
	for _, e := range all {
		if e.err == nil {
			return e.dir, e.man, nil
		}
	}
	return nil, recording.Manifest{}, fault.New(fault.NotFound, "Start one with: proofreel start", "there is no recording on this machine")
}

// entry is a recording on disk, or why it can't be read.
type entry struct {
	dir *recording.Dir
	man recording.Manifest
	err error
}

// load reads all recordings, newest first, and reaps what dead supervisors
// left running.
func (m *Manager) load() ([]entry, error) {
	dirs, err := recording.List(m.Home)
	if err != nil {
		return nil, stateError(err, "")
	}
	out := make([]entry, 0, len(dirs))
	for _, d := range dirs {
		man, err := d.Load()
		if err == nil {
			man = m.reapDead(d, man)
		}
		out = append(out, entry{d, man, err})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].man.CreatedAt.After(out[j].man.CreatedAt) })
	return out, nil
}

// stateError gives an error about the state on disk its code.
func stateError(err error, id string) error {
	var corrupt *statefile.CorruptError
	switch {
	case errors.Is(err, recording.ErrNotFound):
		return fault.New(fault.NotFound, "See the recordings of this machine with: proofreel list", "there is no recording %s here", id)
	case errors.As(err, &corrupt):
		return fault.Wrap(err, fault.StateCorrupt, "The segments in its directory are still there: save what is needed, then remove it with: proofreel discard "+id, "the state of recording %s can't be read", id)
	default:
		return fault.Wrap(err, fault.StateUnwritable, "Check the directory that PROOFREEL_HOME names: it must belong to you and have free space.", "the recordings can't be reached")
	}
}

// filmTime is the recording's time now; 0 when it has none: before its first
// frame, and after the machine was started anew.
func filmTime(man recording.Manifest) time.Duration {
	if man.Clock.Epoch == 0 || !sameBoot(man) {
		return 0
	}
	return clock.Boottime() - time.Duration(man.Clock.Epoch)
}

// sameBoot says whether the recording's clock still means something.
func sameBoot(man recording.Manifest) bool {
	boot, err := proc.BootID()
	return err == nil && boot == man.Clock.Boot
}

func sizeText(w, h int) string { return fmt.Sprintf("%dx%d", w, h) }
