package executortest

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

func itoa(n int) string { return strconv.Itoa(n) }

// small are limits that an attack meets soon and a machine bears easily.
func small(wall time.Duration) sandbox.Limits {
	return sandbox.Limits{Memory: 256 << 20, Disk: 32 << 20, Tmp: 16 << 20, Shm: 16 << 20, Pids: 64, CPU: 1, LogBytes: 64 << 10, Wall: wall}
}

// A job must not get more than its limits, whatever it does.
func (s *suite) limits(t *testing.T) {
	t.Run("output", func(t *testing.T) {
		r := s.run(t, sandbox.Spec{Argv: shell("head -c " + strconv.FormatInt(s.traits.Output, 10) + " /dev/zero; exit 3"), Limits: small(bounded)})
		if r.Code != 3 || !r.LogTruncated || r.LogBytes != s.traits.Output || len(r.log) != 64<<10 {
			t.Errorf("%+v with %d bytes of log", r.Exit, len(r.log))
		}
	})
	if !s.traits.Isolates {
		return
	}
	t.Run("disk", func(t *testing.T) {
		r := s.run(t, sandbox.Spec{Argv: shell("dd if=/dev/zero of=/work/full bs=1M count=100; ls -l /work; dd if=/dev/zero of=/tmp/full bs=1M count=100; dd if=/dev/zero of=/dev/shm/full bs=1M count=100; rm /tmp/full /dev/shm/full; exit 0"), Limits: small(bounded)})
		if r.Reason != executor.Exited || strings.Count(r.log, "No space left") != 3 {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
		var st unix.Statfs_t
		if err := unix.Fstatfs(int(r.box.Work().Fd()), &st); err != nil || int64(st.Blocks)*st.Bsize > 33<<20 {
			t.Errorf("the work directory holds up to %d bytes, %v", int64(st.Blocks)*st.Bsize, err)
		}
	})
	t.Run("many files", func(t *testing.T) {
		if !s.traits.HostTasks {
			return // the same file system, at a hundredth of the speed
		}
		r := s.run(t, sandbox.Spec{Argv: []string{sandbox.Program, "attack", "files"}, Limits: small(bounded)})
		// The kernel's limit, or that of who watches.
		if r.Reason != executor.Disk && !strings.Contains(r.log, "no space left") {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
	})
	t.Run("memory", func(t *testing.T) {
		r := s.run(t, sandbox.Spec{Argv: []string{sandbox.Program, "attack", "memory"}, Limits: small(bounded)})
		if r.Reason != executor.Memory && r.Code == 0 {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
		if lines := strings.Fields(r.log); len(lines) > 0 {
			if n, err := strconv.Atoi(lines[len(lines)-1]); err == nil && n*8 > 300 {
				t.Errorf("it held %d MiB", n*8)
			}
		}
	})
	t.Run("files", func(t *testing.T) {
		l := small(bounded)
		l.Files = 40
		r := s.run(t, sandbox.Spec{Argv: shell("ulimit -Hn; ulimit -Sn; ulimit -Hc"), Limits: l})
		if r.log != "40\n40\n0\n" {
			t.Errorf("limits: %q", r.log)
		}
	})
	if !s.traits.KernelPids {
		return // the backend's tasks are not the job's
	}
	t.Run("processes", func(t *testing.T) {
		r := s.run(t, sandbox.Spec{Argv: shell("i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done; exit 0"), Limits: small(bounded)})
		if !strings.Contains(r.log, "fork") {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
	})
}

// The clock outside ends a job whatever it does inside, and nothing of it is
// left. Each of these is a way to outlive a supervisor that asks for help.
func (s *suite) attacks(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		box  bool // only where there is a box: on a bare machine it would hurt the machine
	}{
		{"ignores signals", shell("trap '' TERM INT HUP QUIT PIPE USR1; while :; do sleep 1; done"), false},
		{"daemon", shell("(setsid sh -c 'setsid sleep 600 & sleep 600' </dev/null >/dev/null 2>&1 &); sleep 600"), false},
		{"holds its output", shell("(trap '' TERM HUP; sleep 600) & (trap '' TERM HUP; sleep 600) & wait"), false},
		{"fork bomb", shell("f() { f | f & }; f; while :; do :; done"), true},
		{"stops everybody", []string{sandbox.Program, "attack", "stop-everybody"}, true},
		{"traces its first process", []string{sandbox.Program, "attack", "trace-init"}, true},
		{"kills its first process", shell("kill -9 1; kill -STOP 1; kill -9 -1; sleep 600"), true},
	}
	for _, tt := range tests {
		if tt.box && !s.traits.Isolates {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			word := "attack-" + itoa(os.Getpid()) + "-" + strings.ReplaceAll(tt.name, " ", "-")
			argv := append(append([]string{}, tt.argv...), word)
			if tt.argv[0] != "/bin/sh" {
				argv = shell("exec " + strings.Join(tt.argv, " "))
			}
			began := time.Now()
			r := s.run(t, sandbox.Spec{Argv: argv, Limits: small(1500 * time.Millisecond)})
			// kill -9 -1 may end the job before the clock does: that is its own affair.
			if r.Reason != executor.Wall && r.Reason != executor.Exited && r.Reason != executor.Memory {
				t.Errorf("%+v: %s", r.Exit, r.log)
			}
			if took := time.Since(began); took > bounded/2 {
				t.Errorf("it took %v to end it", took)
			}
			if s.traits.HostTasks {
				if left := proc.WithArgument(word); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
		})
	}
	t.Run("outlives its program", func(t *testing.T) {
		t.Parallel()
		word := "outlive-" + itoa(os.Getpid())
		r := s.run(t, sandbox.Spec{Argv: []string{"/bin/sh", "-c", "setsid sh -c 'sleep 600; :' " + word + " >/dev/null 2>&1 </dev/null & sleep 0.2; exit 5"}, Limits: small(bounded)})
		if r.Reason != executor.Exited || r.Code != 5 {
			t.Errorf("%+v: %s", r.Exit, r.log)
		}
		if s.traits.HostTasks {
			if left := proc.WithArgument(word); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	})
}

// Probed holds that the conformance probe of a backend is green, or, for what
// is no box, that it is not.
func Probed(t *testing.T, open Opener, green bool) {
	t.Helper()
	e, err := open(stateDir(t))
	if err != nil {
		t.Fatalf("%v (install what is missing: make install-box)", err)
	}
	defer func() { _ = e.Close() }()
	report, err := e.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("limits by %s, %v\n%s", report.Limits, report.Took, report.Table())
	if report.Green() != green {
		t.Errorf("green is %v: %s", report.Green(), report.Summary())
	}
}
