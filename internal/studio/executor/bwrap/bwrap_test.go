package bwrap_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/executortest"
)

func open(dir string) (executor.Executor, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return bwrap.Open(context.Background(), cell.Config{Dir: dir, Exe: exe}, "")
}

func TestMain(m *testing.M) { executortest.Main(m, open) }

func traits() executortest.Traits {
	return executortest.Traits{Isolates: true, HostTasks: true, KernelPids: true, Output: 1 << 30}
}

func TestSuite(t *testing.T) { executortest.Run(t, open, traits()) }

func TestProbe(t *testing.T) { executortest.Probed(t, open, true) }

func TestPrograms(t *testing.T) { executortest.Programs(t, open) }

// The other of the two kinds of server: as root the tests run again as an
// ordinary user. (As an ordinary user nobody can become root.)
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		return // this is what the other tests have done
	}
	dir, err := os.MkdirTemp("", "ordinary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "bwrap.test")
	copyFile(t, os.Args[0], program)
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	const uid = 1999 // not one of the pool's
	for path, mode := range map[string]os.FileMode{dir: 0o755, program: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "tmp"), uid, uid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^(TestSuite|TestProbe|TestPrograms|TestProbeFindsEveryHole)$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "tmp"), "HOME=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{}}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("as user %d: %v", uid, err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
