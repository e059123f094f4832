package doctor

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/install"
)

// machine is a made-up machine: a PATH of its own, fonts, a home.
type machine struct {
	ffmpeg   string            // script of ffmpeg; empty: the real one
	programs map[string]string // name to shell script; "" takes it away
	env      map[string]string
	change   func(*Deps)
}

const goodFonts = `case "$1" in *) echo /usr/share/fonts/x.ttf: ;; esac`

// build writes the machine's programs. ffmpeg is the real one, under a name in
// the machine's PATH.
func (m machine) build(t *testing.T) Deps {
	t.Helper()
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal("install ffmpeg, for instance with: apt-get install ffmpeg")
	}
	programs := map[string]string{
		"ffmpeg": `exec ` + ffmpeg + ` "$@"`, "Xvfb": "exit 0", "openbox": "exit 0", "chromium": "exit 0",
		"agent-browser": "echo agent-browser " + install.AgentBrowserVersion, "fc-list": goodFonts,
	}
	if m.ffmpeg != "" {
		programs["ffmpeg"] = m.ffmpeg
	}
	maps.Copy(programs, m.programs)
	bin := t.TempDir()
	for name, body := range programs {
		if body == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("PROOFREEL_FFMPEG", m.env["PROOFREEL_FFMPEG"])
	d := Deps{
		Home:         filepath.Join(t.TempDir(), "not", "yet"),
		TryRecording: func(context.Context) error { return nil },
		OpenDisplay:  func(context.Context, string, string) (string, error) { return "1280x720", nil },
		Leftovers:    func(context.Context) ([]string, error) { return nil, nil },
		Getenv:       func(name string) string { return m.env[name] },
		Host:         &install.Host{Manager: install.Apt, Root: true},
		Shm:          t.TempDir(),
		FontDirs:     []string{t.TempDir()},
		MinFree:      1,
	}
	if m.change != nil {
		m.change(&d)
	}
	return d
}

// recorded is a script that gives the real ffmpeg's answers without running it
// again and again: with all its libraries that takes a while.
func recorded(t *testing.T) string {
	t.Helper()
	dir, script := t.TempDir(), `case "$*" in`
	for i, args := range []string{
		"-version", "-hide_banner -encoders", "-hide_banner -decoders", "-hide_banner -muxers", "-hide_banner -demuxers", "-hide_banner -filters",
		"-hide_banner -devices", "-hide_banner -h long",
	} {
		out, err := exec.CommandContext(t.Context(), "ffmpeg", strings.Fields(args)...).Output()
		if err != nil {
			t.Fatalf("ffmpeg %s: %v", args, err)
		}
		p := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(p, out, 0o600); err != nil {
			t.Fatal(err)
		}
		script += ` "` + args + `") exec /bin/cat ` + p + ` ;;`
	}
	return script + ` *) exit 1 ;; esac`
}

func find(t *testing.T, r Report, name string) Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check %q in %+v", name, r.Checks)
	}
	return r.Checks[i]
}

