package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// Stopped is the terminal answer of a recording.
type Stopped struct {
	Data   json.RawMessage // StopResult, byte for byte the same each time
	Result StopResult
	Effect fault.Effect
}

// poll is how often a waiting stop looks at the recording's state.
const poll = 40 * time.Millisecond

// look is how often it looks at the processes themselves.
const look = 500 * time.Millisecond

// finishers is how many processes may die over one recording's end before
// stop gives up.
const finishers = 4

// Stop ends a recording and waits for its film. It is idempotent: whoever
// asks, and however often, gets the same answer.
func (m *Manager) Stop(ctx context.Context, id string, o StopOptions) (Stopped, error) {
	dir, man, err := m.open(id, false)
	if err != nil {
		return Stopped{}, err
	}
	return m.stop(ctx, dir, man, o)
}

// Recover is Stop for a recording that must be named.
func (m *Manager) Recover(ctx context.Context, id string, o StopOptions) (Stopped, error) {
	return m.Stop(ctx, id, o)
}

func (m *Manager) stop(ctx context.Context, dir *recording.Dir, man recording.Manifest, o StopOptions) (Stopped, error) {
	w := &waiter{m: m, dir: dir, o: o, moved: time.Now()}
	if answered(man) {
		return answer(man)
	}
	at := filmTime(man)
	if err := dir.RequestStop(recording.Stop{At: at, Reason: recording.ReasonStop}); err != nil && man.Supervisor.Alive() {
		// Without the request on disk (it is full, say) the signal alone still
		// ends the film, at the moment of its arrival.
		m.log().Warn("stop request not written", "err", err)
	}
	return w.wait(ctx, man)
}

// answered says whether the recording's answer is final: a film where it
// should be, or a failure that trying again can't mend.
func answered(man recording.Manifest) bool {
	return man.Phase == recording.PhaseDone ||
		man.Phase == recording.PhaseFailed && man.Failure != nil && !fault.Lookup(fault.Code(man.Failure.Code)).Retryable
}

// answer gives the terminal answer that the manifest holds.
func answer(man recording.Manifest) (Stopped, error) {
	if f := man.Failure; f != nil && man.Phase == recording.PhaseFailed {
		e := fault.New(fault.Code(f.Code), f.Hint, "%s", f.Message).WithArtifact(f.Artifact)
		return Stopped{}, e.WithEffect(fault.EffectFinalizePartial)
	}
	// The manifest is indented on disk; the answer is the same one line each time.
	var line bytes.Buffer
	if err := json.Compact(&line, man.Result); err != nil {
		return Stopped{}, fault.Wrap(err, fault.StateCorrupt, "The film is film.mp4 in the recording's directory.", "the answer kept of recording %s can't be read", man.ID)
	}
	s := Stopped{Data: line.Bytes(), Effect: fault.EffectProofSaved}
	if man.Published != nil {
		s.Effect = fault.EffectProofPublished
	}
	if err := json.Unmarshal(man.Result, &s.Result); err != nil {
		return Stopped{}, fault.Wrap(err, fault.StateCorrupt, "The film is film.mp4 in the recording's directory.", "the answer kept of recording %s can't be read", man.ID)
	}
	return s, nil
}

// waiter waits for the end of one recording.
type waiter struct {
	m     *Manager
	dir   *recording.Dir
	o     StopOptions
	tries int

	worked bool // the recording was seen on its way to its end

	shown  int // progress events given so far
	looked time.Time
	mark   movement
	moved  time.Time
}

// movement is what is compared to see whether a recording's end progresses.
type movement struct {
	phase recording.Phase
	cpu   uint64
	bytes int64
	pid   int
	beat  time.Time // the last sign of life of a wait that is in order
}

// wait sees to it that a process works on the recording's end, and waits for
// the terminal state.
func (w *waiter) wait(ctx context.Context, man recording.Manifest) (Stopped, error) {
	signalled := 0
	for {
		w.show(man)
		if w.over(man) {
			return answer(man)
		}
		switch {
		case man.Launching():
		case !man.Supervisor.Alive() || man.Phase.Terminal():
			if err := w.finish(ctx, man); err != nil {
				return Stopped{}, err
			}
		case signalled != man.Supervisor.PID:
			_ = man.Supervisor.Signal(unix.SIGTERM)
			signalled = man.Supervisor.PID
		}
		if err := w.stalled(man); err != nil {
			return Stopped{}, err
		}
		select {
		case <-ctx.Done():
			return Stopped{}, fault.New(fault.Interrupted, "The recording is ending all the same; ask again with: proofreel stop "+man.ID, "the wait for the film was interrupted").WithEffect(fault.EffectFinalizePartial)
		case <-time.After(poll):
		}
		next, err := w.dir.Load()
		if err != nil {
			return Stopped{}, stateError(err, man.ID)
		}
		man = next
	}
}

