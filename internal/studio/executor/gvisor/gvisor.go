// Package gvisor runs boxes in gVisor: the job's system calls are answered by
// a kernel of its own (runsc's sentry), which makes few of the host's. It
// needs root and control groups. What is common to all backends lies in cell,
// the policy in sandbox.
package gvisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Name is the backend's.
const Name = "gvisor"

// Config says which runsc is used.
type Config struct {
	cell.Config
	Runsc  string // absolute path of a static build
	SHA256 string // what it must be, in hexadecimal: what setup wrote down. Empty: whatever it is
}

// Executor runs boxes in gVisor.
type Executor struct {
	host  *cell.Host
	runsc *program
}

var _ executor.Executor = (*Executor)(nil)

// Open checks runsc's digest and that we are root with control groups. Errors
// wrap executor.ErrUnavailable; a wrong digest wraps ErrChanged too.
func Open(c Config) (*Executor, error) {
	if os.Getuid() != 0 {
		return nil, fmt.Errorf("%w: gVisor needs root", executor.ErrUnavailable)
	}
	runsc, err := openProgram(c.Runsc, c.SHA256)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	host, err := cell.Open(c.Config)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is
	}
	if !host.HasCgroups() {
		return nil, errors.Join(fmt.Errorf("%w: gVisor needs control groups", executor.ErrUnavailable), host.Close())
	}
	return &Executor{host: host, runsc: runsc}, nil
}

// Name is the backend's.
func (*Executor) Name() string { return Name }

// Close kills the boxes that are left.
func (e *Executor) Close() error { return e.host.Close() } //nolint:wrapcheck // it says what it is

// Reap ends what boxes of dead servers left.
func (e *Executor) Reap(ctx context.Context) (int, error) { return e.host.Reap(ctx) } //nolint:wrapcheck // as above

// Start starts a box.
func (e *Executor) Start(ctx context.Context, s sandbox.Spec) (executor.Box, error) {
	return e.host.Start(ctx, e, cell.Guest, s) //nolint:wrapcheck // as above
}

// Probe runs the conformance probe.
func (e *Executor) Probe(ctx context.Context) (sandbox.Report, error) {
	return cell.Probe(ctx, e, e.host, true) //nolint:wrapcheck // as above
}

// Where things are on the stage.
const (
	bundleDir = "bundle"
	rootDir   = "bundle/root"
	stateDir  = "runsc"
)

// Plan makes the bundle and runsc's command line.
func (e *Executor) Plan(l *cell.Launch) error {
	if err := e.runsc.unchanged(); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	if l.Stage == nil {
		return fmt.Errorf("%w: gVisor needs root", executor.ErrUnavailable)
	}
	// The host's side counts several tasks for each of the guest's.
	l.Pids = 1000 + 4*l.Spec.Limits.Pids
	// The guest's kernel has no such limits, and needs the filter from inside.
	l.Init.Limits = limitsOf(l.Init.Limits)
	l.Init.Seccomp = true
	b := &bundle{launch: l, host: e.host}
	b.lay()
	raw, err := json.Marshal(b.config())
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	l.Stage.Files = append(l.Stage.Files, entry.StageFile{Path: bundleDir + "/config.json", Data: raw})
	l.Argv = append([]string{e.runsc.path}, flags()...)
	l.Argv = append(l.Argv, "run", "--bundle", filepath.Join(entry.StageDir, bundleDir), "box-"+l.ID)
	l.Env = []string{"PATH=/usr/bin:/bin"}
	return nil
}

// flags are runsc's own.
func flags() []string {
	return []string{
		"--root=" + filepath.Join(entry.StageDir, stateDir),
		"--platform=systrap", // needs no KVM
		"--network=none",
		"--host-uds=open", // sockets that are shown can be connected to, and none made
		"--overlay2=none",
		"--file-access-mounts=exclusive", // nobody else writes the work directory meanwhile
		"--ignore-cgroups",               // everything that runsc starts is in ours
		"--watchdog-action=panic",
	}
}
