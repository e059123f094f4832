package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/recording"
	"github.com/proofreel/proofreel/internal/record/publish"
)

// Limits on how long a recording runs when nobody says otherwise.
const (
	ownDisplayLimit   = 30 * time.Minute
	otherDisplayLimit = 5 * time.Minute
)

// grace is what a supervisor gets to clean up after a failed start before it
// is killed.
const grace = 15 * time.Second

// redacted is an address as the state may hold it: without what can be a
// secret, which passwords, queries and fragments can.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User != nil {
		u.User = url.User("redacted")
	}
	if u.RawQuery != "" {
		u.RawQuery = "redacted"
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = "redacted", ""
	}
	return u.String()
}

// ready is what the supervisor says on its ready pipe, once.
type ready struct {
	OK    bool         `json:"ok"`
	Error *fault.Error `json:"error,omitempty"`
}

// Start starts a recording: it makes its directory, starts its supervisor
// detached from this process, and returns when the first frame is captured.
// When it fails, nothing that was started is left.
func (m *Manager) Start(ctx context.Context, o StartOptions) (StartResult, error) {
	man, err := m.plan(ctx, o)
	if err != nil {
		return StartResult{}, err
	}
	if _, err := m.load(); err != nil { // reaps what dead supervisors left
		return StartResult{}, err
	}
	dir, err := recording.Create(m.Home, man)
	if err != nil {
		return StartResult{}, createError(err, m.Home)
	}
	ctx, cancel := context.WithTimeout(ctx, man.Options.StartupTimeout+grace)
	defer cancel()
	if err := m.launch(ctx, dir, "supervise", man.ID, o.URL); err != nil {
		return StartResult{}, m.undo(dir, err)
	}
	man, err = dir.Load()
	if err != nil {
		return StartResult{}, stateError(err, dir.ID())
	}
	return startResult(man), nil
}

// plan makes the manifest of a new recording from the options.
func (m *Manager) plan(ctx context.Context, o StartOptions) (recording.Manifest, error) {
	own := o.Display == "new" || o.Display == ""
	opt := recording.Options{
		URL: redacted(o.URL), FPS: o.FPS, Adaptive: o.FPS == 0, Rate: o.Rate, Width: o.Width, Height: o.Height,
		Display: o.Display, Browser: o.Browser, Cursor: o.Cursor == "on" || (o.Cursor == "auto" && !own), Keys: o.Keys,
		MaxDuration: o.MaxDuration, MinFree: o.MinFree, Publish: o.Publish, Workspace: o.Workspace,
		Stills: o.Stills, Speed: o.Speed, Position: o.Position,
		StartupTimeout: o.StartupTimeout, CaptureEngine: o.Engine,
	}
	if own {
		opt.Display = "new"
	} else if opt.Browser != "none" && opt.Browser != "auto" && opt.Browser != "" {
		return recording.Manifest{}, fault.New(fault.InvalidValue, "Leave --browser out, or record an own display: --display new", "--browser %s needs an own display; nothing is started on one that is there", opt.Browser)
	}
	if opt.FPS == 0 {
		opt.FPS = map[bool]int{true: 60, false: 15}[own]
	}
	if opt.Rate == "" {
		opt.Rate = map[bool]string{true: "cfr", false: "vfr"}[opt.FPS == 30 || opt.FPS == 60]
	}
	if opt.MaxDuration == 0 {
		opt.MaxDuration = map[bool]time.Duration{true: ownDisplayLimit, false: otherDisplayLimit}[own]
	}
	target, err := publish.Parse(opt.Publish)
	if err != nil {
		return recording.Manifest{}, fault.As(err)
	}
	opt.Publish = target.String()
	if err := publish.Check(ctx, target); err != nil {
		return recording.Manifest{}, fault.As(err)
	}
	if o.UntilPID != 0 {
		if opt.UntilPID, err = proc.Of(o.UntilPID); err != nil {
			return recording.Manifest{}, fault.New(fault.InvalidValue, "Give the PID of a process that runs, for instance --until-pid $PPID", "--until-pid %d: there is no such process", o.UntilPID)
		}
	}
	self, err := proc.Self()
	if err != nil {
		return recording.Manifest{}, fault.As(err)
	}
	return recording.Manifest{
		FormatVersion: recording.FormatVersion, ID: uuid.NewString(), Name: o.Name, Starter: self,
		CreatedAt: time.Now().UTC(), Phase: recording.PhaseStarting, Options: opt,
	}, nil
}

func createError(err error, home string) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fault.Wrap(err, fault.DiskFull, "Free some space, or set PROOFREEL_HOME to a directory on another disk.", "there is no space in %s", home)
	}
	return fault.Wrap(err, fault.StateUnwritable, "Set PROOFREEL_HOME to a directory that you can write.", "the recording can't be kept in %s", home)
}

// launch starts our own binary as a detached process for dir and waits for
// its word on the ready pipe. The process is in a session of its own: no
// terminal's hang-up and no signal to the caller's group reaches it.
func (m *Manager) launch(ctx context.Context, dir *recording.Dir, command, marker, page string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fault.Wrap(err, fault.SupervisorFailed, "Raise the limit on open files.", "the supervisor could not be started")
	}
	defer func() { _ = r.Close() }()
	log, err := os.OpenFile(dir.LogPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		_ = w.Close()
		return createError(err, m.Home)
	}
	cmd := exec.Command(m.Exe, command, dir.Path()) //nolint:noctx // it outlives this call, and await ends it when ctx does
	cmd.Dir = "/"
	cmd.Env = append(without(m.Environ, proc.MarkerName), proc.MarkerName+"="+marker)
	cmd.Stdin = strings.NewReader(page)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_, _ = w.Close(), log.Close()
	if err != nil {
		return fault.Wrap(err, fault.SupervisorFailed, "Check that the proofreel binary can be executed.", "the supervisor could not be started")
	}
	exited := make(chan struct{})
	go func() { // reaps it if it ends while we live; else init does
		defer close(exited)
		_ = cmd.Wait()
	}()
	return m.await(ctx, r, cmd.Process.Pid, exited)
}

