package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNoCgroups says that this process can make no control group that limits.
var ErrNoCgroups = errors.New("no control groups")

// CgroupTree is where this process may make control groups: in v1 hierarchies,
// in the v2 one, or (on machines in hybrid mode) limits in v1 and the kill
// switch in v2. Groups are made below the group that the process is in, so
// that they never escape a limit which was put on it.
type CgroupTree struct {
	v1   map[string]string // controller → directory
	v2   string            // directory; empty: none
	full bool              // v2 has the controllers
}

// limiting are the controllers that limits need.
func limiting() []string { return []string{"memory", "pids", "cpu"} }

// FindCgroups looks where groups can be made. proc and sys are usually /proc
// and "" (a prefix for the mount points that proc names); tests give trees of
// their own. The error wraps ErrNoCgroups when limits can't be had.
func FindCgroups(proc, sys string) (*CgroupTree, error) {
	mounts, err := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCgroups, err)
	}
	own, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCgroups, err)
	}
	paths := ownCgroups(own)
	t := &CgroupTree{v1: map[string]string{}}
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		b, a := strings.Fields(before), strings.Fields(after)
		if !ok || len(b) < 5 || len(a) < 3 {
			continue
		}
		root, at := b[3], sys+unescapeMount(b[4])
		switch a[0] {
		case "cgroup2":
			if p, ok := paths[""]; ok {
				t.v2 = filepath.Join(at, below(p, root))
			}
		case "cgroup":
			for _, c := range strings.Split(a[2], ",") {
				if p, ok := paths[c]; ok {
					t.v1[c] = filepath.Join(at, below(p, root))
				}
			}
		}
	}
	return t, t.settle()
}

// settle finds out which of the two kinds carries the limits, and whether
// groups can be made.
func (t *CgroupTree) settle() error {
	for _, c := range limiting() {
		dir, ok := t.v1[c]
		if !ok {
			return t.settleV2()
		}
		if err := unix.Access(dir, unix.W_OK); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrNoCgroups, dir, err)
		}
	}
	if t.v2 != "" && unix.Access(t.v2, unix.W_OK) != nil {
		t.v2 = "" // then the freezer is the kill switch
	}
	return nil
}

// settleV2 switches the controllers on for groups below ours. A group that
// holds processes can't have such children (unless it is the root), so the
// parent is tried next: that is what systemd's DelegateSubgroup= sets up.
func (t *CgroupTree) settleV2() error {
	if t.v2 == "" {
		return fmt.Errorf("%w: neither hierarchy has memory, pids and cpu", ErrNoCgroups)
	}
	t.v1 = nil
	var errs []error
	for _, dir := range []string{t.v2, filepath.Dir(t.v2)} {
		err := enableControllers(dir)
		if err == nil {
			t.v2, t.full = dir, true
			return nil
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("%w: %w", ErrNoCgroups, errors.Join(errs...))
}

func enableControllers(dir string) error {
	on, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	for _, c := range limiting() {
		if hasWord(on, c) {
			continue
		}
		if err := writeFile(dir, "cgroup.subtree_control", "+"+c); err != nil {
			return err
		}
	}
	return nil
}

func hasWord(list []byte, word string) bool {
	for _, w := range bytes.Fields(list) {
		if string(w) == word {
			return true
		}
	}
	return false
}

// ownCgroups reads /proc/self/cgroup: controller → path; "" is v2's.
func ownCgroups(raw []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, c := range strings.Split(f[1], ",") {
			out[c] = f[2]
		}
	}
	return out
}

// below gives a group's path under a mount whose root is another group.
func below(path, root string) string {
	if root == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, root); ok {
		return rest
	}
	return "/" // of a namespace that is not ours: its root is all we see
}

// unescapeMount undoes the octal escapes of mountinfo (proc(5)).
func unescapeMount(s string) string {
	r := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return r.Replace(s)
}

// Kind says in a word what the limits are made of: "cgroup v1" or "cgroup v2".
func (t *CgroupTree) Kind() string {
	if t.full {
		return "cgroup v2"
	}
	return "cgroup v1"
}

// dirs gives the directories that a group of this name has, by controller;
// "" is v2's.
func (t *CgroupTree) dirs(name string) map[string]string {
	out := map[string]string{}
	for _, c := range append(limiting(), "freezer") {
		if d, ok := t.v1[c]; ok {
			out[c] = filepath.Join(d, name)
		}
	}
	if t.v2 != "" {
		out[""] = filepath.Join(t.v2, name)
	}
	return out
}

// List names the groups that were made here and whose names begin so.
func (t *CgroupTree) List(prefix string) []string {
	seen := map[string]bool{}
	var out []string
	for _, dir := range t.dirs("") {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if n := e.Name(); e.IsDir() && strings.HasPrefix(n, prefix) && !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}

// CgroupLimits bound a group. Zero: no limit.
type CgroupLimits struct {
	Memory int64   // bytes, swap included
	Pids   int64   // processes and threads
	CPU    float64 // processors
}

// Cgroup is a control group that was made here.
type Cgroup struct {
	Name string
	tree *CgroupTree
	dirs map[string]string
}

// Make makes a group. On an error nothing is left.
func (t *CgroupTree) Make(name string, l CgroupLimits) (*Cgroup, error) {
	g := t.Group(name)
	for _, dir := range g.dirs {
		if err := unix.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make control group %s: %w", dir, err), g.removeDirs())
		}
	}
	if err := g.limit(l); err != nil {
		return nil, errors.Join(fmt.Errorf("limit control group: %w", err), g.removeDirs())
	}
	return g, nil
}

