package machine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/executortest"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
	"github.com/proofreel/proofreel/internal/studio/executor/machine"
	"github.com/proofreel/proofreel/internal/studio/executor/process"
)

// The probe's boxes get this program: it must answer as the product does.
func TestMain(m *testing.M) { executortest.Main(m, nil) }

func config(t *testing.T) machine.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return machine.Config{Dir: t.TempDir(), Exe: exe, Runsc: "/nonexistent/runsc"}
}

// Whatever is wrong with the chosen backend, no other one may be taken.
func TestOpenNeverFallsBack(t *testing.T) {
	none := machine.Choice{Backend: gvisor.Name, Path: "/nonexistent/runsc", SHA256: strings.Repeat("0", 64)}
	swapped := none
	swapped.Path = "/bin/true"
	for name, tt := range map[string]struct {
		choice machine.Choice
		want   error
	}{
		"nothing chosen":       {machine.Choice{}, executor.ErrUnavailable},
		"unknown":              {machine.Choice{Backend: "docker"}, executor.ErrUnavailable},
		"gVisor is gone":       {none, executor.ErrUnavailable},
		"gVisor was swapped":   {swapped, executor.ErrUnavailable},
		"gVisor, no digest":    {machine.Choice{Backend: gvisor.Name, Path: "/bin/true"}, executor.ErrUnavailable},
		"bubblewrap is gone":   {machine.Choice{Backend: "bwrap", Path: "/nonexistent/bwrap"}, executor.ErrUnavailable},
		"bubblewrap is no one": {machine.Choice{Backend: "bwrap", Path: "/bin/echo"}, executor.ErrUnavailable},
		"process, not asked":   {machine.Choice{Backend: process.Name}, process.ErrInsecure},
	} {
		e, err := machine.Open(t.Context(), tt.choice, config(t))
		if !errors.Is(err, tt.want) || e != nil {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	if os.Getuid() == 0 {
		if _, err := machine.Open(t.Context(), swapped, config(t)); !errors.Is(err, gvisor.ErrChanged) {
			t.Errorf("a swapped runsc gives %v", err)
		}
	}
}

// The choice is the first whose probe is green, says why the others are not
// it, and can be opened as it was written down.
func TestChoose(t *testing.T) {
	c := config(t)
	choice, tried, err := machine.Choose(t.Context(), c, "")
	if err != nil {
		t.Fatalf("%v (install what is missing: make install-box)", err)
	}
	if choice.Backend != "bwrap" || choice.Path == "" || len(tried) != 2 || tried[0].Error == "" || !tried[1].Report.Green() {
		t.Errorf("chose %+v of %+v", choice, tried)
	}
	path := filepath.Join(t.TempDir(), "a", "box.json")
	if err := machine.Save(path, choice); err != nil {
		t.Fatal(err)
	}
	again, err := machine.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(choice, again); diff != "" {
		t.Error(diff)
	}
	e, err := machine.Open(t.Context(), again, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	// Whoever wants gVisor gets gVisor or nothing.
	if got, _, err := machine.Choose(t.Context(), c, gvisor.Name); !errors.Is(err, executor.ErrUnavailable) || got.Backend != "" {
		t.Errorf("chose %+v, %v", got, err)
	}
	if _, err := machine.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, machine.ErrNotChosen) {
		t.Errorf("Load of nothing gives %v", err)
	}
}
