// Package bwrap runs boxes in bubblewrap: namespaces and a system call filter
// of the host's kernel. As root every box runs under a user of its own; never
// as root. As an ordinary user it runs under that one. What is common to all
// backends lies in cell, the policy in sandbox.
package bwrap

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Name is the backend's.
const Name = "bwrap"

// Executor runs boxes in bubblewrap.
type Executor struct {
	host *cell.Host
	path string
}

var _ executor.Executor = (*Executor)(nil)

// Open finds bubblewrap. path may be empty: then it is looked for in PATH.
// The error wraps executor.ErrUnavailable.
func Open(ctx context.Context, c cell.Config, path string) (*Executor, error) {
	if path == "" {
		path = "bwrap"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("%w: install bubblewrap: %w", executor.ErrUnavailable, err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	if err := recent(ctx, found); err != nil {
		return nil, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	host, err := cell.Open(c)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is
	}
	return &Executor{host: host, path: found}, nil
}

// recent refuses versions before 0.8, which have no --disable-userns.
func recent(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", path, err)
	}
	m := regexp.MustCompile(`^bubblewrap (\d+)\.(\d+)`).FindStringSubmatch(string(out))
	if m == nil {
		return fmt.Errorf("%s is no bubblewrap: it says %q", path, out)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major == 0 && minor < 8 {
		return fmt.Errorf("%s is too old, 0.8 is needed", m[0])
	}
	return nil
}

// Name is the backend's.
func (*Executor) Name() string { return Name }

// Close kills the boxes that are left.
func (e *Executor) Close() error { return e.host.Close() } //nolint:wrapcheck // it says what it is

// Reap ends what boxes of dead servers left.
func (e *Executor) Reap(ctx context.Context) (int, error) { return e.host.Reap(ctx) } //nolint:wrapcheck // as above

// Start starts a box.
func (e *Executor) Start(ctx context.Context, s sandbox.Spec) (executor.Box, error) {
	return e.host.Start(ctx, e, cell.Pool, s) //nolint:wrapcheck // as above
}

// Probe runs the conformance probe.
func (e *Executor) Probe(ctx context.Context) (sandbox.Report, error) {
	return cell.Probe(ctx, e, e.host, false) //nolint:wrapcheck // as above
}

// Plan makes bubblewrap's command line.
func (e *Executor) Plan(l *cell.Launch) error {
	if e.host.Root && l.User == 0 {
		// --uid only maps: to the kernel the box would be root's, and
		// /proc/sys/kernel/core_pattern a way out.
		return errors.New("bubblewrap is never started as root")
	}
	filter, err := sandbox.Seccomp(l.Spec.Netlink)
	if err != nil {
		return fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	l.HandOut = l.Stage == nil
	args := e.namespaces()
	args = append(args, e.root(l)...)
	args = append(args, e.mounts(l)...)
	args = append(args, work(l)...)
	// The box's root and /dev are the backend's own tmpfs: nothing may be put there.
	args = append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
	seccomp, err := l.Pass("seccomp", sandbox.Encode(filter))
	if err != nil {
		return err //nolint:wrapcheck // it says what it is
	}
	args = append(args, "--seccomp", strconv.Itoa(seccomp))
	// By descriptor: /proc/1/cmdline is seen inside, and need not tell how the host lies.
	list, err := l.Pass("args", []byte(strings.Join(args, "\x00")+"\x00"))
	if err != nil {
		return err //nolint:wrapcheck // as above
	}
	l.Argv = []string{e.path, "--args", strconv.Itoa(list), sandbox.Program, "box", entry.RoleInit, sandbox.InitDoc}
	return nil
}

func (*Executor) namespaces() []string {
	return []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup",
		"--disable-userns", "--assert-userns-disabled",
		"--as-pid-1", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL",
		"--uid", strconv.Itoa(sandbox.UserID), "--gid", strconv.Itoa(sandbox.UserID), "--hostname", sandbox.Hostname,
	}
}

// root is what every box has: the host's programs, an /etc of its own, kernel
// file systems, and what is writable and forgotten.
func (e *Executor) root(l *cell.Launch) []string {
	var args []string
	for _, d := range e.host.Tree.Binds {
		args = append(args, "--ro-bind", d, d)
	}
	for _, link := range e.host.Tree.Links {
		args = append(args, "--symlink", link[0], link[1])
	}
	for _, m := range e.host.EtcFiles() {
		args = append(args, "--ro-bind", l.Show(m.Source, false), m.Target)
	}
	limit := l.Spec.Limits
	return append(args,
		"--proc", "/proc", "--dev", "/dev",
		"--perms", "1777", "--size", strconv.FormatInt(limit.Shm, 10), "--tmpfs", "/dev/shm",
		"--perms", "1777", "--size", strconv.FormatInt(limit.Tmp, 10), "--tmpfs", "/tmp",
		"--symlink", "/tmp", "/var/tmp",
		"--ro-bind", l.Show(e.host.Exe, false), sandbox.Program,
		"--ro-bind", l.Show(filepath.Join(l.Dir, cell.InitName), false), sandbox.InitDoc,
	)
}

func (*Executor) mounts(l *cell.Launch) []string {
	var args []string
	for _, m := range l.Spec.Inputs {
		args = append(args, "--ro-bind", l.Show(m.Source, false), m.Target)
	}
	for _, d := range l.Spec.Doors {
		args = append(args, "--ro-bind", l.Show(d.Socket, true), d.Target)
	}
	return args
}

// work is the one directory that is looked at afterwards. As root it is a
// tmpfs that we made and hold; else it is one of bubblewrap's, which Init
// hands out.
func work(l *cell.Launch) []string {
	if l.Stage != nil {
		return []string{"--bind", filepath.Join(entry.StageDir, l.Stage.Work), sandbox.WorkDir}
	}
	return []string{"--perms", "0755", "--size", strconv.FormatInt(l.Spec.Limits.Disk, 10), "--tmpfs", sandbox.WorkDir}
}
