package workflow_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
)

// A disk that is full where jobs are kept is told as what it is, and nobody is
// asked anything.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in a mount namespace (needs unprivileged user namespaces, or run as root): %v\n%s", err, out)
		}
		return
	}
	up, sent := scripted(t, nil)
	box := &noBox{}
	dir, err := os.MkdirTemp("", "wf-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount a tmpfs: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	b := openBench(t, dir, up, box)
	if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	_, err = b.run(t.Context(), order(t.TempDir()), nil)
	if fault.As(err).Code != fault.DiskFull || len(sent.Seen()) > 0 || len(box.specs) > 0 {
		t.Errorf("%v, %d calls, %d boxes", err, len(sent.Seen()), len(box.specs))
	}
	b.checkGone(t)
}
