package entry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// StageDir is where, in a mount namespace of its own, Stage lays out what a
// box is made of. It lies over the host's /run, whose sockets are hidden from
// the backend by that. The path is the same for every box: it can be seen
// inside and says nothing.
const StageDir = "/run"

// StageDoc is the order that Stage reads from descriptor DocFD.
type StageDoc struct {
	User   int         `json:"user"` // whom to become; 0: stay root
	Dirs   []string    `json:"dirs"` // made in StageDir, in this order
	Links  [][2]string `json:"links"`
	Files  []StageFile `json:"files"`
	Mounts []StageBind `json:"mounts"`
	Work   string      `json:"work"` // where in StageDir the mount of descriptor WorkFD goes
	Keep   []int       `json:"keep"` // descriptors that the program gets
	Argv   []string    `json:"argv"`
	Env    []string    `json:"env"`
}

// StageFile is written into StageDir.
type StageFile struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// StageBind is something of the host's that is seen in StageDir.
type StageBind struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Socket bool   `json:"socket"` // it must be a unix socket
}

// The descriptors that Stage is started with.
const (
	DocFD   = 3
	WorkFD  = 4
	FirstFD = 5 // of those in Keep
)

// Stage lays the box's parts out and becomes the backend's program, under the
// box's own user. It does not return but with an error. The order comes
// through a pipe whose other end waits until this process is in its control
// groups.
func Stage() error {
	// Namespaces and users belong to threads here; exec makes this thread's
	// the program's.
	runtime.LockOSThread()
	var doc StageDoc
	if err := decode(os.NewFile(DocFD, "order"), &doc); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	// Nothing that is mounted here is seen outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	unix.Umask(0o022)
	if err := doc.layOut(); err != nil {
		return err
	}
	if err := keepOnly(doc.Keep); err != nil {
		return err
	}
	if err := become(doc.User); err != nil {
		return err
	}
	return exec(doc.Argv, doc.Env)
}

// layOut takes hold of every source first: StageDir may hide them.
func (d *StageDoc) layOut() error {
	trees := make([]int, len(d.Mounts))
	for i, m := range d.Mounts {
		fd, err := take(m)
		if err != nil {
			return err
		}
		trees[i] = fd
	}
	if err := unix.Mount("box", StageDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64m,nr_inodes=20k,mode=0755"); err != nil {
		return fmt.Errorf("mount the stage: %w", err)
	}
	for _, dir := range d.Dirs {
		if err := os.MkdirAll(in(dir), 0o755); err != nil { //nolint:gosec // the box's user walks through
			return fmt.Errorf("lay out: %w", err)
		}
	}
	for _, l := range d.Links {
		if err := os.Symlink(l[0], in(l[1])); err != nil {
			return fmt.Errorf("lay out: %w", err)
		}
	}
	for _, f := range d.Files {
		if err := os.WriteFile(in(f.Path), f.Data, 0o644); err != nil { //nolint:gosec // the box's user reads it
			return fmt.Errorf("lay out: %w", err)
		}
	}
	for i, m := range d.Mounts {
		if err := attach(trees[i], in(m.Path)); err != nil {
			return err
		}
	}
	if d.Work == "" {
		return nil
	}
	if err := os.MkdirAll(in(d.Work), 0o755); err != nil { //nolint:gosec // as above
		return fmt.Errorf("lay out: %w", err)
	}
	if err := unix.MoveMount(WorkFD, "", unix.AT_FDCWD, in(d.Work), unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach the work directory: %w", err)
	}
	return nil
}

func in(path string) string { return filepath.Join(StageDir, filepath.Clean("/"+path)) }

// take opens a copy of what is at the source. No link is followed at its end:
// what was asked for is what is shown.
func take(m StageBind) (int, error) {
	var st unix.Stat_t
	if err := unix.Lstat(m.Source, &st); err != nil {
		return -1, fmt.Errorf("look at %s: %w", m.Source, err)
	}
	kind := st.Mode & unix.S_IFMT
	if m.Socket && kind != unix.S_IFSOCK || !m.Socket && kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return -1, fmt.Errorf("%s is not what can be shown in a box", m.Source)
	}
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_SYMLINK_NOFOLLOW)
	if kind == unix.S_IFDIR {
		flags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, m.Source, flags)
	if err != nil {
		return -1, fmt.Errorf("take %s: %w", m.Source, err)
	}
	return fd, nil
}

func attach(tree int, at string) error {
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return fmt.Errorf("look at what goes to %s: %w", at, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.MkdirAll(at, 0o755); err != nil { //nolint:gosec // as above
			return fmt.Errorf("lay out: %w", err)
		}
	} else {
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // as above
			return fmt.Errorf("lay out: %w", err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("lay out: %w", err)
		}
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach %s: %w", at, err)
	}
	return nil
}

// become gives up root for good: no groups, no capabilities, and nothing that
// is executed from now on can bring them back.
func become(user int) error {
	if user == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renounce privileges: %w", err)
	}
	parent := os.Getppid()
	// The raw calls: each is of this thread alone.
	for _, c := range []struct {
		what       string
		number     uintptr
		a1, a2, a3 uintptr
	}{
		{"groups", unix.SYS_SETGROUPS, 0, 0, 0},
		{"group", unix.SYS_SETRESGID, uintptr(user), uintptr(user), uintptr(user)},
		{"user", unix.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)},
	} {
		if _, _, errno := unix.RawSyscall(c.number, c.a1, c.a2, c.a3); errno != 0 {
			return fmt.Errorf("change %s to %d: %w", c.what, user, errno)
		}
	}
	// A change of user cancels it (prctl(2)).
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the parent: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the server died meanwhile")
	}
	return nil
}
