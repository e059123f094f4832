package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/supervisor"
)

// What the flags say must reach the recorder, in the recorder's own units.
func TestStartOptions(t *testing.T) {
	defaults := supervisor.StartOptions{
		URL: "about:blank", Width: 1920, Height: 1080, Display: "new", Browser: "auto", Cursor: "auto", Engine: "auto",
		MinFree: 200_000_000, Publish: "none", Stills: "cut", Speed: 1, Position: "top", StartupTimeout: time.Minute,
	}
	with := func(change func(*supervisor.StartOptions)) supervisor.StartOptions {
		o := defaults
		change(&o)
		return o
	}
	tests := []struct {
		name, args string
		env        map[string]string
		want       supervisor.StartOptions
	}{
		{"defaults", "start", nil, defaults},
		{
			"everything", "start --url=http://u:p@localhost:3000/a?b=c#d --fps 30 --rate vfr --size 1281x719 --display new --browser chromium" +
				" --cursor off --keys --engine x11 --max-duration 1h30m --min-free 1.5GiB --publish dir:films --stills keep --speed 4" +
				" --position bottom --name día-1 --startup-timeout 5s --until-pid 1",
			nil,
			supervisor.StartOptions{
				Name: "día-1", URL: "http://u:p@localhost:3000/a?b=c#d", FPS: 30, Rate: "vfr", Width: 1281, Height: 719, Display: "new",
				Browser: "chromium", Cursor: "off", Keys: true, Engine: "x11", MaxDuration: 90 * time.Minute, MinFree: 3 << 29, Publish: "dir:/cwd/films",
				Stills: "keep", Speed: 4, Position: "bottom", UntilPID: 1, StartupTimeout: 5 * time.Second,
			},
		},
		// A display that is there has its own size and nothing is opened on it.
		{"a display that is there", "start --display :0", nil, with(func(o *supervisor.StartOptions) {
			o.Display, o.URL, o.Browser, o.Width, o.Height = ":0", "", "none", 0, 0
		})},
		{"no browser", "start --browser none", nil, with(func(o *supervisor.StartOptions) { o.Browser, o.URL = "none", "" })},
		{"workspace from the flag", "start --publish uploads.sh --uploads-workspace w", nil, with(func(o *supervisor.StartOptions) {
			o.Publish, o.Workspace = "uploads.sh", "w"
		})},
		{"workspace from the environment", "start --publish uploads.sh", map[string]string{"UPLOADS_WORKSPACE": "e"}, with(func(o *supervisor.StartOptions) {
			o.Publish, o.Workspace = "uploads.sh", "e"
		})},
		{"the environment's workspace is no wish to upload", "start", map[string]string{"UPLOADS_WORKSPACE": "e"}, defaults},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench()
			b.env = tt.env
			o := b.run(strings.Fields(tt.args)...)
			if o.code != 0 {
				t.Fatal(o.err)
			}
			if d := cmp.Diff(tt.want, b.start); d != "" {
				t.Error(d)
			}
			if strings.Contains(o.out, "u:p@") {
				t.Error("the answer shows the URL's password")
			}
		})
	}
}

