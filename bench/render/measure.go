package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// measuredCommand makes this program run another one and count what it takes:
// a process of its own, so that it can adopt and reap all that the other one
// leaves behind, and nothing else is counted.
const measuredCommand = "measured"

// sampleEvery is how often memory is looked at. Reading the proportional set
// sizes of ten processes takes about 5 ms.
const sampleEvery = 200 * time.Millisecond

// patience is how long processes that outlive their command are waited for.
const patience = 10 * time.Second

// cost is what a whole process tree takes.
type cost struct {
	WallSeconds float64 `json:"wallSeconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
	PeakMB      float64 `json:"peakMB"`  // of the tree's proportional set sizes together
	Left        int     `json:"left"`    // processes that had to be killed
	Counted     string  `json:"counted"` // how the CPU time was
	Failed      string  `json:"failed,omitempty"`
}

// measure runs argv in a measured process. Its words go to the log, of which
// the end is in the error.
func measure(ctx context.Context, self, dir string, argv, env []string) (cost, error) {
	log, report := dir+"/run.log", dir+"/cost.json"
	cmd := exec.CommandContext(ctx, self, append([]string{measuredCommand, report, log, "--"}, argv...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * patience
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("measure %s: %w", argv[0], err)
	}
	raw, err := os.ReadFile(report)
	if err != nil {
		return cost{}, fmt.Errorf("read what it took: %w", err)
	}
	var c cost
	if err := json.Unmarshal(raw, &c); err != nil {
		return cost{}, fmt.Errorf("read what it took: %w", err)
	}
	if c.Failed != "" {
		return c, fmt.Errorf("%s: %s\n%s", strings.Join(argv, " "), c.Failed, tail(log))
	}
	return c, nil
}

func tail(path string) string {
	raw, _ := os.ReadFile(path)
	return string(raw[max(0, len(raw)-2000):])
}

// measured runs REPORT LOG -- ARGV.
func measured(ctx context.Context, args []string) error {
	if len(args) < 4 || args[2] != "--" {
		return errors.New("measured wants REPORT LOG -- COMMAND")
	}
	if err := proc.AdoptOrphans(); err != nil {
		return fmt.Errorf("become the reaper: %w", err)
	}
	log, err := os.Create(args[1]) //nolint:gosec // the bench names it
	if err != nil {
		return fmt.Errorf("make the log: %w", err)
	}
	defer func() { _ = log.Close() }()
	c, err := count(ctx, args[3:], log)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write what it took: %w", err)
	}
	if err := os.WriteFile(args[0], raw, 0o600); err != nil { //nolint:gosec // the bench names it
		return fmt.Errorf("write what it took: %w", err)
	}
	return nil
}

func count(ctx context.Context, argv []string, log *os.File) (cost, error) {
	self, err := proc.Self()
	if err != nil {
		return cost{}, fmt.Errorf("find this process: %w", err)
	}
	group, err := openAccount()
	if err == nil {
		defer group.close()
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx,gosec // it is ended below, with all that it started; running it is the point
	cmd.Stdout, cmd.Stderr = log, log
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, fmt.Errorf("start %s: %w", argv[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var c cost
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-ctx.Done():
			proc.KillAll(proc.Descendants(self), patience)
			return cost{}, fmt.Errorf("run %s: %w", argv[0], ctx.Err())
		case <-ticker.C:
			c.PeakMB = max(c.PeakMB, float64(proc.ResidentBytes(proc.Descendants(self)))/(1<<20))
		case err := <-done:
			running = false
			if err != nil {
				c.Failed = err.Error()
			}
		}
	}
	c.WallSeconds = time.Since(began).Seconds()
	c.Left = reapAll(self)
	var took time.Duration
	if group != nil {
		c.Counted = "control group"
		took, err = group.used()
	} else {
		c.Counted = "processes that were waited for"
		took, err = rusage(unix.RUSAGE_CHILDREN)
	}
	c.CPUSeconds = took.Seconds()
	return c, err
}

// reapAll waits for all descendants: a child's times count once it is reaped.
// Those that go on are killed and counted.
func reapAll(self proc.Identity) (killed int) {
	deadline := time.Now().Add(patience)
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return killed
		case pid > 0:
			continue
		}
		if left := proc.Descendants(self); time.Now().After(deadline) && len(left) > 0 {
			killed += len(left)
			proc.KillAll(left, 0)
			deadline = time.Now().Add(patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
