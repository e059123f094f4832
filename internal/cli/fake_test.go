package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/contract"
	"github.com/proofreel/proofreel/internal/edit/clip"
	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/serve/mcpserver"
	"github.com/proofreel/proofreel/internal/studio/renderer"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

const (
	testID   = "0b4fd1c2-5a1e-4c57-9d5e-8f1f2a3b4c5d"
	otherID  = "7e0e2a4c-1111-4222-8333-944445555666"
	testDate = "2026-11-30T12:00:00Z"
)

func at(t string) time.Time {
	v, err := time.Parse(time.RFC3339, t)
	if err != nil {
		panic(err)
	}
	return v
}

// fake answers as a recorder would, and notes every call.
type fake struct {
	calls  []string
	start  supervisor.StartOptions
	id     string
	text   string
	pass   bool
	older  time.Duration
	wait   time.Duration
	err    error
	raw    json.RawMessage
	status []supervisor.StatusResult // one a call; the last again and again
	list   []supervisor.ListRow      // in place of the usual ones
	clip   clip.Options
	there  bool // the display was there: stop makes a clip unasked
	unclip error
	stdin  string
	scene  any                   // the options that the studio was given
	check  *renderer.CheckResult // in place of the usual one
}

func (f *fake) note(name, id string) { f.calls, f.id = append(f.calls, name), id }

func (f *fake) Start(_ context.Context, o supervisor.StartOptions) (supervisor.StartResult, error) {
	f.note("start", "")
	f.start = o
	return supervisor.StartResult{
		RecordingID: testID, Name: o.Name, Display: ":7", Xauthority: "/state/x/Xauthority", OwnDisplay: true,
		Size: "1921x1080", VideoSize: "1922x1080", FPS: 60, FPSAuto: true, Rate: "cfr",
		Capture: supervisor.CaptureResult{Engine: "x11grab", Why: "asked for"}, Browser: "agent-browser",
		AgentBrowserCommand: []string{"agent-browser", "--namespace", "pr-0123456789abcdef", "--session", "pr-fedcba9876543210"},
		EndsAt:              at(testDate), MaxDurationSeconds: 1800, Publish: "none",
		Notes: []string{"The size is odd: the film is padded to 1922x1080."},
	}, f.err
}

func runningStatus() supervisor.StatusResult {
	return supervisor.StatusResult{
		RecordingID: testID, Name: "login", Phase: recording.PhaseRecording, SupervisorAlive: true,
		FramesCaptured: 1234, FramesDistinct: 321, FramesDropped: 2, SecondsRecorded: 62.34, BytesOnDisk: 12_345_678,
		FPSAchieved: 59.94, SecondsLeft: 1737.66, Steps: 3, Display: ":7",
		Incidents: []supervisor.IncidentResult{{Second: 12.5, Kind: "dropped", Detail: "2 frames <late>"}},
	}
}

func (f *fake) Status(_ context.Context, id string) (supervisor.StatusResult, error) {
	f.note("status", id)
	if len(f.status) == 0 {
		return runningStatus(), f.err
	}
	s := f.status[0]
	if len(f.status) > 1 {
		f.status = f.status[1:]
	}
	return s, f.err
}

func stopResult() supervisor.StopResult {
	return supervisor.StopResult{
		RecordingID: testID, Name: "login", Path: "/state/x/film.mp4", URL: "https://example.org/f?a=1&b=2", Published: "uploads.sh",
		Verdict: recording.VerdictDegraded, VerdictWhy: []string{"2 frames were dropped"}, EndedBy: "stop",
		DurationSeconds: 3723.4, Size: "1920x1080", FPS: 60, Rate: "cfr", Frames: 223404, FramesCaptured: 4567, FramesDropped: 2,
		Bytes: 98_765_432, SHA256: strings.Repeat("ab", 32), StartedAt: at(testDate),
		Steps: []supervisor.StepResult{
			{Step: 1, Text: "Open the page", Second: 1.2, At: at(testDate), Result: "pass", Comment: "it is open"},
			{Step: 2, Text: "Click <Save> & wait", Second: 61.5, At: at(testDate), Result: "fail"},
			{Step: 3, Text: "Look", Second: 99, At: at(testDate)},
		},
		Incidents: []supervisor.IncidentResult{{Second: 12.5, Kind: "dropped", Detail: "2 frames"}},
	}
}