// The other commands' values must reach the recorder too.
func TestCalls(t *testing.T) {
	type want struct {
		call, id, text string
		pass           bool
		older, wait    time.Duration
	}
	tests := []struct {
		args []string
		env  string // PROOFREEL_RECORDING
		want want
	}{
		{[]string{"status"}, "", want{call: "status"}},
		{[]string{"status"}, testID, want{call: "status", id: testID}},
		{[]string{"status", otherID}, testID, want{call: "status", id: otherID}},
		{[]string{"stop"}, "", want{call: "stop", wait: time.Minute}},
		{[]string{"stop", "--timeout=90s", testID}, "", want{call: "stop", id: testID, wait: 90 * time.Second}},
		{[]string{"recover", testID}, "", want{call: "recover", id: testID, wait: time.Minute}},
		{[]string{"discard", "abc"}, "", want{call: "discard", id: "abc"}},
		{[]string{"prune", "--older-than", "7d12h"}, "", want{call: "prune", older: 180 * time.Hour}},
		{[]string{"prune", "--older-than", "0s"}, "", want{call: "prune"}},
		{[]string{"step", "one two"}, "", want{call: "step", text: "one two"}},
		{[]string{"step", "x", "--id", otherID}, testID, want{call: "step", id: otherID, text: "x"}},
		{[]string{"step", "x"}, testID, want{call: "step", id: testID, text: "x"}},
		{[]string{"step", "--", "- a dash begins it"}, "", want{call: "step", text: "- a dash begins it"}},
		{[]string{"step", "--", "-5 is shown"}, "", want{call: "step", text: "-5 is shown"}},
		{[]string{"step", strings.Repeat("é", 4000)}, "", want{call: "step", text: strings.Repeat("é", 4000)}},
		{[]string{"step", "👩‍💻 مرحبا שלום 中文"}, "", want{call: "step", text: "👩‍💻 مرحبا שלום 中文"}},
		{[]string{"result", "pass", "ok"}, "", want{call: "result", text: "ok", pass: true}},
		{[]string{"--output=json", "result", "fail", "no"}, "", want{call: "result", text: "no"}},
		{[]string{"supervise", "/state/x"}, "", want{call: "supervise", id: "/state/x"}},
		{[]string{"finish", "/state/x"}, "", want{call: "finish", id: "/state/x"}},
	}
	for _, tt := range tests {
		b := newBench()
		b.env["PROOFREEL_RECORDING"] = tt.env
		o := b.run(tt.args...)
		if o.code != 0 || len(b.calls) != 1 {
			t.Errorf("%.60q: exit %d, calls %v, %s", tt.args, o.code, b.calls, o.err)
			continue
		}
		got := want{b.calls[0], b.id, b.text, b.pass, b.older, b.wait}
		if got != tt.want {
			t.Errorf("%.60q: got %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

// A repeated stop must give the same bytes: no encoder may touch them.
func TestStopDataByteForByte(t *testing.T) {
	raw := `{"b" : "<&>\u00e9\/",` + "\n" + ` "a":1.50}`
	b := newBench()
	b.raw = json.RawMessage(raw)
	o := b.run("stop")
	if !strings.Contains(o.out, `"data":`+raw+`,"meta"`) {
		t.Errorf("the data is not as it was kept: %s", o.out)
	}
	oneObject(t, o.out)

	b.raw = json.RawMessage(`{"torn":`)
	if o := b.run("stop"); o.code != fault.ExitFailed || o.out != "" {
		t.Errorf("a torn answer: exit %d, stdout %q", o.code, o.out)
	}
}

// Help and version answer before anything is missing, wrong or done.
func TestHelpAndVersionWin(t *testing.T) {
	for _, args := range []string{
		"--help", "-h", "help", "start --help", "discard --help", "help discard", "prune -h", "result --help", "--version", "version", "start --version", "--help start",
	} {
		b := newBench()
		o := b.run(strings.Fields(args)...)
		if o.code != 0 || o.err != "" || b.opened != 0 {
			t.Errorf("%s: exit %d, %s, opened %d", args, o.code, o.err, b.opened)
			continue
		}
		oneObject(t, o.out)
	}
}

// Each code must end the program as the table says.
func TestExitCodes(t *testing.T) {
	for _, row := range fault.Table() {
		b := newBench()
		b.err = fault.New(row.Code, "hint", "message")
		o := b.run("list")
		e, _ := oneObject(t, o.err)["error"].(map[string]any)
		if o.code != row.Exit || e["code"] != string(row.Code) || e["retryable"] != row.Retryable {
			t.Errorf("%s: exit %d, %s", row.Code, o.code, o.err)
		}
	}
}

// The output mode: flags over environment over the terminal, and what can't be
// understood is answered for programs.
func TestOutputMode(t *testing.T) {
	tests := []struct {
		args, env string
		tty, text bool
	}{
		{"list", "", false, false},
		{"list", "", true, true},
		{"list", "json", true, false},
		{"list", "text", false, true},
		{"list --output json", "text", true, false},
		{"list --output=text", "json", false, true},
		{"list --output auto", "json", true, true},
		{"list --output auto", "", false, false},
		{"--output text strat", "", false, true},
		{"list --output yaml", "", true, false},
		{"step -- --output=text", "", false, false},
	}
	for _, tt := range tests {
		b := newBench()
		b.tty, b.env["PROOFREEL_OUTPUT"] = tt.tty, tt.env
		o := b.run(strings.Fields(tt.args)...)
		if got := !strings.HasPrefix(o.out+o.err, "{"); got != tt.text {
			t.Errorf("%s (environment %q, terminal %t): text is %t, want %t: %s%s", tt.args, tt.env, tt.tty, got, tt.text, o.out, o.err)
		}
	}
}

// A person's terminal must not be steered by what a recording holds.
func TestTextIsClean(t *testing.T) {
	b := newBench()
	s := runningStatus()
	s.Name, s.Incidents[0].Detail = "a\x1b]0;b\x07", "x\ry"
	b.status = []supervisor.StatusResult{s}
	if o := b.run("status", "--output", "text"); strings.ContainsAny(o.out, "\x1b\x07\r") {
		t.Errorf("control characters come through: %q", o.out)
	}
}

// A signal ends watch, not the recording; the exit code says so.
func TestWatchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := newBench()
	b.ctx = ctx
	if o := b.run("watch"); o.code != fault.ExitFailed || !strings.Contains(o.err, "goes on") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// An answer that can't be printed is a failure, and tells what was done all
// the same; a panic keeps the contract.
func TestBrokenOutputAndPanic(t *testing.T) {
	b := newBench()
	deps := Deps{
		Getenv: func(string) string { return "" }, ParsePublish: func(s string) (string, error) { return s, nil },
		Open: func() (Recorder, error) { return b.fake, nil },
	}
	var errs bytes.Buffer
	if code := Run(context.Background(), []string{"start"}, deps, Stdio{Out: brokenWriter{}, Err: &errs}); code != fault.ExitFailed {
		t.Errorf("exit %d", code)
	}
	if meta, _ := oneObject(t, errs.String())["meta"].(map[string]any); meta["effect"] != "recording-started" {
		t.Errorf("got %s", errs.String())
	}

	deps.Open = func() (Recorder, error) { panic("broken") }
	errs.Reset()
	if code := Run(context.Background(), []string{"list"}, deps, Stdio{Out: brokenWriter{}, Err: &errs}); code != fault.ExitFailed {
		t.Errorf("exit %d", code)
	}
	last := errs.String()[strings.LastIndex(strings.TrimSpace(errs.String()), "\n")+1:]
	if e, _ := oneObject(t, last)["error"].(map[string]any); e["code"] != "internal" {
		t.Errorf("got %s", last)
	}
}

// A supervisor that starts, or one that takes over, is not there at once: watch
// must not give up on it. One that stays away ends the watch.
func TestWatchWaitsForASupervisor(t *testing.T) {
	dead, done := runningStatus(), runningStatus()
	dead.SupervisorAlive = false
	done.Phase = recording.PhaseDone
	b := newBench()
	b.status = []supervisor.StatusResult{dead, dead, runningStatus(), dead, done}
	if o := b.run("watch"); o.code != 0 || len(b.calls) != 5 || !strings.Contains(o.out, `"phase":"done"`) {
		t.Errorf("exit %d after %d looks: %s%s", o.code, len(b.calls), o.out, o.err)
	}
	b = newBench()
	b.status = []supervisor.StatusResult{dead}
	if o := b.run("watch"); o.code != 0 || len(b.calls) != watchDead {
		t.Errorf("exit %d after %d looks: %s%s", o.code, len(b.calls), o.out, o.err)
	}
}

// Only what nobody works on and nothing ended is left over.
func TestLeftovers(t *testing.T) {
	left, err := leftovers(context.Background(), &fake{list: []supervisor.ListRow{
		{RecordingID: "runs", Phase: recording.PhaseRecording, SupervisorAlive: true},
		{RecordingID: "ended", Phase: recording.PhaseDone},
		{RecordingID: "died", Phase: recording.PhaseFinalizing, SecondsRecorded: 3},
		{RecordingID: "torn", Problem: "no JSON"},
	}})
	want := []string{"died (finalizing, 3 s)", "torn (its state can't be read)"}
	if d := cmp.Diff(want, left); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}
