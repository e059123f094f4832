package bwrap

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/entry"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// weak is the backend with one wall taken out.
type weak struct {
	*Executor
	kind   cell.Users
	filter bool
	change func(args []string) []string
}

func (w weak) Start(ctx context.Context, s sandbox.Spec) (executor.Box, error) {
	return w.host.Start(ctx, w, w.kind, s)
}

func (w weak) Plan(l *cell.Launch) error {
	args := append(w.namespaces(), w.root(l)...)
	args = append(append(args, w.mounts(l)...), work(l)...)
	l.HandOut = l.Stage == nil
	if w.change != nil {
		args = w.change(args)
	}
	if w.filter {
		filter, err := sandbox.Seccomp(false)
		if err != nil {
			return err
		}
		fd, err := l.Pass("seccomp", sandbox.Encode(filter))
		if err != nil {
			return err
		}
		args = append(args, "--seccomp", strconv.Itoa(fd))
	}
	fd, err := l.Pass("args", []byte(strings.Join(args, "\x00")+"\x00"))
	if err != nil {
		return err
	}
	l.Argv = []string{w.path, "--args", strconv.Itoa(fd), sandbox.Program, "box", entry.RoleInit, sandbox.InitDoc}
	return nil
}

func without(flag string) func([]string) []string {
	return func(args []string) []string {
		return slices.DeleteFunc(args, func(a string) bool { return a == flag })
	}
}

// A probe that is green for a box with a hole would be believed. Each of these
// boxes lacks one wall, and the probe must name the hole behind it.
func TestProbeFindsEveryHole(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), cell.Config{Dir: t.TempDir(), Exe: exe}, "")
	if err != nil {
		t.Fatalf("%v (install what is missing: make install-box)", err)
	}
	defer func() { _ = e.Close() }()
	open := []string{"--remount-ro", "/dev", "--remount-ro", "/"}
	shut := func(args []string) []string { return append(args, open...) }
	tests := []struct {
		name string
		weak weak
		root bool // needs root
		want []string
	}{
		{"no filter", weak{e, cell.Pool, false, shut}, false, []string{"socket-netlink", "call-foreign", "call-keyctl", "call-ptrace", "ioctl-tiocsti"}},
		{"root's own user", weak{e, cell.Guest, true, func(a []string) []string {
			i := slices.Index(a, "--bind") // of a work directory that is another user's
			return shut(slices.Replace(a, i, i+3, "--tmpfs", sandbox.WorkDir))
		}}, true, []string{"sysctl-kernel.core_pattern"}},
		{"the host's network", weak{e, cell.Pool, true, func(a []string) []string { return shut(without("--unshare-net")(a)) }}, false, []string{"tcp-loopback-v4", "udp-loopback", "unix-abstract", "canary"}},
		{"the host's memory", weak{e, cell.Pool, true, func(a []string) []string { return shut(without("--unshare-ipc")(a)) }}, false, []string{"sysv-shm"}},
		{"the host's name", weak{e, cell.Pool, true, func(a []string) []string {
			i := slices.Index(a, "--hostname")
			return shut(without("--unshare-uts")(slices.Delete(a, i, i+2)))
		}}, false, []string{"hostname"}},
		{"the host's /tmp", weak{e, cell.Pool, true, func(a []string) []string { return shut(append(a, "--ro-bind", "/tmp", "/tmp")) }}, false, []string{"file-secret", "file-other-job", "unix-path"}},
		{"the host's /proc", weak{e, cell.Pool, true, func(a []string) []string { return shut(append(a, "--bind", "/proc", "/proc")) }}, false, []string{"process-arguments", "process-many"}},
		{"the host's devices", weak{e, cell.Pool, true, func(a []string) []string { return shut(append(a, "--dev-bind", "/dev", "/dev")) }}, true, []string{"file-devices"}},
		{"a root that can be written", weak{e, cell.Pool, true, nil}, false, []string{"write-root", "write-etc", "write-dev"}},
	}
	for _, tt := range tests {
		if tt.root && os.Getuid() != 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			report, err := cell.Probe(t.Context(), tt.weak, e.host, false)
			if err != nil {
				t.Fatal(err)
			}
			if report.Green() {
				t.Error("green")
			}
			for _, id := range tt.want {
				if !strings.Contains(report.Summary(), id) {
					t.Errorf("%s is not named: %s", id, report.Summary())
				}
			}
		})
	}
}
