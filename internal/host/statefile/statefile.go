// Package statefile keeps one JSON document in a file that is replaced
// atomically, and holds locks. What the documents say is not known here.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// maxSize bounds what Read takes into memory. A state document is a few
// kilobytes; whatever is larger is not ours.
const maxSize = 16 << 20

// CorruptError says that a file is not the JSON document it should be.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s is not readable: %v", e.Path, e.Err) }

func (e *CorruptError) Unwrap() error { return e.Err }

// Write replaces the document at path by v: written to a temporary file,
// synced, renamed, and the directory synced, so that after a crash the old or
// the new document is there, whole. The file's mode is 0600.
func Write(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	if err := renameio.WriteFile(path, append(raw, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return SyncDir(filepath.Dir(path))
}

// WriteVolatile replaces the document atomically for readers, without waiting
// for the disk: for figures that are out of date after a crash anyway.
func WriteVolatile(path string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("replace %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Read reads the document at path into v. A missing file gives an error that
// wraps fs.ErrNotExist, an unreadable document a *CorruptError.
func Read(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if len(raw) > maxSize {
		return &CorruptError{Path: path, Err: fmt.Errorf("larger than %d bytes", maxSize)}
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &CorruptError{Path: path, Err: err}
	}
	return nil
}

// SyncDir makes renames and removals in dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open directory to sync: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is a held lock. It ends with Unlock or with the process.
type Lock struct{ f *flock.Flock }

// TryLock takes the lock file at path, or returns ErrLocked at once.
func TryLock(path string) (*Lock, error) {
	for {
		f := flock.New(path, flock.SetPermissions(0o600))
		ok, err := f.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
		}
		if !ok {
			_ = f.Close()
			return nil, ErrLocked
		}
		if isAt(f, path) {
			return &Lock{f}, nil
		}
		_ = f.Close() // its last holder removed it while we opened it: nobody else would see our lock
	}
}

// isAt says whether the file that is locked is the one that others find.
func isAt(f *flock.Flock, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path) //nolint:gosec // the path is the caller's own
	return err == nil && os.SameFile(held, there)
}

// Acquire takes the lock file at path and waits for it. Only for locks that
// are held for moments.
func Acquire(path string) (*Lock, error) {
	for {
		f := flock.New(path, flock.SetPermissions(0o600))
		if err := f.Lock(); err != nil {
			return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
		}
		if isAt(f, path) {
			return &Lock{f}, nil
		}
		_ = f.Close() // as in TryLock
	}
}

// Remove removes the lock file, whose purpose is over, and gives the lock up.
func (l *Lock) Remove() error {
	err := os.Remove(l.f.Path())
	l.Unlock()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the lock: %w", err)
	}
	return nil
}

// Unlock gives the lock up. A second call does nothing.
func (l *Lock) Unlock() { _ = l.f.Close() }
