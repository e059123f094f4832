package exit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// source is a dead box's work directory and who may own what leaves it.
type source struct {
	dir   *os.File
	owner uint32
}

// collect copies one file of a dead box into dst, which is ours alone. It
// never follows a link, crosses a mount, waits for a FIFO or wakes a device:
// the file is looked at through a descriptor that can't read (O_PATH) before
// that very inode is opened. It returns the number of bytes.
//
// A file that is not what it has to be is a [RefusedError] about item.
func (s source) collect(item Item, name string, most int64, dst io.Writer) (int64, error) {
	no := func(r Reason, rule string) (int64, error) {
		return 0, &RefusedError{Item: item, Reason: r, Rule: rule}
	}
	f, reason, err := s.open(name)
	if err != nil {
		return 0, err
	}
	if reason != "" {
		return no(reason, "open")
	}
	defer f.Close() //nolint:errcheck // only read
	before, err := stat(f)
	if err != nil {
		return 0, err
	}
	if reason := s.judge(f, before); reason != "" {
		return no(reason, "stat")
	}
	if before.Size < 1 || before.Size > most {
		return no(TooLarge, "size")
	}
	// One byte more than there may be shows a file that grew. No method of
	// dst but Write: that of staged says when a disk is full.
	n, err := io.Copy(struct{ io.Writer }{dst}, io.LimitReader(f, before.Size+1))
	if err != nil {
		return 0, fmt.Errorf("copy the %s out of the box: %w", item, err)
	}
	after, err := stat(f)
	if err != nil {
		return 0, err
	}
	if n != before.Size || after.Size != before.Size || after.Mtim != before.Mtim || after.Ctim != before.Ctim {
		return no(Changed, "copy")
	}
	return n, nil
}

// resolve is how every path in a work directory is resolved.
const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS

// open opens a regular file for reading. A reason other than "" says why the
// file is none of those that may leave.
func (s source) open(name string) (*os.File, Reason, error) {
	at := int(s.dir.Fd())
	look := &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: resolve}
	fd, err := unix.Openat2(at, name, look)
	if err != nil {
		if reason := openReason(err); reason != "" {
			return nil, reason, nil
		}
		return nil, "", fmt.Errorf("open a file of the box: %w", err)
	}
	defer unix.Close(fd) //nolint:errcheck // a descriptor that can't read
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, "", fmt.Errorf("stat a file of the box: %w", err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		return nil, Link, nil
	default:
		return nil, NotRegular, nil
	}
	own := fmt.Sprintf("/proc/self/fd/%d", fd)
	f, err := os.OpenFile(own, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) { // a server that is not root, and a file of mode 0
		return nil, FileMode, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("open a file of the box for reading: %w", err)
	}
	return f, "", nil
}

// openReason tells what the author is to blame for from what we are.
func openReason(err error) Reason {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return Missing
	case errors.Is(err, unix.ELOOP):
		return Link
	case errors.Is(err, unix.EXDEV):
		return OtherMount
	case errors.Is(err, unix.EACCES):
		return FileMode
	default:
		return ""
	}
}

// judge looks at an open regular file.
func (s source) judge(f *os.File, st unix.Stat_t) Reason {
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return NotRegular
	case st.Nlink != 1:
		return Link
	case st.Uid != s.owner:
		return Owner
	case st.Mode&(unix.S_ISUID|unix.S_ISGID|unix.S_ISVTX) != 0:
		return FileMode
	case st.Blocks*512 < st.Size && hasHole(f, st.Size):
		return Sparse
	default:
		return ""
	}
}

// hasHole tells a sparse file from one that its file system has compressed,
// which also takes fewer blocks than it has bytes.
func hasHole(f *os.File, size int64) bool {
	at, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_HOLE)
	if _, back := unix.Seek(int(f.Fd()), 0, unix.SEEK_SET); back != nil {
		return true
	}
	return err == nil && at < size
}

func stat(f *os.File) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return st, fmt.Errorf("stat a file of the box: %w", err)
	}
	return st, nil
}

// remove deletes a file of a dead box, whatever it is, by the same rules. That
// it is not there or can't be reached is no matter: the whole directory goes
// with its box.
func (s source) remove(name string) {
	dir := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: resolve}
	fd, err := unix.Openat2(int(s.dir.Fd()), path.Dir(name), dir)
	if err != nil {
		return
	}
	defer unix.Close(fd) //nolint:errcheck // a descriptor that can't read
	_ = unix.Unlinkat(fd, path.Base(name), 0)
}
