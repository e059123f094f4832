package cli

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/record/publish"
	"github.com/proofreel/proofreel/internal/record/supervisor"
	"github.com/proofreel/proofreel/internal/studio/renderer"
)

// realDeps is what the commands work with on this machine.
func realDeps(version string) Deps {
	return Deps{
		Version:  version,
		Getenv:   os.Getenv,
		Wait:     sleep,
		Doctor:   checkMachine,
		ServeMCP: serveMCP,
		Open:     func() (Recorder, error) { return openManager() },
		Clips:    func() (Clipper, error) { return openClips() },
		Studio:   func() (Studio, error) { return openStudio() },
		NewScene: new(renderer.Studio).New,
		Generate: generateHere,
		Setup:    setupHere,
		Stdin:    readPrompt,
		ParsePublish: func(spec string) (string, error) {
			t, err := publish.Parse(spec)
			return t.String(), err //nolint:wrapcheck // it is the user's error already
		},
	}
}

// openManager reaches this user's recordings. Nothing is created yet.
func openManager() (*supervisor.Manager, error) {
	home, err := recordingsHome(os.Getenv)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fault.Wrap(err, fault.SupervisorFailed, "Run the installed binary by its path.", "this program can't find itself")
	}
	return &supervisor.Manager{
		Home: home, Exe: exe, Getenv: os.Getenv, Environ: os.Environ(), Log: slog.New(slog.DiscardHandler),
	}, nil
}

// recordingsHome says where recordings are kept: PROOFREEL_HOME, else the
// user's state directory as the XDG base directory specification has it.
func recordingsHome(getenv func(string) string) (string, error) {
	if home := getenv("PROOFREEL_HOME"); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return "", fault.Wrap(err, fault.StateUnwritable, "Give PROOFREEL_HOME as an absolute path.", "PROOFREEL_HOME can't be understood")
		}
		return abs, nil
	}
	if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "proofreel"), nil
	}
	if user := getenv("HOME"); filepath.IsAbs(user) {
		return filepath.Join(user, ".local", "state", "proofreel"), nil
	}
	return "", fault.Wrap(errors.New("neither PROOFREEL_HOME nor HOME is set"), fault.StateUnwritable,
		"Set PROOFREEL_HOME to a directory that you can write.", "there is no place for recordings")
}
