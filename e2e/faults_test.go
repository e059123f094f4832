package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// The fault matrix: every process of a recording is killed, or stopped, in
// every phase. Each time the recording must come to a verified film that holds
// all but the last second, or to one clear error; nothing may be left.
func TestFaultMatrix(t *testing.T) {
	victims := []string{"browser", "openbox", "xvfb", "encoder", "supervisor", "cli"}
	phases := []string{"starting", "recording", "closing_browser", "stopping_capture", "finalizing", "publishing", "cleaning_up"}
	faults := map[string]unix.Signal{"kill": unix.SIGKILL, "stop": unix.SIGSTOP}
	var cases atomic.Int64
	t.Run("matrix", func(t *testing.T) {
		slots := make(chan struct{}, 3)
		for _, phase := range phases {
			for _, victim := range victims {
				for name, sig := range faults {
					t.Run(phase+"/"+victim+"/"+name, func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						cases.Add(1)
						(&faultCase{t: t, phase: phase, victim: victim, sig: sig}).run()
					})
				}
			}
		}
	})
	t.Logf("%d cases", cases.Load())
	if n := cases.Load(); n != int64(len(victims)*len(phases)*len(faults)) && !filtered() {
		t.Errorf("%d cases ran", n)
	}
}

// filtered says whether go test was asked for some subtests only.
func filtered() bool {
	for _, a := range os.Args {
		if strings.HasPrefix(a, "-test.run=") && strings.Contains(a, "/") {
			return true
		}
	}
	return false
}

type faultCase struct {
	t      *testing.T
	b      *box
	phase  string
	victim string
	sig    unix.Signal
	hold   string // exists for as long as the supervisor is held in the phase
	out    string // where films are published
}

func (c *faultCase) run() {
	dir := c.t.TempDir()
	c.hold, c.out = filepath.Join(dir, "hold"), filepath.Join(dir, "out")
	if err := errors.Join(os.WriteFile(c.hold, nil, 0o600), os.Mkdir(c.out, 0o700)); err != nil {
		c.t.Fatal(err)
	}
	point := c.phase
	if c.phase == "starting" && c.victim == "encoder" {
		point = "starting_first_frame" // before that point there is none
	}
	c.b = newBox(c.t, "PROOFREEL_FAULTPOINT="+point, "PROOFREEL_FAULTFILE="+c.hold)
	start := c.background("start", "--min-free", "50MB", "--size", "640x360", "--fps", "10", "--rate", "cfr",
		"--browser", "chromium", "--publish", "dir:"+c.out, "--startup-timeout", "40s")
	if c.phase == "starting" {
		c.whileStarting(start)
		return
	}
	if c.phase == "recording" { // held before it waits for its end: released at once, filming goes on anyway
		c.reached()
	} else {
		start.wait()
	}
	id := c.id()
	c.filmed(id)
	if c.phase == "recording" {
		start.wait()
		watch := c.background("watch", id)
		c.strike(id, watch)
		c.release()
		defer watch.kill()
		time.Sleep(300 * time.Millisecond)
		c.film(id, c.b.call("stop", "--timeout", "40s"))
		return
	}
	stop := c.background("stop", "--timeout", "40s")
	c.reached()
	c.strike(id, stop)
	c.release()
	if c.victim != "cli" {
		stop.wait()
	}
	c.film(id, c.b.call("stop", "--timeout", "40s"))
	stop.kill()
}

// whileStarting strikes before the first frame. The start may succeed or fail;
// a failed one leaves nothing, a successful one gives a film.
func (c *faultCase) whileStarting(start *process) {
	c.reached()
	id := c.id()
	c.strike(id, start)
	c.release()
	if c.victim == "cli" {
		if c.sig == unix.SIGSTOP {
			defer start.kill()
		}
		eventually(c.t, "the supervisor to go on without its caller", func() error {
			if m := c.b.manifest(id); m.Phase != "recording" {
				return fmt.Errorf("phase %s", m.Phase)
			}
			return nil
		})
		c.film(id, c.b.call("stop", "--timeout", "40s"))
		return
	}
	a := start.wait()
	if a.exit == 0 {
		c.film(id, c.b.call("stop", "--timeout", "40s"))
		return
	}
	if a.exit != 4 || a.env.Error.Hint == "" {
		c.t.Errorf("start: exit %d: %s", a.exit, a.stderr)
	}
	c.t.Logf("start: %s: %s", a.env.Error.Code, a.env.Error.Message)
	c.b.clean(id, "")
	if ids := c.b.ids(); len(ids) > 0 {
		c.t.Errorf("a failed start left the directory of %v", ids)
	}
}

