package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/statefile"
)

// outPlace is where a film and its poster will lie. While it is held no other
// job of this program can take it.
type outPlace struct {
	film, poster string // absolute
	lock         *statefile.Lock
}

// claimOut finds out, before anything is spent, whether the film can be put
// where it is to be. It makes nothing that stays there.
func claimOut(film, poster string) (*outPlace, error) {
	film, err1 := filepath.Abs(film)
	poster, err2 := filepath.Abs(poster)
	if err := errors.Join(err1, err2); err != nil {
		return nil, outFault(err)
	}
	hasFilm, err := replaceable(film)
	if err != nil {
		return nil, err
	}
	hasPoster, err := replaceable(poster)
	if err != nil {
		return nil, err
	}
	if hasPoster && !hasFilm {
		return nil, fault.New(fault.InvalidValue, "Name another film with --out, or move the picture away.",
			"--out: the poster would replace %s, beside which there is no film", quote(filepath.Base(poster)))
	}
	lock, err := statefile.TryLock(lockBeside(poster))
	switch {
	case errors.Is(err, statefile.ErrLocked):
		return nil, fault.New(fault.RenderBusy, "Wait for it, or name another film with --out.", "another job makes this film now")
	case err != nil:
		return nil, outFault(err)
	}
	p := &outPlace{film: film, poster: poster, lock: lock}
	if err := tryRoom(filepath.Dir(film)); err != nil {
		p.release()
		return nil, outFault(err)
	}
	return p, nil
}

// release lets others take the place. A lock that can't be removed does no harm.
func (p *outPlace) release() { _ = p.lock.Remove() }

// lockBeside names the lock of a film by its poster, which films whose names
// end in .mp4 and .MP4 share; short, however long that name is.
func lockBeside(poster string) string {
	sum := sha256.Sum256([]byte(filepath.Base(poster)))
	return filepath.Join(filepath.Dir(poster), ".proofreel-"+hex.EncodeToString(sum[:8])+".lock")
}

// replaceable says whether there is a file, and refuses what no film of ours is.
func replaceable(path string) (bool, error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, outFault(err)
	case !st.Mode().IsRegular():
		return false, fault.New(fault.OutUnwritable, "Name another film with --out, or move it away.",
			"--out: %s is there and is not a plain file", quote(filepath.Base(path)))
	}
	return true, nil
}

// tryRoom writes a little file into a folder, and removes it.
func tryRoom(dir string) error {
	f, err := os.CreateTemp(dir, ".proofreel-out-*")
	if err != nil {
		return err //nolint:wrapcheck // wrapped by the caller
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// outFault explains an error of the film's folder.
func outFault(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fault.Wrap(err, fault.DiskFull, "Free some space, or name a film on another disk with --out.", "--out: there is no room for the film")
	case errors.Is(err, os.ErrNotExist):
		return fault.Wrap(err, fault.OutUnwritable, "Make the folder first, or name a film in one that is there.", "--out: there is no such folder")
	default:
		return fault.Wrap(err, fault.OutUnwritable, "Name a film in a folder that you can write.", "--out can't be written")
	}
}
