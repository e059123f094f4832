package exit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
)

// publish puts both files into place, the film first. When it returns an error
// what lay at either path before lies there again, as far as swap can undo:
// nobody's poster is lost for a film that did not come.
func (l *leaving) publish(film, poster *staged) error {
	if err := errors.Join(replaceable(l.Film), replaceable(l.Poster)); err != nil {
		return outFault(err)
	}
	// What takes room is done before anything is replaced.
	if err := errors.Join(film.prepare(l.Film), poster.prepare(l.Poster)); err != nil {
		return outFault(err)
	}
	back, err := film.swap(l.Film)
	if err != nil {
		return outFault(errors.Join(err, back()))
	}
	posterBack, err := poster.swap(l.Poster)
	if err != nil {
		return outFault(errors.Join(err, posterBack(), back()))
	}
	return nil
}

// replaceable says whether a file can take the place of what is at a path.
func replaceable(path string) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	case st.IsDir():
		return fmt.Errorf("publish %s: %w", path, unix.EISDIR)
	}
	return nil
}

// swap publishes a prepared file such that it can be undone: what had the name
// is kept, under the file's own name of before, until the file is closed. back
// is never nil. Where the file system can't swap two names, what had the name
// is replaced for good, and back leaves the new file, which is whole.
func (s *staged) swap(path string) (back func() error, err error) {
	nothing := func() error { return nil }
	name := s.name
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return func() error {
			if s.name != "" || s.isAt(path) != nil {
				return nil // it never came there, or is another's by now
			}
			return os.Remove(path) //nolint:wrapcheck // it names the path
		}, s.place(path)
	}
	err = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOENT):
		return nothing, s.place(path)
	case err != nil:
		return nothing, fmt.Errorf("publish %s: %w", path, err)
	}
	return func() error {
		if s.isAt(path) != nil {
			return nil
		}
		if err := unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE); err != nil {
			s.name = "" // it is the earlier file's by now, the only one
			return fmt.Errorf("put back what was at %s, which is %s now: %w", path, name, err)
		}
		return nil
	}, s.isAt(path)
}

// noRoom says that there is no room for a file.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// outFault is the error of an output that can't be written.
func outFault(err error) error {
	var own *fault.Error
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case noRoom(err):
		return fault.Wrap(err, fault.DiskFull, "Free some space, or name a file on another disk with --out.", "the film does not fit where it is to be")
	default:
		return fault.Wrap(err, fault.OutUnwritable, "Name a file in a folder that exists and that you may write with --out.", "the film can't be put where it is to be")
	}
}

// Write tells a disk that is full from all else that can fail.
func (s *staged) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if noRoom(err) {
		err = outFault(err)
	}
	return n, err //nolint:wrapcheck // as a file's own
}