// await waits for the supervisor's word. When ctx ends first the supervisor is
// told to give up, and killed when it does not.
func (m *Manager) await(ctx context.Context, r *os.File, pid int, exited <-chan struct{}) error {
	word := make(chan ready, 1)
	go func() { // ends when the pipe's other end is closed: at the latest with the supervisor
		var msg ready
		line, err := bufio.NewReader(r).ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &msg) != nil {
			msg = ready{Error: fault.New(fault.SupervisorFailed, "Try again; its log is supervisor.log in the recording's directory.", "the supervisor ended without a word")}
		}
		word <- msg
	}()
	wake := time.NewTicker(time.Second)
	defer wake.Stop()
	for ctx.Err() == nil {
		select {
		case msg := <-word:
			return awaitEnd(msg.err(), exited)
		case <-exited: // its word, if it left one, is in the pipe
			select {
			case msg := <-word:
				return msg.err()
			case <-time.After(poll):
				return fault.New(fault.SupervisorFailed, "Try again; its log is supervisor.log in the recording's directory.", "the supervisor ended without a word")
			}
		case <-wake.C: // a supervisor that was stopped would never say a word
			if id, err := proc.Of(pid); err == nil {
				proc.Wake([]proc.Identity{id})
			}
		case <-ctx.Done():
		}
	}
	id, err := proc.Of(pid)
	if err == nil {
		_ = id.Signal(unix.SIGCONT)
		_ = id.Signal(unix.SIGTERM)
	}
	select {
	case msg := <-word:
		if err := awaitEnd(msg.err(), exited); err != nil {
			return err
		}
	case <-time.After(grace):
		_ = id.Signal(unix.SIGKILL)
		<-exited
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.New(fault.Interrupted, "Run start again.", "the start was interrupted")
	}
	return fault.New(fault.StartTimeout, "Give it more time with --startup-timeout, or see what is slow with: proofreel doctor", "the recording did not start in time")
}

// awaitEnd waits for the end of a supervisor that has said that it failed, so
// that what it held is free.
func awaitEnd(err error, exited <-chan struct{}) error {
	if err != nil {
		select {
		case <-exited:
		case <-time.After(grace):
		}
	}
	return err
}

func (r ready) err() error {
	switch {
	case r.OK:
		return nil
	case r.Error != nil:
		return r.Error
	default:
		return fault.New(fault.SupervisorFailed, "Try again.", "the supervisor gave no reason")
	}
}

// undo removes what a failed start left.
func (m *Manager) undo(dir *recording.Dir, cause error) error {
	e := fault.As(cause)
	if e.Code == fault.SupervisorFailed {
		if tail := logTail(dir); tail != "" {
			e = fault.New(e.Code, e.Hint, "%s: %s", e.Message, tail)
		}
	}
	if _, err := m.discard(dir); err != nil {
		return e.WithEffect(fault.EffectStartUncertain)
	}
	return e
}

func logTail(dir *recording.Dir) string {
	raw, err := os.ReadFile(dir.LogPath())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(len(lines)-3, 0):], " | ")
}

func without(env []string, name string) []string {
	out := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return out
}

// startResult is the answer of start, from the manifest of a running recording.
func startResult(man recording.Manifest) StartResult {
	o := man.Options
	res := StartResult{
		RecordingID: man.ID, Name: man.Name, Display: man.Display.Name, Xauthority: man.Display.Xauthority,
		OwnDisplay: man.Display.Own,
		Size:       sizeText(man.Display.Width, man.Display.Height), VideoSize: sizeText(man.Capture.Width, man.Capture.Height),
		FPS: o.FPS, FPSAuto: o.Adaptive, Rate: o.Rate,
		Capture: CaptureResult{Engine: man.Capture.Engine, Why: man.Capture.Why},
		Browser: "none", EndsAt: man.Clock.Wall.Add(o.MaxDuration), MaxDurationSeconds: seconds(o.MaxDuration),
		Publish: o.Publish, Notes: []string{},
	}
	if b := man.Browser; b != nil {
		res.Browser, res.AgentBrowserCommand = b.Kind, b.Command
		if b.Note != "" {
			res.Notes = append(res.Notes, b.Note)
		}
	}
	if res.Size != res.VideoSize {
		res.Notes = append(res.Notes, fmt.Sprintf("The video is %s: the screen's %s is odd and was padded by a repeated pixel, as H.264 needs even sizes.", res.VideoSize, res.Size))
	}
	return res
}

// defaultExe is the path of the running binary.
func defaultExe() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find our own binary: %w", err)
	}
	return filepath.EvalSymlinks(exe)
}

// New makes a Manager for this process: its environment, its binary.
func New() (*Manager, error) {
	home, err := recording.Home(os.Getenv)
	if err != nil {
		return nil, fault.Wrap(err, fault.StateUnwritable, "Set PROOFREEL_HOME.", "there is no place to keep recordings")
	}
	exe, err := defaultExe()
	if err != nil {
		return nil, fault.As(err)
	}
	return &Manager{Home: home, Exe: exe, Getenv: os.Getenv, Environ: os.Environ()}, nil
}

// pidText is a PID for a message.
func pidText(id proc.Identity) string { return strconv.Itoa(id.PID) }