// film holds a terminal answer to the promise.
func (c *faultCase) film(id string, a answer) {
	c.t.Helper()
	m := c.b.manifest(id)
	c.b.clean(id, m.Display.Name)
	if a.exit != 0 {
		c.t.Errorf("stop: exit %d: %s", a.exit, a.stderr)
		return
	}
	var d stopData
	a.get(c.t, &d)
	p := film(c.t, d.Path)
	if p.Rate != "10/1" || p.Average != "10/1" || p.Width != 640 || p.Height != 360 {
		c.t.Errorf("film: %+v", p)
	}
	if p.Frames != fmt.Sprint(d.Frames) {
		c.t.Errorf("%s frames decode, the answer says %d", p.Frames, d.Frames)
	}
	again := c.b.must("stop")
	if !bytes.Equal(a.env.Data, again.env.Data) {
		c.t.Errorf("a second stop answers\n%s\nnot\n%s", again.env.Data, a.env.Data)
	}
	published, err := filepath.Glob(filepath.Join(c.out, "*.mp4"))
	if err != nil || len(published) != 1 {
		c.t.Errorf("published: %v %v", published, err)
	}
	if _, err := os.Stat(c.b.path(id, "segments")); err == nil {
		c.t.Error("the segments are left beside the film")
	}
	c.t.Logf("%s, %.1f s, %v", d.Verdict, d.DurationSeconds, d.VerdictWhy)
}

// reached waits until the supervisor is held in the phase.
func (c *faultCase) reached() {
	c.t.Helper()
	eventually(c.t, "phase "+c.phase, func() error {
		_, err := os.Stat(c.hold + ".reached")
		return err
	})
}

// release lets the supervisor go on, and every process after it.
func (c *faultCase) release() {
	if err := os.Remove(c.hold); err != nil {
		c.t.Fatal(err)
	}
}

func (c *faultCase) id() string {
	c.t.Helper()
	var id string
	eventually(c.t, "the recording's directory", func() error {
		ids := c.b.ids()
		if len(ids) != 1 {
			return fmt.Errorf("recordings: %v", ids)
		}
		id = ids[0]
		return nil
	})
	return id
}

// filmed waits until some frames are on disk.
func (c *faultCase) filmed(id string) {
	c.t.Helper()
	eventually(c.t, "frames to be captured", func() error {
		files, _ := filepath.Glob(c.b.path(id, "segments", "*.mp4"))
		if len(files) < 2 {
			return fmt.Errorf("%d segments", len(files))
		}
		return nil
	})
}

// strike sends the signal to the victim.
func (c *faultCase) strike(id string, cli *process) {
	c.t.Helper()
	m := c.b.manifest(id)
	switch c.victim {
	case "supervisor":
		c.signal(m.Supervisor)
	case "cli":
		c.signal(cli.id)
	default:
		found := false
		for _, o := range m.Owned {
			if o.Role == c.victim {
				found = true
				if err := o.Signal(c.sig); err != nil && !errors.Is(err, proc.ErrGone) {
					c.t.Errorf("strike %s: %v", c.victim, err)
				}
			}
		}
		if !found {
			c.t.Errorf("no %s among %+v", c.victim, m.Owned)
		}
	}
}

func (c *faultCase) signal(id proc.Identity) {
	c.t.Helper()
	if err := id.Signal(c.sig); err != nil {
		c.t.Errorf("strike %s: %v", c.victim, err)
	}
}

// process is a command that runs beside the test.
type process struct {
	c        *faultCase
	args     []string
	cmd      *exec.Cmd
	id       proc.Identity
	out, err bytes.Buffer
	ended    chan error
}

func (c *faultCase) background(args ...string) *process {
	c.t.Helper()
	p := &process{c: c, args: args, cmd: c.b.command(args...), ended: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	id, err := proc.Of(p.cmd.Process.Pid)
	if err != nil {
		c.t.Fatal(err)
	}
	p.id = id
	go func() { p.ended <- p.cmd.Wait() }()
	return p
}

// wait waits for the command's end and gives its answer.
func (p *process) wait() answer {
	p.c.t.Helper()
	select {
	case err := <-p.ended:
		if p.c.victim == "cli" && p.c.sig == unix.SIGKILL && err != nil && err.Error() == "signal: killed" {
			return answer{exit: -1}
		}
		return p.c.b.answer(err, p.out.String(), p.err.String(), p.args)
	case <-time.After(3 * time.Minute):
		p.c.t.Fatalf("%v does not end", p.args)
		return answer{}
	}
}

func (p *process) kill() { _ = p.id.Signal(unix.SIGKILL) }
