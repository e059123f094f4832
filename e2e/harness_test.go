// Package e2e tests the whole with real parts: real displays, browsers,
// encoders and processes. It calls the product by its command line only.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// bin is the product built with the build tag faultpoint, so that tests can
// hold a supervisor in a phase.
var bin string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, tool := range []string{"ffmpeg", "ffprobe", "Xvfb", "openbox", "chromium", "agent-browser"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Fprintf(os.Stderr, "%s is not installed: run make install-deps\n", tool)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "proofreel-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = filepath.Join(dir, "proofreel")
	build := exec.Command("go", "build", "-tags", "faultpoint", "-o", bin, "../cmd/proofreel")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the product:", err)
		return 1
	}
	return m.Run()
}

// box is one user's place for recordings.
type box struct {
	t    *testing.T
	home string
	env  []string
}

func newBox(t *testing.T, env ...string) *box {
	t.Helper()
	home, err := os.MkdirTemp("", "pr")
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, home: home, env: append(os.Environ(), append(env, "PROOFREEL_HOME="+home, "PROOFREEL_OUTPUT=json")...)}
	t.Cleanup(func() {
		b.keepLog()
		for _, id := range b.ids() { // whatever a failed test left
			proc.KillAll(proc.Marked(id), 5*time.Second)
		}
		_ = os.RemoveAll(home)
	})
	return b
}

func (b *box) keepLog() {
	if !b.t.Failed() {
		return
	}
	for _, id := range b.ids() {
		for _, name := range []string{"supervisor.log", "manifest.json"} {
			if raw, err := os.ReadFile(b.path(id, name)); err == nil {
				b.t.Logf("%s of %s:\n%s", name, id, raw)
			}
		}
	}
}

// answer is what a command gave.
type answer struct {
	exit   int
	stdout string
	stderr string
	env    envelope
}

type envelope struct {
	SchemaVersion int             `json:"schemaVersion"`
	OK            bool            `json:"ok"`
	Data          json.RawMessage `json:"data"`
	Error         *struct {
		Code, Message, Hint string
		Retryable           bool
		Artifact            string
	} `json:"error"`
	Meta struct{ Version, Command, Effect string } `json:"meta"`
}

// command makes a command of the product.
func (b *box) command(args ...string) *exec.Cmd {
	cmd := exec.Command(bin, args...)
	cmd.Env = b.env
	return cmd
}

// call runs a command and holds it to the contract: one JSON object on stdout
// and exit 0, or none there and one error object last on stderr.
func (b *box) call(args ...string) answer {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return b.answer(err, out.String(), errs.String(), args)
}

func (b *box) answer(err error, stdout, stderr string, args []string) answer {
	b.t.Helper()
	a := answer{stdout: stdout, stderr: stderr}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		a.exit = exit.ExitCode()
	} else if err != nil {
		b.t.Fatalf("%v: %v", args, err)
	}
	raw := stdout
	if a.exit != 0 {
		if stdout != "" {
			b.t.Errorf("%v failed with something on stdout: %s", args, stdout)
		}
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		raw = lines[len(lines)-1]
	}
	if err := json.Unmarshal([]byte(raw), &a.env); err != nil {
		b.t.Fatalf("%v: exit %d, no envelope: %v\nstdout: %s\nstderr: %s", args, a.exit, err, stdout, stderr)
	}
	if a.env.OK != (a.exit == 0) {
		b.t.Errorf("%v: ok %v with exit %d", args, a.env.OK, a.exit)
	}
	return a
}

// must is call for what has to succeed.
func (b *box) must(args ...string) answer {
	b.t.Helper()
	a := b.call(args...)
	if a.exit != 0 {
		b.t.Fatalf("%v: exit %d: %s", args, a.exit, a.stderr)
	}
	return a
}

func (a answer) get(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.env.Data, v); err != nil {
		t.Fatal(err)
	}
}