func (f *fake) stop(name, id string, o supervisor.StopOptions) (supervisor.Stopped, error) {
	f.note(name, id)
	f.wait = o.Timeout
	for i, phase := range []string{"closing_browser", "stopping_capture", "finalizing", "publishing", "cleaning_up"} {
		o.Progress(contract.Progress{SchemaVersion: 1, Event: "progress", Phase: phase, Step: i + 1, TotalSteps: 5, RecordingID: testID})
	}
	if f.err != nil {
		return supervisor.Stopped{}, f.err
	}
	raw := f.raw
	if raw == nil {
		b, err := compact(stopResult())
		if err != nil {
			return supervisor.Stopped{}, err
		}
		raw = b
	}
	return supervisor.Stopped{Data: raw, Result: stopResult(), Effect: fault.EffectProofPublished}, nil
}

func (f *fake) Stop(_ context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error) {
	return f.stop("stop", id, o)
}

func (f *fake) Recover(_ context.Context, id string, o supervisor.StopOptions) (supervisor.Stopped, error) {
	return f.stop("recover", id, o)
}

func (f *fake) Step(_ context.Context, id, text string) (supervisor.EventResult, error) {
	f.note("step", id)
	f.text = text
	return supervisor.EventResult{RecordingID: testID, Step: 2, Second: 3.25, Text: text}, f.err
}

func (f *fake) Result(_ context.Context, id string, pass bool, text string) (supervisor.EventResult, error) {
	f.note("result", id)
	f.text, f.pass = text, pass
	return supervisor.EventResult{RecordingID: testID, Step: 2, Second: 4.5, Result: map[bool]string{true: "pass", false: "fail"}[pass], Text: text}, f.err
}

func (f *fake) List(context.Context) (supervisor.ListResult, error) {
	f.note("list", "")
	if f.list != nil {
		return supervisor.ListResult{Recordings: f.list}, f.err
	}
	return supervisor.ListResult{Recordings: []supervisor.ListRow{
		{RecordingID: testID, Name: "login", Phase: recording.PhaseRecording, SupervisorAlive: true, CreatedAt: at(testDate), SecondsRecorded: 62.3, Bytes: 12_345_678},
		{RecordingID: otherID, Phase: recording.PhaseDone, CreatedAt: at(testDate), SecondsRecorded: 5, Bytes: 999, Path: "/state/y/film.mp4", Verdict: recording.VerdictComplete, Problem: "state \x1b[31mis odd"},
	}}, f.err
}

func (f *fake) Discard(_ context.Context, id string) (supervisor.DiscardResult, error) {
	f.note("discard", id)
	return supervisor.DiscardResult{RecordingID: testID, Bytes: 12_345_678}, f.err
}

func (f *fake) Prune(_ context.Context, olderThan time.Duration) (supervisor.PruneResult, error) {
	f.note("prune", "")
	f.older = olderThan
	return supervisor.PruneResult{Removed: []supervisor.DiscardResult{{RecordingID: otherID, Bytes: 999}}, Kept: 1}, f.err
}