// Group gives a group that was made earlier, perhaps by another process.
func (t *CgroupTree) Group(name string) *Cgroup {
	return &Cgroup{Name: name, tree: t, dirs: t.dirs(name)}
}

func (g *Cgroup) limit(l CgroupLimits) error {
	const period = 100_000 // µs
	quota := strconv.FormatInt(int64(l.CPU*period), 10)
	if g.tree.full {
		return g.limitV2(l, quota+" "+strconv.Itoa(period))
	}
	var errs []error
	if l.Memory > 0 {
		errs = append(errs, writeFile(g.dirs["memory"], "memory.limit_in_bytes", strconv.FormatInt(l.Memory, 10)))
		// Kernels without swap accounting have no such file.
		if err := writeFile(g.dirs["memory"], "memory.memsw.limit_in_bytes", strconv.FormatInt(l.Memory, 10)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if l.Pids > 0 {
		errs = append(errs, writeFile(g.dirs["pids"], "pids.max", strconv.FormatInt(l.Pids, 10)))
	}
	if l.CPU > 0 {
		errs = append(errs, writeFile(g.dirs["cpu"], "cpu.cfs_period_us", strconv.Itoa(period)))
		errs = append(errs, writeFile(g.dirs["cpu"], "cpu.cfs_quota_us", quota))
	}
	return errors.Join(errs...)
}

func (g *Cgroup) limitV2(l CgroupLimits, quota string) error {
	dir := g.dirs[""]
	var errs []error
	if l.Memory > 0 {
		errs = append(errs, writeFile(dir, "memory.max", strconv.FormatInt(l.Memory, 10)))
		errs = append(errs, writeFile(dir, "memory.oom.group", "1"))
		if err := writeFile(dir, "memory.swap.max", "0"); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if l.Pids > 0 {
		errs = append(errs, writeFile(dir, "pids.max", strconv.FormatInt(l.Pids, 10)))
	}
	if l.CPU > 0 {
		errs = append(errs, writeFile(dir, "cpu.max", quota))
	}
	return errors.Join(errs...)
}

// Add moves a process into the group. What it starts from then on is in it.
func (g *Cgroup) Add(pid int) error {
	for _, dir := range g.dirs {
		if err := writeFile(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("move %d into control group: %w", pid, err)
		}
	}
	return nil
}

// Processes lists the group's processes.
func (g *Cgroup) Processes() []int {
	seen := map[int]bool{}
	var out []int
	for _, dir := range g.dirs {
		raw, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue
		}
		s := bufio.NewScanner(bytes.NewReader(raw))
		for s.Scan() {
			if pid, err := strconv.Atoi(s.Text()); err == nil && pid > 0 && !seen[pid] {
				seen[pid] = true
				out = append(out, pid)
			}
		}
	}
	return out
}

// Kill sends SIGKILL to every process of the group again and again until none
// is left or ctx ends. Nothing that runs in the group can prevent it: v2 kills
// at one stroke; in v1 the group is frozen first, so that nothing forks away.
func (g *Cgroup) Kill(ctx context.Context) error {
	for {
		g.strike()
		if len(g.Processes()) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kill control group %s, %d processes left: %w", g.Name, len(g.Processes()), ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (g *Cgroup) strike() {
	if dir, ok := g.dirs[""]; ok && writeFile(dir, "cgroup.kill", "1") == nil {
		return
	}
	freezer, ok := g.dirs["freezer"]
	if ok {
		_ = writeFile(freezer, "freezer.state", "FROZEN")
	}
	for _, pid := range g.Processes() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if ok {
		_ = writeFile(freezer, "freezer.state", "THAWED") // a frozen process does not die
	}
}

// Remove removes the group; its processes must be gone.
func (g *Cgroup) Remove(ctx context.Context) error {
	for {
		err := g.removeDirs()
		if err == nil {
			return nil
		}
		select { // the kernel lets go of a group a moment after its last process
		case <-ctx.Done():
			return fmt.Errorf("remove control group %s: %w", g.Name, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (g *Cgroup) removeDirs() error {
	var errs []error
	for _, dir := range g.dirs {
		if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// CgroupUsage is what a group has used so far. Zero: not known.
type CgroupUsage struct {
	MemoryPeak int64 // bytes
	OOMKills   int64 // processes that were killed because the memory limit was met
	PidsDenied int64 // forks that were refused
	CPU        time.Duration
}

// Usage reads what the group has used. What can't be read is zero.
func (g *Cgroup) Usage() CgroupUsage {
	if g.tree.full {
		dir := g.dirs[""]
		return CgroupUsage{
			MemoryPeak: number(dir, "memory.peak", ""), OOMKills: number(dir, "memory.events", "oom_kill"),
			PidsDenied: number(dir, "pids.events", "max"), CPU: time.Duration(number(dir, "cpu.stat", "usage_usec")) * time.Microsecond,
		}
	}
	return CgroupUsage{
		MemoryPeak: number(g.dirs["memory"], "memory.max_usage_in_bytes", ""), OOMKills: number(g.dirs["memory"], "memory.oom_control", "oom_kill"),
		PidsDenied: number(g.dirs["pids"], "pids.events", "max"),
	}
}

// number reads a file that is a number, or the number behind a key.
func number(dir, file, key string) int64 {
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line)
		if key == "" && len(f) == 1 || len(f) == 2 && f[0] == key {
			n, _ := strconv.ParseInt(f[len(f)-1], 10, 64)
			return n
		}
	}
	return 0
}

// writeFile writes into a file that the kernel made.
func writeFile(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %q to %s: %w", value, name, err)
	}
	return nil
}
