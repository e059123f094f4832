package exit

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a hijacked agent may leave in the place of a file. Each case starts
// with a good file there, which is the control.
func TestCollectRefuses(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	writeFile(t, secret, []byte("secret"))
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, dir, file string)
		reason Reason
	}{
		{"good file", func(*testing.T, string, string) {}, ""},
		{"missing", func(t *testing.T, _, file string) { check(t, os.Remove(file)) }, Missing},
		{"folder is missing", func(t *testing.T, dir, _ string) { check(t, os.RemoveAll(filepath.Join(dir, "out"))) }, Missing},
		{"folder is a file", func(t *testing.T, dir, _ string) {
			check(t, os.RemoveAll(filepath.Join(dir, "out")))
			writeFile(t, filepath.Join(dir, "out"), nil)
		}, Missing},
		{"link to a file outside", replaceBy(func(file string) error { return os.Symlink(secret, file) }), Link},
		{"link to a file inside", replaceBy(func(file string) error {
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "x"), []byte("x"), 0o644); err != nil {
				return err
			}
			return os.Symlink("x", file)
		}), Link},
		{"link to nothing", replaceBy(func(file string) error { return os.Symlink("nowhere", file) }), Link},
		{"link to itself", replaceBy(func(file string) error { return os.Symlink(filepath.Base(file), file) }), Link},
		{"link to the kernel", replaceBy(func(file string) error { return os.Symlink("/proc/self/environ", file) }), Link},
		{"folder is a link outside", func(t *testing.T, dir, _ string) {
			check(t, os.RemoveAll(filepath.Join(dir, "out")))
			other := t.TempDir()
			writeFile(t, filepath.Join(other, "final.mp4"), []byte("secret"))
			check(t, os.Symlink(other, filepath.Join(dir, "out")))
		}, Link},
		{"folder is a link inside", func(t *testing.T, dir, _ string) {
			check(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "real")))
			check(t, os.Symlink("real", filepath.Join(dir, "out")))
		}, Link},
		{"folder", replaceBy(func(file string) error { return os.Mkdir(file, 0o755) }), NotRegular},
		{"FIFO", replaceBy(func(file string) error { return unix.Mkfifo(file, 0o644) }), NotRegular},
		{"socket", replaceBy(func(file string) error {
			l, err := net.Listen("unix", file)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		}), NotRegular},
		{"device", replaceBy(func(file string) error { return unix.Mknod(file, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) }), NotRegular},
		{"hard link", func(t *testing.T, dir, file string) { check(t, os.Link(file, filepath.Join(dir, "second"))) }, Link},
		{"set-user-ID", func(t *testing.T, _, file string) { check(t, os.Chmod(file, 0o755|os.ModeSetuid)) }, FileMode},
		{"set-group-ID", func(t *testing.T, _, file string) { check(t, os.Chmod(file, 0o755|os.ModeSetgid)) }, FileMode},
		{"sticky", func(t *testing.T, _, file string) { check(t, os.Chmod(file, 0o644|os.ModeSticky)) }, FileMode},
		{"sparse, 1 TB", func(t *testing.T, _, file string) { check(t, os.Truncate(file, 1<<40)) }, Sparse},
		{"sparse, small", func(t *testing.T, _, file string) { check(t, os.Truncate(file, 1<<20)) }, Sparse},
		{"empty", func(t *testing.T, _, file string) { check(t, os.Truncate(file, 0)) }, TooLarge},
		{"too large", func(t *testing.T, _, file string) { writeFile(t, file, bytes.Repeat([]byte("x"), 1<<20+1)) }, TooLarge},
		{"as large as allowed", func(t *testing.T, _, file string) { writeFile(t, file, bytes.Repeat([]byte("x"), 1<<20)) }, ""},
		{"name with a newline beside it", func(t *testing.T, dir, _ string) { writeFile(t, filepath.Join(dir, "out", "final.mp4\n"), nil) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			work, dir := workDir(t, []byte("good"), nil)
			c.make(t, dir, filepath.Join(dir, FilmName))
			var got bytes.Buffer
			n, err := collectWithin(t, source{dir: work, owner: ownUID()}, &got)
			if r := reasonOf(t, err); r != c.reason {
				t.Errorf("got %q (%v), want %q", r, err, c.reason)
			}
			if err != nil {
				if got.Len() != 0 {
					t.Errorf("%d bytes were copied of a file that is refused", got.Len())
				}
				return // it may be a FIFO: reading it would wait
			}
			if want := readFile(t, filepath.Join(dir, FilmName)); int(n) != got.Len() || !bytes.Equal(got.Bytes(), want) {
				t.Error("the copy is not the file")
			}
		})
	}
}