func clipResult() clip.Result {
	second := 4.5
	return clip.Result{
		RecordingID: testID, Name: "login", Path: "/out/login.mp4", Page: "/out/login.html", Captions: "/out/login.vtt",
		Transcript: "/out/login.json", Poster: "/out/login.jpg", Sheet: "/out/login-sheet.png",
		Format: clip.MP4, Width: 1280, Height: 720, FPS: 15, CRF: 28, Bytes: 123_456, SHA256: strings.Repeat("cd", 32),
		Stills: "cut", Speed: 1, Position: "top", Seconds: 42.4, Recorded: 62.3, Cut: 30, StartedAt: at(testDate),
		Steps:    []clip.Step{{Step: 1, Text: "Open <the> page", Second: 1.2, At: at(testDate), Result: "pass", Comment: "it is open", ResultSecond: &second}},
		Map:      []clip.Stretch{{Clip: [2]float64{0, 42.4}, Recording: [2]float64{0, 42.4}, UTC: at(testDate)}},
		Markdown: "[![login](login.jpg)](login.mp4)", Notes: []string{"To stay within 200000 bytes: crf 34 in place of 28."},
		Verdict: recording.VerdictComplete, VerdictWhy: []string{},
	}
}

func (f *fake) Clip(_ context.Context, id string, o clip.Options) (clip.Result, error) {
	f.note("clip", id)
	f.clip = o
	return clipResult(), f.err
}

func (f *fake) AfterStop(_ context.Context, id string, asked bool) (json.RawMessage, error) {
	if !asked && !f.there {
		return nil, nil
	}
	f.note("clip after stop", id)
	raw, err := compact(clipResult())
	return raw, errors.Join(err, f.unclip)
}

func (f *fake) Supervise(_ context.Context, dir string) error {
	f.note("supervise", dir)
	return f.err
}

// bench runs command lines against a fake recorder.
type bench struct {
	*fake
	opened int
	waits  int
	env    map[string]string
	doctor doctor.Report
	mcp    mcpserver.Options
	tty    bool
	ctx    context.Context //nolint:containedctx // a test's table carries it
}

func newBench() *bench {
	return &bench{fake: &fake{}, env: map[string]string{}, ctx: context.Background(), doctor: doctor.Report{OK: true, Checks: []doctor.Check{
		{Name: "ffmpeg", OK: true, Level: "error", Detail: "5.1.9 with x11grab and libx264"},
		{Name: "emoji", OK: false, Level: "warning", Detail: "no font with emoji", Fix: "apt-get install fonts-noto-color-emoji"},
	}}}
}

type outcome struct {
	code     int
	out, err string
}

func (b *bench) run(args ...string) outcome {
	var out, errs bytes.Buffer
	deps := Deps{
		Version: "1.2.3",
		Getenv:  func(n string) string { return b.env[n] },
		Wait: func(ctx context.Context, _ time.Duration) error {
			if b.waits++; b.waits > 1000 {
				panic("the command waits for ever")
			}
			if ctx.Err() != nil {
				return errors.New("wait: " + ctx.Err().Error())
			}
			return nil
		},
		Open:     func() (Recorder, error) { b.opened++; return b.fake, nil },
		Clips:    func() (Clipper, error) { return b.fake, nil },
		Studio:   func() (Studio, error) { return fakeStudio{b.fake}, nil },
		NewScene: fakeStudio{b.fake}.New,
		Generate: b.generate,
		Setup:    b.setup,
		Stdin:    func() (string, error) { return b.stdin, nil },
		ParsePublish: func(target string) (string, error) {
			if rel, ok := strings.CutPrefix(target, "dir:"); ok {
				return "dir:" + filepath.Join("/cwd", rel), nil
			}
			if target == "none" || target == "uploads.sh" {
				return target, nil
			}
			return "", fault.New(fault.InvalidValue, "Use none, dir:PATH or uploads.sh.", "--publish: %s is not in this version", quote(target))
		},
		Doctor:   func(context.Context) (doctor.Report, error) { return b.doctor, nil },
		ServeMCP: func(_ context.Context, o mcpserver.Options) error { b.mcp = o; return b.err },
	}
	code := Run(b.ctx, args, deps, Stdio{Out: &out, Err: &errs, OutTTY: b.tty, ErrTTY: b.tty, Width: 80, Colour: b.tty})
	return outcome{code, out.String(), errs.String()}
}

