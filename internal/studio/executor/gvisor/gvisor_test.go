package gvisor_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/executortest"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// runsc finds the program that scripts/install-box.sh built.
func runsc() (string, error) {
	if path, err := exec.LookPath("runsc"); err == nil {
		return filepath.Abs(path)
	}
	path, err := filepath.Abs("../../../../.tools/bin/runsc")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("run make install-box: %w", err)
	}
	return path, nil
}

func config(dir string) (gvisor.Config, error) {
	exe, err := os.Executable()
	if err != nil {
		return gvisor.Config{}, err
	}
	path, err := runsc()
	return gvisor.Config{Config: cell.Config{Dir: dir, Exe: exe}, Runsc: path}, err
}

func open(dir string) (executor.Executor, error) {
	c, err := config(dir)
	if err != nil {
		return nil, err
	}
	return gvisor.Open(c)
}

func TestMain(m *testing.M) { executortest.Main(m, open) }

// ordinary says whether the tests run as a user who can have no gVisor; then
// it holds that Open says so.
func ordinary(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return false
	}
	if _, err := gvisor.Open(gvisor.Config{Config: cell.Config{Dir: t.TempDir()}, Runsc: "/bin/true"}); !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("Open as an ordinary user gives %v", err)
	}
	return true
}

func TestSuite(t *testing.T) {
	if !ordinary(t) {
		executortest.Run(t, open, executortest.Traits{Isolates: true, Output: 128 << 20})
	}
}

func TestProbe(t *testing.T) {
	if !ordinary(t) {
		executortest.Probed(t, open, true)
	}
}

func TestPrograms(t *testing.T) {
	if !ordinary(t) {
		executortest.Programs(t, open)
	}
}

// A runsc that was swapped must run no job, neither at the server's start nor
// while it runs.
func TestChangedRunsc(t *testing.T) {
	if ordinary(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "runsc")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("#!/bin/sh\nexit 1\n")
	digest, err := gvisor.Digest(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.Runsc, c.SHA256 = path, digest
	e, err := gvisor.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	write("#!/bin/sh\nexit 2\n")
	if _, err := e.Start(t.Context(), sandbox.Spec{JobID: "x", Argv: []string{"/bin/true"}}); !errors.Is(err, gvisor.ErrChanged) {
		t.Errorf("Start gives %v", err)
	}
	if _, err := gvisor.Open(c); !errors.Is(err, gvisor.ErrChanged) || !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("Open gives %v", err)
	}
}