func replaceBy(with func(file string) error) func(t *testing.T, dir, file string) {
	return func(t *testing.T, _, file string) {
		t.Helper()
		check(t, os.Remove(file))
		if err := with(file); err != nil {
			t.Fatalf("make it: %v (this test must run as root)", err)
		}
	}
}

// collectWithin fails when collect hangs, as opening a FIFO would.
func collectWithin(t *testing.T, s source, dst *bytes.Buffer) (n int64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = s.collect(Film, FilmName, 1<<20, dst)
	}()
	select {
	case <-done:
		return n, err
	case <-ctx.Done():
		t.Fatal("collect hangs")
		return 0, nil
	}
}

// A file of somebody else's, such as one that the agent could only link to.
func TestCollectRefusesAnotherOwner(t *testing.T) {
	work, dir := workDir(t, []byte("good"), nil)
	_, err := source{dir: work, owner: ownUID() + 1}.collect(Film, FilmName, 1<<20, &bytes.Buffer{})
	if got := reasonOf(t, err); got != Owner {
		t.Errorf("got %q", got)
	}
	check(t, os.Chown(filepath.Join(dir, FilmName), 2001, 2001)) // needs root, as CI has it
	_, err = source{dir: work, owner: 2001}.collect(Film, FilmName, 1<<20, &bytes.Buffer{})
	check(t, err)
}

// A path may not leave the work directory, nor its file system.
func TestCollectStaysInside(t *testing.T) {
	outer := t.TempDir()
	work := filepath.Join(outer, "work")
	check(t, os.MkdirAll(filepath.Join(work, "out"), 0o755))
	writeFile(t, filepath.Join(outer, "secret"), []byte("secret"))
	dir, err := os.Open(work)
	check(t, err)
	defer dir.Close()
	for _, name := range []string{"../secret", "out/../../secret", filepath.Join(outer, "secret")} {
		_, err := source{dir: dir, owner: ownUID()}.collect(Film, name, 1<<20, &bytes.Buffer{})
		if got := reasonOf(t, err); got != OtherMount {
			t.Errorf("%s: got %q (%v)", strings.TrimPrefix(name, outer), got, err)
		}
	}
	// /proc is another file system below /.
	root, err := os.Open("/")
	check(t, err)
	defer root.Close()
	_, err = source{dir: root, owner: ownUID()}.collect(Film, "proc/version", 1<<20, &bytes.Buffer{})
	if got := reasonOf(t, err); got != OtherMount {
		t.Errorf("another file system: got %q (%v)", got, err)
	}
}

// meddler changes the source while it is being copied.
type meddler struct {
	bytes.Buffer
	first func()
}

func (m *meddler) Write(b []byte) (int, error) {
	if m.first != nil {
		m.first()
		m.first = nil
	}
	return m.Buffer.Write(b)
}

// Files that change while they are copied: were the box still alive, only
// what was copied would count, and a change that can be seen is refused.
func TestCollectOfAChangingFile(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	for _, c := range []struct {
		name   string
		do     func(t *testing.T, file string)
		reason Reason
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"grows", func(t *testing.T, file string) {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			check(t, err)
			_, err = f.WriteString("more")
			check(t, err)
			check(t, f.Close())
		}, Changed},
		{"shrinks", func(t *testing.T, file string) { check(t, os.Truncate(file, 100)) }, Changed},
		{"is overwritten", func(t *testing.T, file string) {
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			check(t, err)
			_, err = f.WriteAt([]byte("evil"), 400_000)
			check(t, err)
			check(t, f.Close())
		}, Changed},
		{"gets a second name", func(t *testing.T, file string) { check(t, os.Link(file, file+"2")) }, Changed},
		{"is swapped", func(t *testing.T, file string) {
			// The descriptor stays with the file that was judged; its change of
			// name counts as a change of it.
			writeFile(t, file+"2", []byte("evil"))
			check(t, os.Rename(file+"2", file))
		}, Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			work, dir := workDir(t, content, nil)
			time.Sleep(20 * time.Millisecond) // past the grain of file times
			m := &meddler{first: func() { c.do(t, filepath.Join(dir, FilmName)) }}
			_, err := source{dir: work, owner: ownUID()}.collect(Film, FilmName, 1<<20, m)
			if got := reasonOf(t, err); got != c.reason {
				t.Errorf("got %q (%v), want %q", got, err, c.reason)
			}
			if strings.Contains(m.String(), "evil") && err == nil {
				t.Error("bytes that were not judged are in the copy")
			}
		})
	}
}

// What the author is to blame for is a reason; what is wrong with us is none.
func TestOpenReasons(t *testing.T) {
	for err, want := range map[error]Reason{
		unix.ENOENT: Missing, unix.ENOTDIR: Missing, unix.ELOOP: Link, unix.EXDEV: OtherMount, unix.EACCES: FileMode,
		unix.EMFILE: "", unix.ENOSYS: "", unix.EIO: "",
	} {
		if got := openReason(err); got != want {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
