package main

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
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/film"
)

// recorder is one that films.
type recorder interface {
	processes() []proc.Identity
	// stop ends it and returns when its film is finished.
	stop(context.Context) (ended, error)
}

// ended is what is known behind a recording.
type ended struct {
	film   string        // its path; empty: there is none
	cpu    time.Duration // of the recorder's whole life
	lasted time.Duration
}

// start starts the recorder of a case; its first frame is taken when it returns,
// or about to be.
func (b *stage) start(ctx context.Context, c benchCase, dir string, o options) (recorder, error) {
	switch c.Recorder {
	case nobody:
		return noRecorder{}, nil
	case ours:
		return b.startProduct(ctx, c.FPS, film.VFR, dir)
	case oursCFR:
		return b.startProduct(ctx, c.FPS, film.CFR, dir)
	case oursVeryfast:
		return b.startChild(ctx, c.FPS, dir, o)
	default:
		return b.startGrab(ctx, c, dir, o)
	}
}

type noRecorder struct{}

func (noRecorder) processes() []proc.Identity          { return nil }
func (noRecorder) stop(context.Context) (ended, error) { return ended{}, nil }

// product is the shipped program, as a user runs it.
type product struct {
	exe  string
	env  []string
	id   string
	self proc.Identity // of its supervisor
}

// startProduct films the display that is there, without the pointer, as it films
// an own one.
func (b *stage) startProduct(ctx context.Context, fps int, rate, dir string) (recorder, error) {
	p := &product{exe: b.product, env: append(os.Environ(), "XAUTHORITY="+b.screen.Xauthority, "PROOFREEL_HOME="+dir)}
	var answer struct {
		Data struct {
			ID      string `json:"recordingId"`
			Capture struct{ Engine string }
		}
	}
	err := p.run(ctx, &answer, "start", "--display", b.screen.Name, "--fps", strconv.Itoa(fps), "--rate", rate, "--cursor", "off", "--engine", "x11")
	if err != nil {
		return nil, err
	}
	p.id = answer.Data.ID
	for _, id := range proc.Marked(p.id) {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		if bytes.Contains(raw, []byte("\x00supervise\x00")) {
			p.self = id
			return p, nil
		}
	}
	return nil, errors.New("the recording has no supervisor")
}

// run runs one command of the product and reads its answer.
func (p *product) run(ctx context.Context, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, p.exe, append(args, "--output", "json")...)
	var errs bytes.Buffer
	cmd.Env, cmd.Stderr = p.env, &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("proofreel %s: %w: %s", args[0], err, errs.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("answer of proofreel %s: %w", args[0], err)
	}
	return nil
}

func (p *product) processes() []proc.Identity { return proc.Marked(p.id) }

func (p *product) stop(ctx context.Context) (ended, error) {
	var answer struct {
		Data struct {
			Path     string  `json:"path"`
			Duration float64 `json:"durationSeconds"`
		}
	}
	if err := p.run(ctx, &answer, "stop", p.id, "--no-clip"); err != nil {
		return ended{}, err
	}
	// Its supervisor became our child when the start command had ended.
	var ru unix.Rusage
	if _, err := unix.Wait4(p.self.PID, nil, 0, &ru); err != nil {
		return ended{}, fmt.Errorf("wait for the supervisor: %w", err)
	}
	return ended{
		film: answer.Data.Path, cpu: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		lasted: time.Duration(answer.Data.Duration * float64(time.Second)),
	}, nil
}

// program is a recorder that is one process, which a signal ends.
type program struct {
	cmd    *exec.Cmd
	signal os.Signal
	film   string
	began  time.Time
	tail   *bytes.Buffer
	fine   int // the exit status of one that was told to end
}

// startGrab starts ffmpeg's grabber.
func (b *stage) startGrab(ctx context.Context, c benchCase, dir string, o options) (recorder, error) {
	path := filepath.Join(dir, "film.mp4")
	args := []string{
		"-hide_banner", "-nostdin", "-v", "error", "-f", "x11grab", "-framerate", strconv.Itoa(c.FPS),
		"-video_size", size(o), "-draw_mouse", "0", "-i", b.screen.Name,
	}
	args = append(append(args, grabArgs(c.Recorder)...), path)
	p := &program{cmd: exec.CommandContext(ctx, b.ffmpeg, args...), signal: syscall.SIGINT, film: path, fine: 255}
	if err := p.start(b); err != nil {
		return nil, err
	}
	return p, nil
}

// startChild starts our engine in a process of its own with x11grab's encoder settings.
func (b *stage) startChild(ctx context.Context, fps int, dir string, o options) (recorder, error) {
	cmd := exec.CommandContext(ctx, b.exe, childCommand, "-display", b.screen.Name, "-size", size(o), "-fps", strconv.Itoa(fps), "-dir", dir)
	p := &program{cmd: cmd, signal: syscall.SIGTERM, film: childFilm(dir)}
	if err := p.start(b); err != nil {
		return nil, err
	}
	return p, nil
}

func size(o options) string { return fmt.Sprintf("%dx%d", o.width, o.height) }

func (p *program) start(b *stage) error {
	p.tail, p.began = &bytes.Buffer{}, time.Now()
	p.cmd.Env = append(os.Environ(), "XAUTHORITY="+b.screen.Xauthority)
	p.cmd.Stderr = p.tail
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(p.cmd.Path), err)
	}
	return nil
}

func (p *program) processes() []proc.Identity {
	id, err := proc.Of(p.cmd.Process.Pid)
	if err != nil {
		return nil
	}
	return append(proc.Descendants(id), id)
}

func (p *program) stop(context.Context) (ended, error) {
	lasted := time.Since(p.began)
	if err := p.cmd.Process.Signal(p.signal); err != nil {
		return ended{}, fmt.Errorf("end it: %w", err)
	}
	err := p.cmd.Wait()
	if p.cmd.ProcessState.ExitCode() != p.fine {
		return ended{}, fmt.Errorf("it ended with %w: %s", err, strings.TrimSpace(p.tail.String()))
	}
	return ended{film: p.film, cpu: p.cmd.ProcessState.SystemTime() + p.cmd.ProcessState.UserTime(), lasted: lasted}, nil
}
