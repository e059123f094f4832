package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
)

// Step records that a step of the work begins now.
func (m *Manager) Step(_ context.Context, id, text string) (EventResult, error) {
	return m.event(id, func(sofar []recording.Event) (recording.Event, error) {
		return recording.Event{Kind: recording.EventStep, Text: text, Step: steps(sofar) + 1}, nil
	})
}

// Result records how the step before it ended.
func (m *Manager) Result(_ context.Context, id string, pass bool, text string) (EventResult, error) {
	return m.event(id, func(sofar []recording.Event) (recording.Event, error) {
		n := steps(sofar)
		if n == 0 {
			return recording.Event{}, fault.New(fault.NoStep, "Give the step first: proofreel step TEXT. The recording goes on.", "a result needs a step before it")
		}
		return recording.Event{Kind: recording.EventResult, Text: text, Step: n, Pass: &pass}, nil
	})
}

func steps(evs []recording.Event) int {
	n := 0
	for _, e := range evs {
		if e.Kind == recording.EventStep {
			n++
		}
	}
	return n
}

// event appends an event at the recording's time now. The caller's own clock
// reading counts, so a supervisor that is busy or stopped delays nothing.
func (m *Manager) event(id string, next func([]recording.Event) (recording.Event, error)) (EventResult, error) {
	dir, man, err := m.open(id, true)
	if err != nil {
		return EventResult{}, err
	}
	if man.Phase != recording.PhaseRecording && man.Phase != recording.PhaseStarting {
		return EventResult{}, fault.New(fault.InvalidState, "Start a new recording with: proofreel start", "recording %s has ended (%s)", man.ID, man.Phase)
	}
	if man.Phase == recording.PhaseRecording && !man.Supervisor.Alive() {
		return EventResult{}, fault.New(fault.InvalidState, "Get what was recorded with: proofreel recover "+man.ID, "the supervisor of recording %s has died", man.ID)
	}
	at := filmTime(man)
	ev, err := dir.AddEvent(func(sofar []recording.Event) (recording.Event, error) {
		ev, err := next(sofar)
		ev.At, ev.Wall = at, time.Now().UTC()
		return ev, err
	})
	if err != nil {
		if own := (*fault.Error)(nil); errors.As(err, &own) {
			return EventResult{}, own
		}
		return EventResult{}, fault.Wrap(err, fault.StateUnwritable, "Free some space; the recording goes on.", "the event could not be written")
	}
	res := EventResult{RecordingID: man.ID, Step: ev.Step, Second: seconds(ev.At), Text: ev.Text}
	if ev.Pass != nil {
		res.Result = passText(*ev.Pass)
	}
	return res, nil
}

func passText(pass bool) string {
	if pass {
		return "pass"
	}
	return "fail"
}

// seconds rounds a time to milliseconds, as answers show it.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
