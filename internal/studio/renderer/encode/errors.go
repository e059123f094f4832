package encode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
)

// EncoderError says that an encoder died, hung, or gave something else than
// was asked. It unwraps to a *fault.Error with the code encode_failed.
type EncoderError struct {
	Stretch Stretch
	Hung    bool   // it showed no movement for Options.Patience
	Tail    string // the last lines that it wrote to stderr
	Err     error
}

func (e *EncoderError) Error() string { return e.fault().Message }

// Unwrap gives the error for the user and the cause.
func (e *EncoderError) Unwrap() []error { return []error{e.fault(), e.Err} }

func (e *EncoderError) fault() *fault.Error {
	said := ""
	if e.Tail != "" {
		said = ": " + e.Tail
	}
	return fault.New(fault.EncodeFailed, "Render again: finished parts are kept and used.",
		"The encoder of frames %d to %d failed: %v%s", e.Stretch.From, e.Stretch.To-1, e.Err, said)
}

// Killed tells whether err says that a program ended by a signal: it was killed
// by somebody else, or crashed, and may well succeed when it is started again.
func Killed(err error) bool {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return false
	}
	status, ok := e.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// inWork explains an error of writing or reading among unfinished films.
func inWork(err error, dir, doing string) error {
	return onDisk(err, dir, doing, fault.StateUnwritable, "Make that folder readable and writable.")
}

// atOut explains an error of putting a result in its place.
func atOut(err error, path, doing string) error {
	return onDisk(err, filepath.Dir(path), doing, fault.OutUnwritable, "Name a file in a folder that exists and that you may write.")
}

// onDisk explains an error in a directory: it is full, or what code says when
// the system refuses something else.
func onDisk(err error, dir, doing string, code fault.Code, hint string) error {
	var system unix.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fault.Wrap(err, fault.DiskFull, "Free some space and render again: finished parts are kept and used.",
			"There is no space left in %s to %s", dir, doing)
	case errors.As(err, &system):
		return fault.Wrap(err, code, hint, "%s does not allow to %s", dir, doing)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// writable makes sure, before anything is drawn, that the results can be put
// where they are to go.
func writable(film, poster string) error {
	if poster != "" && filepath.Clean(film) == filepath.Clean(poster) {
		return fault.New(fault.InvalidValue, "Give each a name of its own.", "the film and its poster would both be %s", film)
	}
	for _, path := range []string{film, poster} {
		if path == "" {
			continue
		}
		err := probe(path)
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			return atOut(err, path, "make a file")
		}
		if err != nil {
			return fault.Wrap(err, fault.OutUnwritable, "Name a file in a folder that exists and that you may write.", "%s can't be written", path)
		}
	}
	return nil
}

func probe(path string) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return errors.New("what is there is no file that could be replaced")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".proofreel-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
