package cell

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/host/statefile"
	"github.com/proofreel/proofreel/internal/studio/executor"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

func openHost(t *testing.T) *Host {
	t.Helper()
	h, err := Open(Config{Dir: filepath.Join(t.TempDir(), "state"), Exe: "/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// A state directory that others can write would let them choose what is bound
// into boxes.
func TestStateDirIsOurs(t *testing.T) {
	for name, build := range map[string]func(dir string) error{
		"writable by all": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"a link":          func(dir string) error { return errors.Join(os.Mkdir(dir+"2", 0o700), os.Symlink(dir+"2", dir)) },
		"a file":          func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		dir := filepath.Join(t.TempDir(), "state")
		if err := build(dir); err != nil {
			t.Fatal(err)
		}
		if h, err := Open(Config{Dir: dir}); !errors.Is(err, executor.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
			_ = h.Close()
		}
	}
}

// Two boxes under one user could trace each other.
func TestUsersAreNotShared(t *testing.T) {
	h := openHost(t)
	seen := map[int]bool{}
	var held []*user
	for range 5 {
		u, err := h.takeUser()
		if err != nil {
			t.Fatal(err)
		}
		if seen[u.id] || u.id < firstUser {
			t.Errorf("user %d again", u.id)
		}
		seen[u.id] = true
		held = append(held, u)
	}
	held[2].free()
	u, err := h.takeUser()
	if err != nil || u.id != held[2].id {
		t.Errorf("a freed user is not taken again: %+v, %v", u, err)
	}
}

// Reaping must hit nobody but what a dead server's box left: not the boxes of
// one that lives, and no process that has a dead one's number.
func TestReap(t *testing.T) {
	h := openHost(t)
	child, err := h.spawner.Start(proc.Command{Role: "test", Path: "/bin/sleep", Args: []string{"600"}})
	if err != nil {
		t.Fatal(err)
	}
	dead := proc.Identity{PID: child.PID, Start: child.Start + 1, Boot: child.Boot}
	write := func(id string, s state) {
		t.Helper()
		dir := filepath.Join(h.boxesDir(), id)
		if err := errors.Join(os.Mkdir(dir, 0o700), statefile.WriteVolatile(filepath.Join(dir, stateName), s)); err != nil {
			t.Fatal(err)
		}
	}
	ns, err := proc.PIDNamespace(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	write("living", state{ID: "living", Server: h.self, Process: child.Identity})
	write("recycled", state{ID: "recycled", Server: dead, Process: dead, First: dead, Namespace: ns, Cgroup: "../.."})
	for _, name := range []string{"young", "old"} {
		if err := os.Mkdir(filepath.Join(h.boxesDir(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(h.boxesDir(), "old"), past, past); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Reap(t.Context()); err != nil || n != 2 {
		t.Errorf("reaped %d, %v", n, err)
	}
	for name, want := range map[string]bool{"living": true, "young": true, "recycled": false, "old": false} {
		if _, err := os.Stat(filepath.Join(h.boxesDir(), name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !child.Alive() {
		t.Error("reaping hit a process that it did not mean")
	}
	write("orphan", state{ID: "orphan", Server: dead, Process: child.Identity})
	if n, err := h.Reap(t.Context()); err != nil || n != 1 || child.Alive() {
		t.Errorf("reaped %d, %v; alive is %v", n, err, child.Alive())
	}
}

// lateFailure is a backend whose box can't be written down any more once its
// process was forked: a directory that is not empty has the document's name.
type lateFailure struct{}

func (lateFailure) Name() string { return "late" }

func (lateFailure) Plan(l *Launch) error {
	l.Argv = []string{"/bin/sleep", "600", l.ID}
	state := filepath.Join(l.Dir, stateName)
	return errors.Join(os.Remove(state), os.MkdirAll(filepath.Join(state, "x"), 0o700))
}

// A start that fails between the fork and the reading of the output must give
// up like any other: it waited for a reader that nobody had started.
func TestStartFailsAfterFork(t *testing.T) {
	h := openHost(t)
	failed := make(chan error, 1)
	go func() {
		_, err := h.Start(t.Context(), lateFailure{}, Ours, sandbox.Spec{JobID: "late", Argv: []string{"/bin/true"}})
		failed <- err
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, executor.ErrStart) {
			t.Errorf("%v", err)
		}
	case <-time.After(2 * patience):
		t.Fatal("the start neither fails nor ends")
	}
	if left, err := os.ReadDir(h.boxesDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if n := len(proc.Descendants(h.self)); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}

// The work directory's limit is the kernel's, and it is gone with its last
// descriptor.
func TestWork(t *testing.T) {
	if os.Getuid() != 0 {
		return // an ordinary user's boxes have bubblewrap's
	}
	dir, mount, err := newWork(1<<20, 1234)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(dir.Close(), mount.Close()) }()
	st, err := dir.Stat()
	if err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", st, err)
	}
	var raw unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &raw); err != nil || raw.Uid != 1234 || raw.Gid != 1234 {
		t.Errorf("owner %d:%d, %v", raw.Uid, raw.Gid, err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &fs); err != nil || int64(fs.Blocks)*fs.Bsize != 1<<20 || used(dir).bytes != 0 {
		t.Errorf("%d bytes, %d used, %v", int64(fs.Blocks)*fs.Bsize, used(dir).bytes, err)
	}
}
