package cell

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// newWork makes a work directory of limited size: a tmpfs that is mounted
// nowhere. The descriptors are all there is of it: the box gets mount by
// move_mount(2) into a mount namespace of its own, and when the last one is
// closed, or everybody died, the kernel forgets it. There is nothing to
// unmount after a crash. dir stays good when mount was moved and closed.
func newWork(size int64, owner int) (dir, mount *os.File, err error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("open a tmpfs: %w", err)
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range [][2]string{
		{"size", strconv.FormatInt(size, 10)},
		{"nr_inodes", strconv.Itoa(maxFiles)},
		{"mode", "0755"},
		{"uid", strconv.Itoa(owner)},
		{"gid", strconv.Itoa(owner)},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return nil, nil, fmt.Errorf("set %s of the work directory: %w", o[0], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, nil, fmt.Errorf("make the work directory: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return nil, nil, fmt.Errorf("mount the work directory: %w", err)
	}
	// fsmount's descriptor is O_PATH: with it nothing can be listed.
	list, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, fmt.Errorf("open the work directory: %w", err)
	}
	return os.NewFile(uintptr(list), "work"), os.NewFile(uintptr(fd), "work mount"), nil
}

// maxFiles is how many files a box may have in its work directory.
const maxFiles = 50_000

// usage is what a file system holds.
type usage struct{ bytes, files int64 }

// used says what the work directory's file system holds.
func used(work *os.File) usage {
	var st unix.Statfs_t
	if work == nil || unix.Fstatfs(int(work.Fd()), &st) != nil {
		return usage{}
	}
	return usageOf(st)
}

// usedAt says it of the file system in memory at a path; nothing, where it
// can't be seen or is another kind: a disk of the host's says nothing of a box.
func usedAt(path string) usage {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Type != unix.TMPFS_MAGIC {
		return usage{}
	}
	return usageOf(st)
}

func usageOf(st unix.Statfs_t) usage {
	return usage{int64(st.Blocks-st.Bfree) * st.Bsize, int64(st.Files - st.Ffree)}
}
