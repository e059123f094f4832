package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/statefile"
)

const (
	folderName = "proofreel-stage-"
	ownerName  = "owner.lock"
	// unowned is how old a folder without an owner must be to count as left: its
	// process may just be about to take the lock.
	unowned = time.Minute
	// leastRoom is what a browser's profile and the frames on their way need at
	// the very least. Without it the browser's own errors are riddles.
	leastRoom = 16 << 20 // bytes
)

// folder is the browser's folder. A lock in it tells others that its process
// lives, also those that don't see the process: a folder in memory may be
// shared by containers.
type folder struct {
	path  string
	owner *statefile.Lock
}

// newFolder makes a folder in dir, and removes there what processes have left
// that were killed.
func newFolder(dir string) (*folder, error) {
	sweep(dir)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil, fmt.Errorf("make a folder for the browser in %s: %w", dir, err)
	}
	// A file system without blocks has no limit.
	if free := int64(st.Bavail) * st.Bsize; free < leastRoom && st.Blocks > 0 {
		return nil, fmt.Errorf("make a folder for the browser: %s has %d MiB free: %w", dir, free>>20, unix.ENOSPC)
	}
	path, err := os.MkdirTemp(dir, folderName+"*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the browser: %w", err)
	}
	owner, err := statefile.TryLock(filepath.Join(path, ownerName))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("own the browser's folder: %w", err), os.RemoveAll(path))
	}
	return &folder{path, owner}, nil
}

// remove removes the folder. The lock is given up last.
func (f *folder) remove() error {
	defer f.owner.Unlock()
	return os.RemoveAll(f.path) //nolint:wrapcheck // os says which file
}

// sweep removes this user's folders whose process is gone. What can't be
// removed stays: it is no reason not to draw.
func sweep(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, folderName+"*")) // the pattern is good
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		lock := filepath.Join(path, ownerName)
		if _, err := os.Lstat(lock); err != nil {
			if time.Since(info.ModTime()) > unowned {
				_ = os.RemoveAll(path)
			}
			continue
		}
		owner, err := statefile.TryLock(lock)
		if err != nil {
			continue // its process lives
		}
		_ = os.RemoveAll(path)
		owner.Unlock()
	}
}

func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