// A machine with everything: every check is there, in its order.
func TestAllIsWell(t *testing.T) {
	r, err := Run(t.Context(), machine{}.build(t))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range r.Checks {
		names = append(names, c.Name)
		if c.Detail == "" || c.OK && c.Fix != "" {
			t.Errorf("%+v", c)
		}
		// The disk of the test's machine may be full.
		if !c.OK && c.Name != "free space" {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"ffmpeg", "grabbers", "Xvfb", "openbox", "chromium", "agent-browser", "fonts", "emoji font", "CJK font", "recordings", "free space",
		"shared memory", "display", "leftovers", "recording",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if !r.OK {
		t.Errorf("report %+v", r)
	}
}

// Each thing that may lack: which check says so, how bad it is, what to do.
func TestWhatLacks(t *testing.T) {
	ffmpeg := recorded(t)
	refused := fault.New(fault.DisplayFailed, "set XAUTHORITY", "access was refused")
	for _, c := range []struct {
		name    string
		machine machine
		check   string
		level   Level
		detail  string
		fix     string
	}{
		{"no ffmpeg", machine{programs: map[string]string{"ffmpeg": ""}}, "ffmpeg", Error, "not found in PATH", "apt-get install -y --no-install-recommends ffmpeg"},
		{"named ffmpeg is not there", machine{env: map[string]string{"PROOFREEL_FFMPEG": "/no/ffmpeg"}}, "ffmpeg", Error, "PROOFREEL_FFMPEG=/no/ffmpeg", "ffmpeg"},
		{"ffmpeg does not start", machine{programs: map[string]string{"ffmpeg": "echo no libx264.so.164 >&2; exit 127"}}, "ffmpeg", Error, "libx264.so.164", "ffmpeg"},
		{"ffmpeg without anything", machine{programs: map[string]string{"ffmpeg": "echo ffmpeg version 4.4"}}, "ffmpeg", Error, "encoder libx264", "5.1 or newer"},
		{"no Xvfb", machine{programs: map[string]string{"Xvfb": ""}}, "Xvfb", Error, "not in PATH", "apt-get install -y --no-install-recommends xvfb"},
		{"no openbox", machine{programs: map[string]string{"openbox": ""}}, "openbox", Error, "not in PATH", "openbox"},
		{"no Chromium", machine{programs: map[string]string{"chromium": ""}}, "chromium", Error, "google-chrome", "--browser none"},
		{"named Chromium is not there", machine{env: map[string]string{"AGENT_BROWSER_EXECUTABLE_PATH": "/no/chrome"}}, "chromium", Error, "/no/chrome", "chromium"},
		{"no agent-browser", machine{programs: map[string]string{"agent-browser": ""}}, "agent-browser", Warning, "plain Chromium", "npm install -g agent-browser@" + install.AgentBrowserVersion},
		{"agent-browser does not answer", machine{programs: map[string]string{"agent-browser": "exit 1"}}, "agent-browser", Warning, "does not answer", "npm"},
		{"no fonts", machine{programs: map[string]string{"fc-list": "exit 0"}}, "fonts", Error, "boxes", "fonts-liberation"},
		{"no emoji", machine{programs: map[string]string{"fc-list": `[ "$1" = :lang=und-zsye ] || echo x`}}, "emoji font", Warning, "boxes", "fonts-noto-color-emoji"},
		{"no CJK", machine{programs: map[string]string{"fc-list": `case "$1" in *zh*|*ja*|*ko*) ;; *) echo x ;; esac`}}, "CJK font", Info, "boxes", "fonts-wqy-zenhei"},
		{"no fontconfig and no font files", machine{programs: map[string]string{"fc-list": ""}}, "fonts", Error, "looked through", "fonts-liberation"},
		{"home is a file", machine{change: func(d *Deps) { d.Home = "/etc/hostname/x" }}, "recordings", Error, "can't be written", "PROOFREEL_HOME"},
		{"home is not known", machine{change: func(d *Deps) { d.Home = "" }}, "recordings", Error, "can't be told", "PROOFREEL_HOME"},
		{"too little room", machine{change: func(d *Deps) { d.MinFree = 1 << 60 }}, "free space", Error, "free in", "prune"},
		{"no shared memory", machine{change: func(d *Deps) { d.Shm = "/no/shm" }}, "shared memory", Warning, "can't be looked at", "tmpfs"},
		{"a display that refuses", machine{env: map[string]string{"DISPLAY": ":7"}, change: func(d *Deps) {
			d.OpenDisplay = func(context.Context, string, string) (string, error) { return "", refused }
		}}, "display", Warning, "DISPLAY=:7 can't be filmed", "set XAUTHORITY"},
		{"leftovers", machine{change: func(d *Deps) {
			d.Leftovers = func(context.Context) ([]string, error) { return []string{"0193 (recording)"}, nil }
		}}, "leftovers", Warning, "0193 (recording)", "proofreel recover"},
		{"leftovers can't be read", machine{change: func(d *Deps) {
			d.Leftovers = func(context.Context) ([]string, error) { return nil, errors.New("permission denied") }
		}}, "leftovers", Warning, "permission denied", "proofreel list"},
		{"recording fails", machine{change: func(d *Deps) {
			d.TryRecording = func(context.Context) error {
				return fault.New(fault.CaptureFailed, "look at the log", "no frame came")
			}
		}}, "recording", Error, "no frame came", "look at the log"},
		{"no recorder", machine{change: func(d *Deps) { d.TryRecording = nil }}, "recording", Error, "not tried", "proofreel doctor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.machine.ffmpeg = ffmpeg
			r, err := Run(t.Context(), c.machine.build(t))
			if err != nil {
				t.Fatal(err)
			}
			got := find(t, r, c.check)
			if got.OK || got.Level != c.level || !strings.Contains(got.Detail, c.detail) || !strings.Contains(got.Fix, c.fix) {
				t.Errorf("got %+v", got)
			}
			if r.OK != (c.level != Error) {
				t.Errorf("report is OK: %v", r.OK)
			}
		})
	}
}

// What can't work is not tried: the first error is the one to read.
func TestRecordingIsNotTriedInVain(t *testing.T) {
	tried := false
	m := machine{programs: map[string]string{"Xvfb": "", "openbox": ""}, change: func(d *Deps) {
		d.TryRecording = func(context.Context) error { tried = true; return nil }
	}}
	r, err := Run(t.Context(), m.build(t))
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, r, "recording"); tried || c.OK || !strings.Contains(c.Detail, "Xvfb, openbox") {
		t.Errorf("tried: %v, %+v", tried, c)
	}
}