type startData struct {
	RecordingID         string
	Display, Xauthority string
	Size, VideoSize     string
	FPS                 int
	Rate                string
	Capture             struct{ Engine, Why string }
	AgentBrowserCommand []string
	Notes               []string
}

type stopData struct {
	RecordingID, Path, Verdict, EndedBy, Size, Rate, SHA256 string
	VerdictWhy                                              []string
	DurationSeconds                                         float64
	FPS                                                     int
	StartedAt                                               time.Time
	Frames, FramesCaptured, FramesDropped, Bytes            int64
	Steps                                                   []struct {
		Step                  int
		Text, Result, Comment string
		Second                float64
	}
}

// start starts a small recording with more flags.
func (b *box) start(flags ...string) startData {
	b.t.Helper()
	var d startData
	b.must(append([]string{"start", "--min-free", "50MB"}, flags...)...).get(b.t, &d)
	return d
}

func (b *box) ids() []string {
	entries, _ := os.ReadDir(filepath.Join(b.home, "recordings"))
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (b *box) path(id string, parts ...string) string {
	return filepath.Join(append([]string{b.home, "recordings", id}, parts...)...)
}

// manifest is the part of the state that tests look at.
type manifest struct {
	Phase      string
	Supervisor proc.Identity
	Owned      []struct {
		Role string
		proc.Identity
	}
	Display struct{ Name string }
}

func (b *box) manifest(id string) manifest {
	var m manifest
	raw, err := os.ReadFile(b.path(id, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		b.t.Logf("manifest of %s: %v", id, err)
	}
	return m
}

// clean fails the test when anything of a recording is left: a process, an X
// lock or socket, a cookie, a browser profile.
func (b *box) clean(id, display string) {
	b.t.Helper()
	eventually(b.t, "processes of the recording to be gone", func() error {
		if left := proc.Marked(id); len(left) > 0 {
			return fmt.Errorf("left: %s", names(left))
		}
		return nil
	})
	if _, err := os.Stat(b.path(id, "private")); err == nil {
		b.t.Errorf("the private directory (cookie, profile) is left")
	}
	n := strings.TrimPrefix(display, ":")
	if n == "" {
		return
	}
	raw, err := os.ReadFile("/tmp/.X" + n + "-lock")
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
		if _, err := proc.Of(pid); err != nil {
			b.t.Errorf("the lock of display %s is left, its process %d is dead", display, pid)
		}
	}
}

func names(ids []proc.Identity) string {
	s := ""
	for _, id := range ids {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		s += fmt.Sprintf("[%d %.80s]", id.PID, bytes.ReplaceAll(raw, []byte{0}, []byte{' '}))
	}
	return s
}

// eventually waits until ok gives nil. The limit is for a machine that is very
// busy; a test that passes never waits for it.
func eventually(t *testing.T, what string, ok func() error) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		err := ok()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// probe is what ffprobe says of a film.
type probe struct {
	Codec   string `json:"codec_name"`
	Profile string `json:"profile"`
	PixFmt  string `json:"pix_fmt"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Rate    string `json:"r_frame_rate"`
	Average string `json:"avg_frame_rate"`
	Range   string `json:"color_range"`
	Space   string `json:"color_space"`
	Trc     string `json:"color_transfer"`
	Prim    string `json:"color_primaries"`
	Frames  string `json:"nb_read_frames"`
	Seconds float64
}

// film decodes a film whole, with ffprobe and ffmpeg, apart from the product.
func film(t *testing.T, path string) probe {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0",
		"-show_streams", "-show_format", "-of", "json", path).CombinedOutput()
	var p struct {
		Streams []probe
		Format  struct{ Duration string }
	}
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil || len(p.Streams) != 1 {
		t.Fatalf("ffprobe %s: %v: %s", path, err, out)
	}
	if msg, err := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-err_detect", "explode", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(msg) > 0 {
		t.Errorf("%s does not decode: %v: %s", path, err, msg)
	}
	p.Streams[0].Seconds, _ = strconv.ParseFloat(p.Format.Duration, 64)
	return p.Streams[0]
}
