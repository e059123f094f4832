package exit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// staged is a file of our own on its way out. Until it is published it has no
// name, and vanishes when it is closed or this process dies.
type staged struct {
	*os.File
	dir  string
	name string // where the file system knows no files without a name
	// wrote is the hash of what was written, taken while it was written.
	wrote [sha256.Size]byte
}

// stageIn makes an empty file, readable by us alone, on the file system of a
// directory.
func stageIn(dir string) (*staged, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return &staged{File: os.NewFile(uintptr(fd), filepath.Join(dir, "(staged)")), dir: dir}, nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) {
		return nil, fmt.Errorf("make a file in %s: %w", dir, err)
	}
	return stageNamed(dir)
}

// stageNamed does so where every file has a name (NFS, older overlays).
func stageNamed(dir string) (*staged, error) {
	name := tempName(dir)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a file in %s: %w", dir, err)
	}
	return &staged{File: f, dir: dir, name: name}, nil
}

func tempName(dir string) string { return filepath.Join(dir, ".proofreel-exit-"+uuid.NewString()) }

// Close closes the file, and deletes it if it was not published.
func (s *staged) Close() error {
	if s.name != "" {
		_ = os.Remove(s.name)
	}
	return s.File.Close()
}

// size gives the file's size.
func (s *staged) size() (int64, error) {
	st, err := s.Stat()
	if err != nil {
		return 0, fmt.Errorf("stat a staged file: %w", err)
	}
	return st.Size(), nil
}

// sum reads the file back from its first byte and gives its SHA-256.
func (s *staged) sum() ([sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return sum, fmt.Errorf("rewind a staged file: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, s.File); err != nil {
		return sum, fmt.Errorf("read a staged file back: %w", err)
	}
	copy(sum[:], hash.Sum(nil))
	return sum, nil
}

// publish gives the file its name, in one step, replacing what had it. What
// then lies there is this very inode, with nothing changed since it was
// examined.
func (s *staged) publish(path string) error {
	if err := s.prepare(path); err != nil {
		return err
	}
	return s.place(path)
}

// prepare does all of publish that can want for room: what is left is to give
// a file that has a name another.
func (s *staged) prepare(path string) error {
	if err := s.Chmod(0o644); err != nil {
		return fmt.Errorf("make %s readable: %w", path, err)
	}
	if err := s.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if s.name != "" {
		return nil
	}
	name := tempName(s.dir)
	own := fmt.Sprintf("/proc/self/fd/%d", s.Fd())
	if err := unix.Linkat(unix.AT_FDCWD, own, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return fmt.Errorf("give %s a name: %w", path, err)
	}
	s.name = name
	return nil
}

// place gives a prepared file its name.
func (s *staged) place(path string) error {
	if err := os.Rename(s.name, path); err != nil {
		return fmt.Errorf("publish %s: %w", path, err)
	}
	s.name = ""
	return s.isAt(path)
}

func (s *staged) isAt(path string) error {
	here, err := s.Stat()
	if err != nil {
		return fmt.Errorf("stat %s: %w", path, err)
	}
	there, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("stat %s: %w", path, err)
	}
	if !os.SameFile(here, there) {
		return fmt.Errorf("publish %s: another file has taken its place", path)
	}
	dir, err := os.Open(s.dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.dir, err)
	}
	defer dir.Close() //nolint:errcheck // only synced
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", s.dir, err)
	}
	return nil
}
