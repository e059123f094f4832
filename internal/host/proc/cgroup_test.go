package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeTree writes a machine's files: those that proc would show, and the
// directories and files that cgroupfs would have.
func fakeTree(t *testing.T, mountinfo, own string, files map[string]string) (proc, sys string) {
	t.Helper()
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/mountinfo", mountinfo)
	write("proc/self/cgroup", own)
	for path, text := range files {
		write(path, text)
	}
	return filepath.Join(root, "proc"), root
}

const (
	v1Mounts = `30 24 0:26 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
31 24 0:27 / /cg/memory rw - cgroup cgroup rw,memory
32 24 0:28 /outer /cg/pids rw - cgroup cgroup rw,pids
33 24 0:29 / /cg/freezer rw - cgroup cgroup rw,freezer
34 24 0:30 / /cg/unified rw - cgroup2 cgroup2 rw
`
	v1Own    = "5:cpu,cpuacct:/\n4:memory:/svc\n3:pids:/outer/svc\n2:freezer:/\n0::/\n"
	v2Mounts = "30 24 0:26 / /cg\\040two rw shared:4 - cgroup2 cgroup2 rw\n"
)

// Groups must be made below our own: at the root they would escape what was
// put on us.
func TestFindCgroups(t *testing.T) {
	tests := []struct {
		name, mounts, own string
		files             map[string]string
		want              map[string]string // controller → directory below the tree
		kind              string
		fails             bool
	}{
		{
			name: "hybrid", mounts: v1Mounts, own: v1Own, kind: "cgroup v1",
			files: map[string]string{"cg/cpu,cpuacct/tasks": "", "cg/memory/svc/tasks": "", "cg/pids/svc/tasks": "", "cg/freezer/tasks": "", "cg/unified/cgroup.procs": ""},
			want: map[string]string{
				"memory": "cg/memory/svc/g", "pids": "cg/pids/svc/g", "cpu": "cg/cpu,cpuacct/g", "freezer": "cg/freezer/g", "": "cg/unified/g",
			},
		},
		{
			name: "v2", mounts: v2Mounts, own: "0::/a/b\n", kind: "cgroup v2",
			files: map[string]string{"cg two/a/b/cgroup.subtree_control": "cpu memory pids\n"},
			want:  map[string]string{"": "cg two/a/b/g"},
		},
		{
			name: "v2, the parent is delegated", mounts: v2Mounts, own: "0::/a/b\n", kind: "cgroup v2",
			files: map[string]string{"cg two/a/cgroup.subtree_control": "cpu memory pids\n", "cg two/a/b/cgroup.procs": ""},
			want:  map[string]string{"": "cg two/a/g"},
		},
		{name: "v2, nothing is delegated", mounts: v2Mounts, own: "0::/a/b\n", fails: true},
		{name: "none", own: "0::/\n", fails: true},
		{name: "nonsense", mounts: "x\n - \n1 2 3 4 5 - cgroup\n", own: ":::\nx\n", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			proc, sys := fakeTree(t, tt.mounts, tt.own, tt.files)
			tree, err := FindCgroups(proc, sys)
			if tt.fails {
				if !errors.Is(err, ErrNoCgroups) {
					t.Errorf("err = %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for c, d := range tt.want {
				want[c] = filepath.Join(sys, d)
			}
			if diff := cmp.Diff(want, tree.dirs("g")); diff != "" {
				t.Error(diff)
			}
			if tree.Kind() != tt.kind {
				t.Errorf("kind %q", tree.Kind())
			}
		})
	}
}

// A limit that was not written is none; a group that could not be limited
// must not stay.
func TestLimitsAreWritten(t *testing.T) {
	proc, sys := fakeTree(t, v2Mounts, "0::/\n", map[string]string{"cg two/cgroup.subtree_control": "cpu memory pids\n"})
	tree, err := FindCgroups(proc, sys)
	if err != nil {
		t.Fatal(err)
	}
	l := CgroupLimits{Memory: 1 << 20, Pids: 7, CPU: 1.5}
	// A new directory of a plain file system has none of the kernel's files.
	if _, err := tree.Make("bare", l); err == nil {
		t.Error("a group without files was limited")
	}
	if got := tree.List(""); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	dir := filepath.Join(sys, "cg two", "full")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"memory.max": "1048576", "memory.oom.group": "1", "memory.swap.max": "0", "pids.max": "7", "cpu.max": "150000 100000"}
	for name := range want {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Group("full").limit(l); err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != text {
			t.Errorf("%s holds %q, %v", name, raw, err)
		}
	}
}

