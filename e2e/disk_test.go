package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mounted runs the named test in a process that may mount file systems: this
// one when it is root's, else one with a user and a mount namespace of its
// own. It says whether the caller is to do the work.
func mounted(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return true
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("in a mount namespace (needs unprivileged user namespaces, or run as root): %v", err)
	}
	return false
}

// tmpfs mounts a small file system and makes it the box's home.
func (b *box) tmpfs(options string) string {
	b.t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", b.home).CombinedOutput(); err != nil {
		b.t.Fatalf("mount a tmpfs: %v: %s", err, out)
	}
	b.t.Cleanup(func() { _ = exec.Command("umount", "-l", b.home).Run() })
	return b.home
}

// A disk that is too full from the beginning: one clear error, nothing left.
func TestStartOnAFullDisk(t *testing.T) {
	if !mounted(t) {
		return
	}
	b := newBox(t)
	b.tmpfs("size=30m")
	a := b.call("start", "--size", "320x240", "--browser", "none", "--min-free", "200MB")
	if a.exit != 4 || a.env.Error.Code != "disk_full" || a.env.Error.Hint == "" {
		t.Errorf("exit %d: %s", a.exit, a.stderr)
	}
	if ids := b.ids(); len(ids) > 0 {
		t.Errorf("left: %v", ids)
	}
}

// A disk that fills up ends the film at the floor, while there is room to put
// it together.
func TestDiskFillsUp(t *testing.T) {
	if !mounted(t) {
		return
	}
	b := newBox(t)
	home := b.tmpfs("size=60m")
	var d startData
	b.must("start", "--size", "320x240", "--fps", "10", "--browser", "none", "--min-free", "20MB").get(t, &d)
	time.Sleep(1500 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(home, "ballast"), bytes.Repeat([]byte{1}, 45<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the recording to end by itself", func() error {
		if m := b.manifest(d.RecordingID); m.Phase != "done" {
			return fmt.Errorf("phase %s", m.Phase)
		}
		return nil
	})
	var s stopData
	b.must("stop").get(t, &s)
	if s.EndedBy != "disk_floor" || !strings.Contains(strings.Join(s.VerdictWhy, " "), "disk_floor") {
		t.Errorf("ended by %s, %s %v", s.EndedBy, s.Verdict, s.VerdictWhy)
	}
	film(t, s.Path)
	b.clean(d.RecordingID, d.Display)
}

// No byte is free when the film is to be put together: a clear error, the
// segments stay, and stop succeeds once there is room.
func TestNoRoomForTheFilm(t *testing.T) {
	if !mounted(t) {
		return
	}
	b := newBox(t)
	home := b.tmpfs("size=60m")
	var d startData
	b.must("start", "--size", "1280x720", "--fps", "10", "--browser", "none", "--min-free", "1MB").get(t, &d)
	time.Sleep(1500 * time.Millisecond)
	if err := b.manifest(d.RecordingID).Supervisor.Signal(9); err != nil { // the floor would end it in good order
		t.Fatal(err)
	}
	ballast := filepath.Join(home, "ballast")
	fill(t, ballast)
	a := b.call("stop")
	if a.exit != 4 || a.env.Error.Code != "disk_full" {
		t.Errorf("stop on a full disk: exit %d: %s", a.exit, a.stderr)
	}
	if files, _ := filepath.Glob(b.path(d.RecordingID, "segments", "*.mp4")); len(files) == 0 {
		t.Error("the segments are gone")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	var s stopData
	b.must("stop", d.RecordingID).get(t, &s)
	film(t, s.Path)
	b.clean(d.RecordingID, d.Display)
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, size := range []int{1 << 20, 4096, 1} {
		chunk := bytes.Repeat([]byte{1}, size)
		for {
			if _, err := f.Write(chunk); err != nil {
				break
			}
		}
	}
}

// A state directory that can't be written: one clear error and no effect.
func TestReadOnlyState(t *testing.T) {
	if !mounted(t) {
		return
	}
	b := newBox(t)
	b.tmpfs("size=1m,ro")
	for _, args := range [][]string{{"start", "--browser", "none"}, {"doctor"}} {
		a := b.call(args...)
		if a.exit != 4 || a.env.Error.Hint == "" {
			t.Errorf("%v: exit %d: %s", args, a.exit, a.stderr)
		}
	}
	b.must("list")
	if a := b.call("stop"); a.exit != 20 {
		t.Errorf("stop: exit %d: %s", a.exit, a.stderr)
	}
}
