package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// Status reads how a recording stands. It changes nothing of it.
func (m *Manager) Status(_ context.Context, id string) (StatusResult, error) {
	dir, man, err := m.open(id, false)
	if err != nil {
		return StatusResult{}, err
	}
	live, err := dir.LoadLive()
	if err != nil {
		live = recording.Live{}
	}
	evs, err := dir.Events()
	if err != nil {
		return StatusResult{}, stateError(err, man.ID)
	}
	res := StatusResult{
		RecordingID: man.ID, Name: man.Name, Phase: man.Phase,
		SupervisorAlive: man.Supervisor.Alive(),
		FramesCaptured:  live.Captured, FramesDistinct: live.Distinct, FramesDropped: live.Dropped,
		SecondsRecorded: seconds(live.At), BytesOnDisk: dir.Bytes(),
		Steps: steps(evs), Display: man.Display.Name, Incidents: incidentResults(man.Incidents),
	}
	if man.Phase == recording.PhaseRecording && res.SupervisorAlive {
		res.FPSAchieved = live.Achieved
		res.SecondsLeft = max(seconds(man.Options.MaxDuration-filmTime(man)), 0)
	}
	if man.Film != nil {
		res.FramesCaptured, res.FramesDropped = man.Film.Captured, man.Film.Dropped
		res.SecondsRecorded = seconds(man.Film.Duration)
	}
	return res, nil
}

func incidentResults(in []recording.Incident) []IncidentResult {
	out := make([]IncidentResult, 0, len(in))
	for _, i := range in {
		out = append(out, IncidentResult{Second: seconds(i.At), Kind: i.Kind, Detail: i.Detail})
	}
	return out
}

// List lists every recording of this machine's user, newest first.
func (m *Manager) List(context.Context) (ListResult, error) {
	all, err := m.load()
	if err != nil {
		return ListResult{}, err
	}
	res := ListResult{Recordings: make([]ListRow, 0, len(all))}
	for _, e := range all {
		res.Recordings = append(res.Recordings, row(e))
	}
	return res, nil
}

func row(e entry) ListRow {
	r := ListRow{RecordingID: e.dir.ID(), Bytes: e.dir.Bytes()}
	if e.err != nil {
		r.Problem = e.err.Error()
		return r
	}
	r.Name, r.Phase, r.CreatedAt = e.man.Name, e.man.Phase, e.man.CreatedAt
	r.SupervisorAlive = e.man.Supervisor.Alive()
	if live, err := e.dir.LoadLive(); err == nil {
		r.SecondsRecorded = seconds(live.At)
	}
	if f := e.man.Film; f != nil {
		r.Path, r.Verdict, r.SecondsRecorded = f.Path, f.Verdict, seconds(f.Duration)
	}
	if e.man.Failure != nil {
		r.Problem = e.man.Failure.Code + ": " + e.man.Failure.Message
	}
	return r
}

// Discard removes a recording with its film. One that runs is refused.
func (m *Manager) Discard(_ context.Context, id string) (DiscardResult, error) {
	dir, err := recording.Open(m.Home, id)
	if err != nil {
		return DiscardResult{}, stateError(err, id)
	}
	return m.discard(dir)
}

func (m *Manager) discard(dir *recording.Dir) (DiscardResult, error) {
	lock, err := dir.TryLock()
	if errors.Is(err, statefile.ErrLocked) {
		return DiscardResult{}, fault.New(fault.InvalidState, "Stop it first: proofreel stop "+dir.ID(), "recording %s still runs", dir.ID())
	}
	if err != nil {
		return DiscardResult{}, stateError(err, dir.ID())
	}
	defer lock.Unlock()
	if man, err := dir.Load(); err == nil {
		m.reap(dir, man)
	}
	res := DiscardResult{RecordingID: dir.ID(), Bytes: dir.Bytes()}
	if err := dir.Remove(); err != nil {
		return DiscardResult{}, fault.Wrap(err, fault.CleanupFailed, "Check who owns the files in the recording's directory.", "recording %s could not be removed", dir.ID())
	}
	return res, nil
}

// Prune removes the recordings that ended and were made more than olderThan
// ago. Those that run, and those that can't be read, stay.
func (m *Manager) Prune(_ context.Context, olderThan time.Duration) (PruneResult, error) {
	all, err := m.load()
	if err != nil {
		return PruneResult{}, err
	}
	res := PruneResult{Removed: []DiscardResult{}}
	for _, e := range all {
		if e.err != nil || !e.man.Phase.Terminal() || time.Since(e.man.CreatedAt) < olderThan {
			res.Kept++
			continue
		}
		d, err := m.discard(e.dir)
		if err != nil && fault.As(err).Code == fault.InvalidState {
			res.Kept++ // its supervisor is about to end
			continue
		}
		if err != nil {
			return res, err
		}
		res.Removed = append(res.Removed, d)
	}
	return res, nil
}
