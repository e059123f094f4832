package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// account is a control group that counts the CPU time of all that runs in it,
// whoever reaped it: what a browser's helpers used is lost to wait4(2) when
// their parent was killed before it reaped them.
type account struct {
	dir  string
	read func(dir string) (time.Duration, error)
}

// openAccount makes a group and moves this process into it. Where none can be
// made the error says so; the caller then counts what was waited for.
func openAccount() (*account, error) {
	for root, read := range map[string]func(string) (time.Duration, error){
		"/sys/fs/cgroup/cpuacct": usageV1,
		"/sys/fs/cgroup":         usageV2,
	} {
		a := &account{dir: filepath.Join(root, fmt.Sprintf("bench-render-%d", os.Getpid())), read: read}
		if os.Mkdir(a.dir, 0o755) != nil {
			continue
		}
		err := os.WriteFile(filepath.Join(a.dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o600)
		if err == nil {
			_, err = read(a.dir)
		}
		if err == nil {
			return a, nil
		}
		a.close()
	}
	return nil, errors.New("no control group can be made here")
}

// used is the CPU time of the group but for that of this process.
func (a *account) used() (time.Duration, error) {
	all, err := a.read(a.dir)
	if err != nil {
		return 0, err
	}
	own, err := rusage(unix.RUSAGE_SELF)
	return all - own, err
}

// close leaves the group and removes it.
func (a *account) close() {
	_ = os.WriteFile(filepath.Join(filepath.Dir(a.dir), "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Remove(a.dir)
}

// usageV1 reads cpuacct.usage, in nanoseconds.
func usageV1(dir string) (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "cpuacct.usage"))
	if err != nil {
		return 0, fmt.Errorf("read the group's CPU time: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the group's CPU time: %w", err)
	}
	return time.Duration(n), nil
}

// usageV2 reads usage_usec of cpu.stat, which every group of version 2 has.
func usageV2(dir string) (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return 0, fmt.Errorf("read the group's CPU time: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if v, ok := strings.CutPrefix(line, "usage_usec "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the group's CPU time: %w", err)
			}
			return time.Duration(n) * time.Microsecond, nil
		}
	}
	return 0, errors.New("the group's cpu.stat has no usage_usec")
}

func rusage(who int) (time.Duration, error) {
	var use unix.Rusage
	if err := unix.Getrusage(who, &use); err != nil {
		return 0, fmt.Errorf("ask what was used: %w", err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), nil
}