// over says whether the state is this call's answer: final, or reached while
// the call waited. A failure from before that may be mended is tried again.
func (w *waiter) over(man recording.Manifest) bool {
	if !man.Phase.Terminal() {
		w.worked = true
		return false
	}
	return w.worked || w.tries > 0 || answered(man)
}

// finish starts a process that brings a recording without a supervisor to its
// end, or takes note that another caller did.
func (w *waiter) finish(ctx context.Context, man recording.Manifest) error {
	lock, err := w.dir.TryLock()
	if err != nil {
		return nil // somebody is at it
	}
	// The state may have changed between our look and the lock.
	fresh, err := w.dir.Load()
	lock.Unlock()
	if err != nil {
		return stateError(err, man.ID)
	}
	if w.over(fresh) {
		return nil
	}
	w.tries++
	err = w.m.launch(ctx, w.dir, "finish", man.ID, "")
	switch {
	case err == nil:
		return nil
	case w.tries >= finishers || fault.As(err).Code != fault.SupervisorFailed:
		return fault.As(err).WithEffect(fault.EffectFinalizePartial)
	default:
		return nil // it died: the next one goes on where it was
	}
}

// stalled wakes processes that were stopped and gives up when nothing has
// moved for the timeout.
func (w *waiter) stalled(man recording.Manifest) error {
	if time.Since(w.looked) < look {
		return nil
	}
	w.looked = time.Now()
	now := w.movement(man)
	if now != w.mark {
		w.mark, w.moved = now, time.Now()
		return nil
	}
	if time.Since(w.moved) < w.o.Timeout {
		return nil
	}
	if man.Supervisor.Alive() && w.tries < finishers {
		// It does not move: what it has captured is on disk, and another
		// process can finish the work.
		w.m.log().Warn("supervisor hangs: killing it", "pid", pidText(man.Supervisor))
		_ = man.Supervisor.Signal(unix.SIGKILL)
		w.moved = time.Now()
		return nil
	}
	return fault.New(fault.StopTimeout, "Nothing is lost: try again with a larger --timeout.", "nothing has moved for %v", w.o.Timeout).WithEffect(fault.EffectFinalizePartial)
}

func (w *waiter) movement(man recording.Manifest) movement {
	mv := movement{phase: man.Phase, pid: man.Supervisor.PID, bytes: fileSize(partPath(w.dir)), beat: w.dir.LiveAt()}
	ids := append([]proc.Identity{man.Supervisor}, proc.Descendants(man.Supervisor)...)
	for _, id := range ids {
		st, err := id.Stat()
		if err != nil {
			continue
		}
		if st.State == 'T' {
			_ = id.Signal(unix.SIGCONT)
		}
		mv.cpu += st.CPU
	}
	return mv
}

// show gives the progress events up to the phase that is reached.
func (w *waiter) show(man recording.Manifest) {
	if w.o.Progress == nil {
		return
	}
	plan := phases(man)
	reached := 0
	for i, p := range plan {
		if p == man.Phase {
			reached = i + 1
		}
	}
	if man.Phase.Terminal() {
		reached = len(plan)
	}
	for ; w.shown < reached; w.shown++ {
		w.o.Progress(contract.Progress{
			SchemaVersion: contract.SchemaVersion, Event: "progress", Phase: string(plan[w.shown]),
			Step: w.shown + 1, TotalSteps: len(plan), RecordingID: man.ID,
		})
	}
}

// phases are the phases that a recording's end goes through; those that do
// not apply are left out.
func phases(man recording.Manifest) []recording.Phase {
	var out []recording.Phase
	if man.Browser != nil {
		out = append(out, recording.PhaseClosingBrowser)
	}
	out = append(out, recording.PhaseStoppingCapture, recording.PhaseFinalizing)
	if man.Options.Publish != "none" {
		out = append(out, recording.PhasePublishing)
	}
	return append(out, recording.PhaseCleaningUp)
}