// On this machine's real control groups: what runs in a group is limited by
// it, and nothing in it survives Kill, not even what forks all the time.
func TestCgroupHoldsAndKills(t *testing.T) {
	tree, err := FindCgroups("/proc", "")
	if errors.Is(err, ErrNoCgroups) && os.Getuid() != 0 {
		return // an ordinary user has none; what users get instead is tested with boxes
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("proofreel-test-%d", os.Getpid())
	g, err := tree.Make(name, CgroupLimits{Memory: 64 << 20, Pids: 20, CPU: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	defer cancel()
	t.Cleanup(func() {
		if err := errors.Join(g.Kill(ctx), g.Remove(ctx)); err != nil {
			t.Error(err)
		}
		if got := tree.List(name); len(got) > 0 {
			t.Errorf("left: %v", got)
		}
	})
	// What the kernel has taken, in its own words.
	for file, want := range map[string]string{
		"pids/pids.max": "20\n", "memory/memory.limit_in_bytes": "67108864\n", "cpu/cpu.cfs_quota_us": "50000\n",
		"/pids.max": "20\n", "/memory.max": "67108864\n", "/cpu.max": "50000 100000\n",
	} {
		controller, name := filepath.Split(file)
		dir, ok := g.dirs[strings.TrimSuffix(controller, "/")]
		if !ok || (controller == "/") != tree.full {
			continue
		}
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s holds %q, %v", file, raw, err)
		}
	}
	c := startShell(t, testSpawner(t), "trap '' TERM; read x; while :; do sleep 600 & (setsid sleep 600 &); done 2>/dev/null")
	if err := g.Add(c.PID); err != nil {
		t.Fatal(err)
	}
	if got := tree.List(name); len(got) != 1 {
		t.Errorf("listed: %v", got)
	}
	// stdin is at its end: the loop begins.
	eventually(t, "the limit on processes is met", func() bool { return g.Usage().PidsDenied > 0 })
	if n := len(g.Processes()); n > 20 {
		t.Errorf("%d processes", n)
	}
	if err := g.Kill(ctx); err != nil {
		t.Error(err)
	}
	if n := len(g.Processes()); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	<-c.Done()
}

// Who is in a namespace is found without asking it.
func TestInPIDNamespace(t *testing.T) {
	own, err := PIDNamespace(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	c := startShell(t, testSpawner(t), "exec sleep 600")
	eventually(t, "the child is found", func() bool {
		for _, id := range InPIDNamespace(own) {
			if id == c.Identity {
				return true
			}
		}
		return false
	})
	for _, id := range InPIDNamespace(own) {
		if id.PID == os.Getpid() {
			t.Error("the caller is among them")
		}
	}
	if len(InPIDNamespace(own+1)) > 0 {
		t.Error("a namespace that is none has processes")
	}
	if len(c.Below(own)) < 1 {
		t.Error("nothing is in the namespace of a process that lives")
	}
	gone := c.Identity
	gone.Start++
	if len(gone.Below(own)) > 0 || !gone.Reaped() || c.Reaped() || !(Identity{}).Reaped() {
		t.Error("a namespace's number was believed after its first process had gone")
	}
	mine := OfUser(os.Getuid())
	found := false
	for _, id := range mine {
		found = found || id == c.Identity
	}
	if !found || len(OfUser(64999)) > 0 {
		t.Error("processes of users are not told apart")
	}
	if got := ResidentBytes([]Identity{c.Identity}); got <= 0 || got > 64<<20 {
		t.Errorf("sleep holds %d bytes", got)
	}
}
