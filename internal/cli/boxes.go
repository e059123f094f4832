package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/doctor"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/executor/gvisor"
	"github.com/proofreel/proofreel/internal/studio/executor/machine"
	"github.com/proofreel/proofreel/internal/studio/executor/process"
)

// choicePath is where setup writes its choice down.
func choicePath(getenv func(string) string) (string, error) {
	home, err := recordingsHome(getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(home), filepath.Base(home)+"-box.json"), nil
}

func machineConfig(log *slog.Logger) (machine.Config, error) {
	exe, err := os.Executable()
	if err != nil {
		return machine.Config{}, fault.Wrap(err, fault.BoxUnavailable, "Run the installed binary by its path.", "this program can't find itself")
	}
	return machine.Config{Exe: exe, Log: log}, nil
}

// setupHere tries this machine's boxes and writes down the first that passes.
func setupHere(ctx context.Context, want string) (SetupResult, error) {
	c, err := machineConfig(slog.New(slog.DiscardHandler))
	if err != nil {
		return SetupResult{}, err
	}
	path, err := choicePath(os.Getenv)
	if err != nil {
		return SetupResult{}, err
	}
	choice, tried, err := machine.Choose(ctx, c, want)
	res := SetupResult{Box: choice, Path: path, Tried: tried}
	if err != nil {
		return res, choiceFault(ctx, err, tried)
	}
	if err := machine.Save(path, choice); err != nil {
		return res, fault.Wrap(err, fault.StateUnwritable, "Set PROOFREEL_HOME to a directory that you can write.", "the choice can't be written down")
	}
	return res, nil
}

// choiceFault says why no box was chosen: one that can't be used, or one that
// can and is not safe.
func choiceFault(ctx context.Context, err error, tried []machine.Tried) error {
	if ctx.Err() != nil {
		return err
	}
	code, text := fault.BoxUnavailable, ""
	for _, t := range tried {
		if len(t.Report.Results) > 0 {
			code = fault.BoxUnsafe
		}
		text += fmt.Sprintf("; %s: %s", t.Backend, t.Error)
	}
	return fault.New(code, "Install bubblewrap (apt-get install bubblewrap), or gVisor's runsc and be root. make install-box does both.", "no box of this machine can be used%s", text)
}

// openBox opens the box that jobs run in: the one that setup chose, the one
// that is asked for, or none where that is asked for in so many words.
func openBox(ctx context.Context, o GenerateOptions, log *slog.Logger) (executor.Executor, []string, error) {
	c, err := machineConfig(log)
	if err != nil {
		return nil, nil, err
	}
	choice := machine.Choice{Backend: process.Name}
	var notes []string
	switch {
	case o.Insecure:
		c.InsecureDev = true
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		notes = []string{"There was no box: --insecure-dev let the author do on this machine whatever you may."}
	case o.Box != "":
		var tried []machine.Tried
		if choice, tried, err = machine.Choose(ctx, c, o.Box); err != nil {
			return nil, nil, choiceFault(ctx, err, tried)
		}
	default:
		if choice, err = chosen(); err != nil {
			return nil, nil, err
		}
	}
	box, err := machine.Open(ctx, choice, c)
	if err != nil {
		return nil, nil, openFault(err)
	}
	return box, notes, nil
}

func chosen() (machine.Choice, error) {
	path, err := choicePath(os.Getenv)
	if err != nil {
		return machine.Choice{}, err
	}
	choice, err := machine.Load(path)
	if errors.Is(err, machine.ErrNotChosen) {
		return machine.Choice{}, fault.New(fault.BoxUnavailable, "Run proofreel setup once: it tries the boxes of this machine and chooses one.", "no box was set up on this machine")
	}
	if err != nil {
		return machine.Choice{}, fault.Wrap(err, fault.BoxUnavailable, "Run proofreel setup again.", "what setup wrote down can't be read")
	}
	return choice, nil
}

func openFault(err error) error {
	if errors.Is(err, gvisor.ErrChanged) {
		return fault.Wrap(err, fault.BoxUnsafe, "If you have replaced it yourself, run proofreel setup again.", "the box is not the one that was set up")
	}
	return fault.Wrap(err, fault.BoxUnavailable, "Run proofreel setup again, or mend what the error names.", "the box that was set up can't be used")
}

// boxCheck is the doctor's look at the box: the chosen one is probed anew.
func boxCheck(ctx context.Context) doctor.Check {
	c := doctor.Check{Name: "box", Level: doctor.Warning, Fix: "proofreel setup"}
	choice, err := chosen()
	if err != nil {
		c.Detail = "for generate: " + fault.As(err).Message
		return c
	}
	c.Level = doctor.Error
	conf, err := machineConfig(slog.New(slog.DiscardHandler))
	if err != nil {
		c.Detail = fault.As(err).Message
		return c
	}
	box, err := machine.Open(ctx, choice, conf)
	if err != nil {
		c.Detail = choice.Backend + ": " + fault.As(openFault(err)).Message
		return c
	}
	report, err := box.Probe(ctx)
	if err = errors.Join(err, box.Close()); err != nil {
		c.Detail = choice.Backend + ": " + err.Error()
		return c
	}
	c.OK, c.Detail = report.Green(), report.Summary()
	if !c.OK {
		c.Fix = "proofreel setup; until then, generate nothing on this machine"
	}
	return c
}
