// Package machine opens the box's backend on this machine: the one that an
// operator's setup has chosen and written down. It never takes another one
// instead, however it fails.
package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/bwrap"
	"github.com/proofreel/proofreel/internal/studio/executor/cell"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
	"github.com/proofreel/proofreel/internal/studio/executor/process"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// Choice is what setup writes down.
type Choice struct {
	Backend string    `json:"backend"`          // gvisor or bwrap
	Path    string    `json:"path"`             // of bwrap or runsc
	SHA256  string    `json:"sha256,omitempty"` // of runsc; it is compared at every start of the server
	At      time.Time `json:"at"`
	Why     string    `json:"why"`
}

// Config says what is looked for.
type Config struct {
	Dir         string // boxes' state; empty: cell.DefaultDir
	Exe         string // this program
	Runsc       string // empty: runsc in PATH
	Bwrap       string // empty: bwrap in PATH
	InsecureDev bool
	Log         *slog.Logger
}

func (c Config) cell() cell.Config { return cell.Config{Dir: c.Dir, Exe: c.Exe, Log: c.Log} }

// ErrNotChosen says that no backend was set up.
var ErrNotChosen = errors.New("no box was set up on this machine")

// Open opens the chosen backend, as it was when it was chosen. Errors wrap
// executor.ErrUnavailable, gvisor.ErrChanged, process.ErrInsecure.
func Open(ctx context.Context, choice Choice, c Config) (executor.Executor, error) {
	switch choice.Backend {
	case gvisor.Name:
		if choice.SHA256 == "" {
			return nil, fmt.Errorf("%w: the choice names no digest of runsc", executor.ErrUnavailable)
		}
		return opened(gvisor.Open(gvisor.Config{Config: c.cell(), Runsc: choice.Path, SHA256: choice.SHA256}))
	case bwrap.Name:
		return opened(bwrap.Open(ctx, c.cell(), choice.Path))
	case process.Name:
		return opened(process.Open(process.Config{Config: c.cell(), InsecureDev: c.InsecureDev}))
	default:
		return nil, fmt.Errorf("%w: there is no backend %q", executor.ErrUnavailable, choice.Backend)
	}
}

// opened keeps a nil pointer from becoming an interface that is not nil.
func opened[E executor.Executor](e E, err error) (executor.Executor, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Tried is a backend that Choose has looked at.
type Tried struct {
	Backend string         `json:"backend"`
	Report  sandbox.Report `json:"report"`
	Error   string         `json:"error,omitempty"` // why it can't be used
}

// Choose tries gVisor and then bubblewrap, and gives the first whose probe is
// green. want names the one that the operator wants; then only that is tried.
// The error wraps executor.ErrUnavailable when there is none. Nothing is
// written: see Save.
func Choose(ctx context.Context, c Config, want string) (Choice, []Tried, error) {
	var tried []Tried
	for _, name := range []string{gvisor.Name, bwrap.Name} {
		if want != "" && want != name {
			continue
		}
		choice, report, err := try(ctx, c, name)
		t := Tried{Backend: name, Report: report}
		if err != nil {
			t.Error = err.Error()
		}
		tried = append(tried, t)
		if err == nil {
			choice.At, choice.Why = time.Now().UTC(), "its conformance probe passed"
			return choice, tried, nil
		}
	}
	return Choice{}, tried, fmt.Errorf("%w: no backend passes its probe", executor.ErrUnavailable)
}

func try(ctx context.Context, c Config, name string) (Choice, sandbox.Report, error) {
	choice := Choice{Backend: name}
	var err error
	switch name {
	case gvisor.Name:
		if choice.Path, err = find(c.Runsc, "runsc"); err == nil {
			choice.SHA256, err = gvisor.Digest(choice.Path)
		}
	case bwrap.Name:
		choice.Path, err = find(c.Bwrap, "bwrap")
	}
	if err != nil {
		return choice, sandbox.Report{}, fmt.Errorf("%w: %w", executor.ErrUnavailable, err)
	}
	e, err := Open(ctx, choice, c)
	if err != nil {
		return choice, sandbox.Report{}, err
	}
	report, err := e.Probe(ctx)
	if err == nil && !report.Green() {
		err = fmt.Errorf("%w: %s", executor.ErrUnavailable, report.Summary())
	}
	return choice, report, errors.Join(err, e.Close())
}

func find(path, name string) (string, error) {
	if path == "" {
		path = name
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return found, nil
}

// Save writes the choice down.
func Save(path string, c Choice) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory for the choice: %w", err)
	}
	return statefile.Write(path, c) //nolint:wrapcheck // it says what it is
}

// Load reads what was written down. The error wraps ErrNotChosen when nothing was.
func Load(path string) (Choice, error) {
	var c Choice
	err := statefile.Read(path, &c)
	if errors.Is(err, os.ErrNotExist) {
		return Choice{}, fmt.Errorf("%w: run setup", ErrNotChosen)
	}
	return c, err //nolint:wrapcheck // it says what it is
}