// The doctor makes nothing: a home that is not there yet is still not there.
func TestHomeIsNotMade(t *testing.T) {
	d := machine{}.build(t)
	if _, err := Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(d.Home)); !os.IsNotExist(err) {
		t.Errorf("the home was made: %v", err)
	}
}

// A newer agent-browser is no fault, but it is said which one was tested.
func TestOtherAgentBrowser(t *testing.T) {
	r, err := Run(t.Context(), machine{programs: map[string]string{"agent-browser": "echo agent-browser 0.99.0"}}.build(t))
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, r, "agent-browser"); !c.OK || !strings.Contains(c.Detail, "0.99.0 (tested with "+install.AgentBrowserVersion+")") {
		t.Errorf("%+v", c)
	}
}

func TestFontFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  fonts
	}{
		{"nothing", nil, fonts{}},
		{"no fonts", []string{"README", "fonts.dir"}, fonts{}},
		{"Latin", []string{"truetype/liberation/LiberationSans-Regular.ttf"}, fonts{any: true}},
		{"emoji alone writes no text", []string{"NotoColorEmoji.ttf"}, fonts{emoji: true}},
		{"all", []string{"a/DejaVuSans.TTF", "b/NotoColorEmoji.ttf", "c/wqy-zenhei.ttc"}, fonts{any: true, emoji: true, cjk: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range c.files {
				p := filepath.Join(dir, f)
				if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, nil, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			got := fontFiles([]string{"/no/fonts", dir})
			got.how = ""
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(fonts{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// A program that hangs ends with the caller's context, and then there is no
// half report.
func TestHungProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	began := filepath.Join(t.TempDir(), "began")
	d := machine{programs: map[string]string{"agent-browser": "/bin/touch " + began + "; exec /bin/sleep 600"}}.build(t)
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(began); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	r, err := Run(ctx, d)
	cancel()
	if !errors.Is(err, context.Canceled) || len(r.Checks) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	// No recording of the user's runs: the hint must not say that it goes on.
	if e := fault.As(err); e.Code != fault.Interrupted || !strings.Contains(e.Hint, "proofreel doctor") {
		t.Errorf("got %+v", e)
	}
}

// The machine that runs the tests passes: what scripts/install-deps.sh
// installs is what the doctor asks for.
func TestThisMachine(t *testing.T) {
	r, err := Run(t.Context(), Deps{Home: t.TempDir(), TryRecording: func(context.Context) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		t.Logf("%-14s ok=%-5v %s", c.Name, c.OK, c.Detail)
		if !c.OK && c.Level == Error {
			t.Errorf("%s: %s. %s", c.Name, c.Detail, c.Fix)
		}
	}
}
