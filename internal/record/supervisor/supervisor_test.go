package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
)

func newManager(t *testing.T) *Manager {
	t.Helper()
	return &Manager{Home: t.TempDir(), Exe: os.Args[0], Getenv: func(string) string { return "" }}
}

// put makes a recording in a state.
func put(t *testing.T, m *Manager, change func(*recording.Manifest)) *recording.Dir {
	t.Helper()
	man := recording.Manifest{
		FormatVersion: recording.FormatVersion, ID: uuid.NewString(), CreatedAt: time.Now(),
		Phase: recording.PhaseRecording, Options: recording.Options{FPS: 30, Publish: "none"},
	}
	change(&man)
	d, err := recording.Create(m.Home, man)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func code(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.As(err).Code
}

// The verdict must not call a film complete that isn't.
func TestJudge(t *testing.T) {
	died := recording.Incident{Kind: recording.IncidentDied, Salvaged: true, Detail: "it died"}
	gap := recording.Incident{Kind: recording.IncidentGap, Detail: "nothing for 3 s"}
	for name, c := range map[string]struct {
		incidents []recording.Incident
		dropped   int64
		want      recording.Verdict
		reasons   int
	}{
		"nothing happened":     {nil, 0, recording.VerdictComplete, 0},
		"frames dropped":       {nil, 3, recording.VerdictDegraded, 1},
		"a gap":                {[]recording.Incident{gap}, 0, recording.VerdictDegraded, 1},
		"something died":       {[]recording.Incident{died}, 0, recording.VerdictSalvaged, 1},
		"a gap, then a death":  {[]recording.Incident{gap, died}, 2, recording.VerdictSalvaged, 3},
		"a death, then a gap":  {[]recording.Incident{died, gap}, 0, recording.VerdictSalvaged, 2},
		"the disk filled up":   {[]recording.Incident{{Kind: recording.ReasonDiskFloor}}, 0, recording.VerdictSalvaged, 1},
		"the screen has grown": {[]recording.Incident{{Kind: "geometry"}}, 0, recording.VerdictDegraded, 1},
		"the rate was lowered": {[]recording.Incident{{Kind: "rate"}}, 0, recording.VerdictComplete, 0},
	} {
		if v, why := judge(c.incidents, c.dropped); v != c.want || len(why) != c.reasons {
			t.Errorf("%s: %s %v, want %s and %d reasons", name, v, why, c.want, c.reasons)
		}
	}
}

// A password in an address must not reach the state.
func TestPasswordsAreRedacted(t *testing.T) {
	for in, want := range map[string]string{
		"https://a:secret@example.test/x":    "https://redacted@example.test/x",
		"http://example.test/x?token=1#at=2": "http://example.test/x?redacted#redacted",
		"https://example.test/":              "https://example.test/",
		"about:blank":                        "about:blank",
		"":                                   "",
	} {
		if got := redacted(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestPlanDefaults(t *testing.T) {
	m := newManager(t)
	for name, c := range map[string]struct {
		o    StartOptions
		want recording.Options
	}{
		"an own display": {
			StartOptions{Display: "new", Cursor: "auto", Publish: "none"},
			recording.Options{Display: "new", FPS: 60, Adaptive: true, Rate: "cfr", MaxDuration: 30 * time.Minute, Publish: "none"},
		},
		"one that is there": {
			StartOptions{Display: ":0", Cursor: "auto", Publish: "none"},
			recording.Options{Display: ":0", FPS: 15, Adaptive: true, Rate: "vfr", Cursor: true, MaxDuration: 5 * time.Minute, Publish: "none"},
		},
		"a rate of its own": {
			StartOptions{Display: "new", FPS: 24, Cursor: "on", Keys: true, MaxDuration: time.Second, Publish: "none"},
			recording.Options{Display: "new", FPS: 24, Rate: "vfr", Cursor: true, Keys: true, MaxDuration: time.Second, Publish: "none"},
		},
	} {
		man, err := m.plan(context.Background(), c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, man.Options); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	m := newManager(t)
	for name, o := range map[string]StartOptions{
		"a browser on a display that is there": {Display: ":0", Browser: "chromium", Publish: "none"},
		"a target that is not known":           {Display: "new", Publish: "ftp://x"},
		"a process that is gone":               {Display: "new", Publish: "none", UntilPID: 1 << 30},
	} {
		if _, err := m.plan(context.Background(), o); code(err) != fault.InvalidValue {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without an id a command means the one that runs; with several it must not
// guess.
func TestWhichRecording(t *testing.T) {
	m := newManager(t)
	if _, err := m.Status(context.Background(), ""); code(err) != fault.NotFound {
		t.Errorf("none at all: %v", err)
	}
	old := put(t, m, func(man *recording.Manifest) {
		man.Phase, man.CreatedAt = recording.PhaseDone, time.Now().Add(-time.Hour)
	})
	if s, err := m.Status(context.Background(), ""); err != nil || s.RecordingID != old.ID() {
		t.Errorf("only an ended one: %+v %v", s, err)
	}
	if _, err := m.Step(context.Background(), "", "x"); code(err) != fault.NotFound {
		t.Errorf("a step without a running one: %v", err)
	}
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	runs := put(t, m, func(man *recording.Manifest) { man.Supervisor = self })
	if s, err := m.Status(context.Background(), ""); err != nil || s.RecordingID != runs.ID() {
		t.Errorf("one that runs: %+v %v", s, err)
	}
	put(t, m, func(man *recording.Manifest) { man.Supervisor = self })
	if _, err := m.Status(context.Background(), ""); code(err) != fault.Ambiguous || !strings.Contains(fault.As(err).Hint, runs.ID()) {
		t.Errorf("two that run: %v", err)
	}
	if _, err := m.Status(context.Background(), "../x"); code(err) != fault.NotFound {
		t.Errorf("a path as an id: %v", err)
	}
}

func TestEventsBelongToTheirStep(t *testing.T) {
	m := newManager(t)
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	d := put(t, m, func(man *recording.Manifest) { man.Supervisor = self })
	ctx := context.Background()
	if _, err := m.Result(ctx, "", true, "too early"); code(err) != fault.NoStep {
		t.Errorf("a result without a step: %v", err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := m.Step(ctx, "", text); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := m.Result(ctx, "", false, "broken"); err != nil || r.Step != 2 || r.Result != "fail" {
		t.Errorf("result: %+v %v", r, err)
	}
	evs, err := d.Events()
	if err != nil {
		t.Fatal(err)
	}
	steps := stepResults(evs)
	if len(steps) != 2 || steps[0].Result != "" || steps[1].Result != "fail" || steps[1].Comment != "broken" {
		t.Errorf("steps: %+v", steps)
	}
}

// One recording that is about to end must not keep the others from being
// pruned; one that runs stays.
func TestPruneKeepsWhatRuns(t *testing.T) {
	m := newManager(t)
	ended := func(man *recording.Manifest) {
		man.Phase, man.CreatedAt = recording.PhaseDone, time.Now().Add(-time.Hour)
	}
	gone, held := put(t, m, ended), put(t, m, ended)
	young := put(t, m, func(man *recording.Manifest) { man.Phase = recording.PhaseDone })
	lock, err := held.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	res, err := m.Prune(context.Background(), time.Minute)
	if err != nil || len(res.Removed) != 1 || res.Removed[0].RecordingID != gone.ID() || res.Kept != 2 {
		t.Errorf("prune: %+v %v", res, err)
	}
	if _, err := young.Load(); err != nil {
		t.Errorf("a young one was removed: %v", err)
	}
	if _, err := m.Discard(context.Background(), held.ID()); code(err) != fault.InvalidState {
		t.Errorf("discard of one that runs: %v", err)
	}
}

// Only a failure that can be mended is tried again; everything else is the
// same answer as before.
func TestWhatIsAnswered(t *testing.T) {
	failed := func(c fault.Code) recording.Manifest {
		return recording.Manifest{Phase: recording.PhaseFailed, Failure: &recording.Failure{Code: string(c), Hint: "h", Artifact: "/a"}}
	}
	for c, want := range map[fault.Code]bool{fault.PublishFailed: false, fault.DiskFull: false, fault.NoFrames: true, fault.VerifyFailed: true} {
		if got := answered(failed(c)); got != want {
			t.Errorf("%s: answered %v", c, got)
		}
	}
	_, err := answer(failed(fault.PublishFailed))
	e := fault.As(err)
	if e.Code != fault.PublishFailed || e.Artifact != "/a" || e.Effect != fault.EffectFinalizePartial {
		t.Errorf("answer: %+v", e)
	}
	s, err := answer(recording.Manifest{Phase: recording.PhaseDone, Result: json.RawMessage("{\n  \"recordingId\": \"x\"\n}")})
	if err != nil || string(s.Data) != `{"recordingId":"x"}` || s.Effect != fault.EffectProofSaved {
		t.Errorf("answer: %+v %v", s, err)
	}
}

func TestPhasesThatApply(t *testing.T) {
	man := recording.Manifest{Options: recording.Options{Publish: "none"}}
	if got := len(phases(man)); got != 3 {
		t.Errorf("%d phases", got)
	}
	man.Options.Publish, man.Browser = "dir:/x", &recording.Browser{}
	want := []recording.Phase{recording.PhaseClosingBrowser, recording.PhaseStoppingCapture, recording.PhaseFinalizing, recording.PhasePublishing, recording.PhaseCleaningUp}
	if diff := cmp.Diff(want, phases(man)); diff != "" {
		t.Error(diff)
	}
}

// Errors that are none of the user's get a code with which the caller can try
// again.
func TestSupervisorFaults(t *testing.T) {
	if e := asSupervisorFault(errors.New("x")); e.Code != fault.SupervisorFailed {
		t.Error(e)
	}
	own := fault.New(fault.DisplayFailed, "h", "m")
	if e := asSupervisorFault(own); e != own {
		t.Error(e)
	}
}
