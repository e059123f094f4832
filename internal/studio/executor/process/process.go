// Package process runs "boxes" that are none: plain processes of this user,
// with nothing between them and the machine. It is for developing on machines
// where no box can be had, exists only behind InsecureDev, and says so each
// time it starts something.
//
// A job's paths are not what they are in a box: the environment variable
// RootVar names a directory below which Work and the doors lie.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Name is the backend's.
const Name = "process"

// RootVar names the directory that stands for a box's root.
const RootVar = "PROOFREEL_BOX_ROOT"

// Config is cell's, and the word without which there is no such backend.
type Config struct {
	cell.Config
	InsecureDev bool
}

// Executor runs plain processes.
type Executor struct{ host *cell.Host }

var _ executor.Executor = (*Executor)(nil)

// ErrInsecure says that plain processes were not asked for in so many words.
var ErrInsecure = errors.New("plain processes isolate nothing: they need --insecure-dev")

// Open gives the backend. The error wraps ErrInsecure unless InsecureDev is set.
func Open(c Config) (*Executor, error) {
	if !c.InsecureDev {
		return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, ErrInsecure)
	}
	host, err := cell.Open(c.Config)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is
	}
	return &Executor{host: host}, nil
}

// Name is the backend's.
func (*Executor) Name() string { return Name }

// Close kills what is left.
func (e *Executor) Close() error { return e.host.Close() } //nolint:wrapcheck // it says what it is

// Reap ends what dead servers left.
func (e *Executor) Reap(ctx context.Context) (int, error) { return e.host.Reap(ctx) } //nolint:wrapcheck // as above

// Start starts a plain process.
func (e *Executor) Start(ctx context.Context, s sandbox.Spec) (executor.Box, error) {
	e.host.Log.Warn("INSECURE: this job runs as a plain process with no box around it; whatever its prompt says can read and change everything that this user can", "job", s.JobID)
	return e.host.Start(ctx, e, cell.Ours, s) //nolint:wrapcheck // as above
}

// Probe runs the conformance probe, which is never green here.
func (e *Executor) Probe(ctx context.Context) (sandbox.Report, error) {
	return cell.Probe(ctx, e, e.host, false) //nolint:wrapcheck // as above
}

// Plan makes a directory that stands for the box.
func (e *Executor) Plan(l *cell.Launch) error {
	root := filepath.Join(l.Dir, "root")
	l.Bare = root
	at := func(path string) string {
		if path == sandbox.WorkDir || strings.HasPrefix(path, sandbox.WorkDir+"/") {
			return filepath.Join(root, path)
		}
		return path
	}
	if err := os.MkdirAll(filepath.Join(root, sandbox.WorkDir), 0o700); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	links := map[string]string{}
	for _, d := range l.Spec.Doors {
		links[d.Target] = d.Socket
	}
	for _, m := range l.Spec.Inputs {
		links[m.Target] = m.Source
	}
	for target, source := range links {
		name := filepath.Join(root, target)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Symlink(source, name)); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
		}
	}
	l.Init.Dir, l.Init.Work = at(l.Init.Dir), filepath.Join(root, sandbox.WorkDir)
	l.Init.Env = append(append([]string{}, l.Init.Env...), RootVar+"="+root, proc.MarkerName+"="+l.ID)
	l.Init.Argv = append([]string{}, l.Init.Argv...)
	if l.Init.Argv[0] == sandbox.Program {
		l.Init.Argv[0] = e.host.Exe
	}
	// Here no file system ends where the limit is.
	l.Init.Limits = append(withoutProcesses(l.Init.Limits), entry.Limit{Resource: unix.RLIMIT_FSIZE, Value: uint64(l.Spec.Limits.Disk)})
	l.Argv = []string{e.host.Exe, "box", entry.RoleInit, filepath.Join(l.Dir, cell.InitName)}
	l.Env = []string{proc.MarkerName + "=" + l.ID}
	return nil
}

// withoutProcesses leaves the limit on processes out: outside a namespace of
// its own it counts everything that this user runs.
func withoutProcesses(all []entry.Limit) []entry.Limit {
	var out []entry.Limit
	for _, l := range all {
		if l.Resource != unix.RLIMIT_NPROC {
			out = append(out, l)
		}
	}
	return out
}