// oneObject says whether s is exactly one JSON object and a line's end.
func oneObject(t *testing.T, s string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(s))
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON object: %v in %q", err, s)
	}
	if dec.More() || !strings.HasSuffix(s, "\n") {
		t.Fatalf("want one object and a line's end, got %q", s)
	}
	return v
}

func (f *fake) Finish(_ context.Context, dir string) error {
	f.note("finish", dir)
	return f.err
}

// fakeStudio answers as a studio would.
type fakeStudio struct{ *fake }

func (f fakeStudio) take(name string, o any) {
	f.note(name, "")
	f.scene = o
}

func (fakeStudio) Close() {}

func (f fakeStudio) Render(_ context.Context, o renderer.RenderOptions) (renderer.RenderResult, error) {
	for _, done := range []int{3, 10, 20, 99, 180} {
		o.Progress(done, 180)
	}
	o.Progress = nil // can't be compared
	f.take("render", o)
	return renderer.RenderResult{
		Scene: o.Scene, Path: "/out/title.mp4", Width: 1920, Height: 1080, FPS: 30, Frames: 180, Seconds: 6, Bytes: 3_456_789,
		SHA256: strings.Repeat("ef", 32), Quality: "standard", Poster: "/out/title.jpg", PosterFrame: 77,
		Stretches: 4, Reused: 1, Repeats: 12, Workers: 2, Took: 7.5, Restarts: 1, Verdict: recording.VerdictComplete,
		Notes: []scene.Note{{Code: "text_newline", Text: "a line <break>", Frame: 3, Place: scene.Place{File: "scene.js", Line: 12, Column: 5}}},
	}, f.err
}

func (f fakeStudio) Stills(_ context.Context, o renderer.StillOptions) (renderer.StillResult, error) {
	f.take("still", o)
	return renderer.StillResult{
		Scene: o.Scene, Width: 1920, Height: 1080, Notes: []scene.Note{},
		Stills: []renderer.Still{{Frame: 45, Seconds: 1.5, Path: "stills/title-00045.png"}, {Frame: 90, Seconds: 3, Path: "stills/title-00090.png"}},
	}, f.err
}

func (f fakeStudio) Sheet(_ context.Context, o renderer.SheetOptions) (renderer.SheetResult, error) {
	f.take("sheet", o)
	return renderer.SheetResult{Scene: o.Scene, Path: "title-sheet.png", Width: 1568, Height: 760, Frames: []int{0, 90, 179}, Notes: []scene.Note{}}, f.err
}

func (f fakeStudio) Check(_ context.Context, o renderer.CheckOptions) (renderer.CheckResult, error) {
	f.take("check", o)
	if f.check != nil {
		return *f.check, f.err
	}
	return checkResult(), f.err
}

func checkResult() renderer.CheckResult {
	return renderer.CheckResult{
		Scene: "scene.js", OK: true, Kind: scene.Kind2D, Width: 1920, Height: 1080, FPS: 30, Seconds: 6, Frames: 180,
		Checked: []int{0, 44, 179}, FrameMS: 11.4, SlowMS: 123.4, Slowest: 44, Errors: []renderer.Finding{},
		Warnings: []renderer.Finding{{Code: "slow_frames", Text: "frame 44 is drawn in more than 100 ms", Frame: 44, Hint: "Blur is dear."}},
	}
}

func (f fakeStudio) Preview(_ context.Context, o renderer.PreviewOptions) (renderer.PreviewResult, error) {
	o.Ready("http://127.0.0.1:4000/token/")
	o.Ready = nil
	f.take("preview", o)
	return renderer.PreviewResult{Scene: o.Scene, URL: "http://127.0.0.1:4000/token/", Reloads: 2}, f.err
}

func (f fakeStudio) New(o renderer.NewOptions) (renderer.NewResult, error) {
	f.take("new", o)
	return renderer.NewResult{Scene: o.Name + "/scene.js", Style: o.Style, Kind: o.Kind}, f.err
}
