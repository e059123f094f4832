package process_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/executortest"
	"github.com/proofreel/proofreel/internal/studio/executor/process"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

func open(dir string) (executor.Executor, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process.Open(process.Config{Config: cell.Config{Dir: dir, Exe: exe}, InsecureDev: true})
}

func TestMain(m *testing.M) { executortest.Main(m, open) }

func TestSuite(t *testing.T) {
	executortest.Run(t, open, executortest.Traits{HostTasks: true, Output: 1 << 30})
}

// A backend that isolates nothing must never be taken for a box.
func TestProbeIsNotGreen(t *testing.T) { executortest.Probed(t, open, false) }

// Nobody gets it who has not asked for it, and whoever has is told each time.
func TestInsecureDev(t *testing.T) {
	if _, err := process.Open(process.Config{}); !errors.Is(err, process.ErrInsecure) || !errors.Is(err, executor.ErrUnavailable) {
		t.Errorf("Open gives %v", err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e, err := process.Open(process.Config{Config: cell.Config{Dir: t.TempDir(), Exe: exe, Log: slog.New(slog.NewTextHandler(&log, nil))}, InsecureDev: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for range 2 {
		box, err := e.Start(t.Context(), sandbox.Spec{JobID: "x", Argv: []string{"/bin/true"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = box.Close()
	}
	if n := strings.Count(log.String(), "INSECURE"); n != 2 {
		t.Errorf("%d warnings for two starts: %s", n, log.String())
	}
}
