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

// onDisk explains an error of writing or reading below a directory.
func onDisk(err error, path, doing string) error {
	switch dir := filepath.Dir(path); {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fault.Wrap(err, fault.DiskFull, "Free some space and render again: finished parts are kept and used.",
			"There is no space left in %s to %s", dir, doing)
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
		if err := probe(path); err != nil {
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
