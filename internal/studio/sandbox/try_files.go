package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func fileCases() []Case {
	own := func(path func(Targets) string) func(Targets) (bool, string) {
		return func(t Targets) (bool, string) { return readsWord(path(t), t.Word) }
	}
	all := []Case{
		{ID: "file-secret", Group: "file", What: "a file of the host's by its path", Control: ControlMust, try: own(func(t Targets) string { return t.Secret })},
		{ID: "file-other-job", Group: "file", What: "another job's file", Control: ControlMust, try: own(func(t Targets) string { return t.OtherJob })},
		{ID: "file-proc-root", Group: "file", What: "the same by /proc/1/root", try: own(func(t Targets) string { return "/proc/1/root" + t.Secret })},
		{ID: "file-proc-cwd", Group: "file", What: "the same by /proc/1/cwd", try: own(func(t Targets) string { return "/proc/1/cwd" + t.Secret })},
		{ID: "file-dotdot", Group: "file", What: "the same by more dots than there are directories", try: own(func(t Targets) string {
			return strings.Repeat("/..", 40) + t.Secret
		})},
		{ID: "file-oldroot", Group: "file", What: "the root that was there before", try: func(Targets) (bool, string) {
			return anyThere("/oldroot", "/newroot", "/.oldroot", "/.pivot_root", "/host", "/rootfs")
		}},
		{ID: "file-setuid", Group: "file", What: "rights from a set-user-ID program", Control: ControlSeen, try: func(Targets) (bool, string) {
			v, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			return err == nil && v == 0, fmt.Sprintf("no_new_privs is %d", v)
		}},
		{ID: "file-devices", Group: "file", What: "a device beside null, zero, full, random, urandom, tty", Control: ControlSeen, try: tryDevices},
		{ID: "file-dev-fuse", Group: "file", What: "a file system served by a program", Guest: true, Control: ControlSeen, try: func(Targets) (bool, string) { return anyThere("/dev/fuse") }},
		{ID: "file-dev-tun", Group: "file", What: "making network interfaces", Guest: true, Control: ControlSeen, try: func(Targets) (bool, string) { return anyThere("/dev/net/tun") }},
		{ID: "file-mknod", Group: "file", What: "making a device", try: func(Targets) (bool, string) {
			path := filepath.Join(WorkDir, "device")
			err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(1, 0)))
			if err == nil {
				_ = os.Remove(path)
				return true, "made"
			}
			return false, err.Error()
		}},
	}
	for _, p := range []string{"/etc/shadow", "/etc/sudoers", "/root", "/home", "/var/lib", "/var/log", "/boot", "/mnt", "/srv", "/opt", "/sys/kernel", "/proc/kcore", "/proc/kmsg", "/usr/src", "/usr/local/lib", "/run/secrets", "/var/run/secrets"} {
		all = append(all, Case{ID: "read" + strings.ReplaceAll(p, "/", "-"), Group: "file", What: "reading " + p, Control: ControlSeen, try: func(Targets) (bool, string) { return readable(p) }})
	}
	for _, p := range []string{"/usr/bin", "/usr/lib", "/etc", "/", "/dev", "/run", RunDir, "/usr/local/bin", "/var"} {
		all = append(all, Case{ID: "write" + strings.TrimSuffix(strings.ReplaceAll(p, "/", "-"), "-") + slashName(p), Group: "file", What: "writing into " + p, try: func(Targets) (bool, string) {
			path := filepath.Join(p, "probe-was-here")
			err := os.WriteFile(path, nil, 0o600)
			if err == nil {
				_ = os.Remove(path)
				return true, "written"
			}
			return false, err.Error()
		}})
	}
	return all
}

func slashName(p string) string {
	if p == "/" {
		return "-root"
	}
	return ""
}

func readsWord(path, word string) (bool, string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return false, err.Error()
	}
	return strings.Contains(string(raw), word), "read"
}

// readable says whether a file gives a byte, or a directory an entry.
func readable(path string) (bool, string) {
	st, err := os.Stat(path)
	if err != nil {
		return false, err.Error()
	}
	if st.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return false, err.Error()
		}
		return len(entries) > 0, fmt.Sprintf("%d entries", len(entries))
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = unix.Close(fd) }()
	n, err := unix.Read(fd, make([]byte, 1))
	return n == 1, fmt.Sprint(n, " bytes ", err)
}

func anyThere(paths ...string) (bool, string) {
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil {
			return true, p
		}
	}
	return false, "none is there"
}

// tryDevices looks through all of /dev for what no box needs.
func tryDevices(Targets) (bool, string) {
	allowed := map[string]bool{
		"null": true, "zero": true, "full": true, "random": true, "urandom": true, "tty": true, "ptmx": true, "console": true,
		"fuse": true, "tun": true,
	} // the last two have cases of their own
	var others []string
	err := filepath.WalkDir("/dev", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be looked into is shut
		}
		if d.Type()&os.ModeDevice == 0 {
			return nil
		}
		if !allowed[d.Name()] && filepath.Dir(path) != "/dev/pts" {
			others = append(others, path)
		}
		return nil
	})
	return len(others) > 0, fmt.Sprint(strings.Join(others, " "), " ", err)
}

func kernelCases() []Case {
	writable := func(path string) func(Targets) (bool, string) {
		return func(t Targets) (bool, string) { return settable(path, t.Outside) }
	}
	var all []Case
	for _, p := range []string{
		"kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "kernel/randomize_va_space", "kernel/kptr_restrict", "kernel/yama/ptrace_scope",
		"kernel/ns_last_pid", "vm/drop_caches", "vm/overcommit_memory", "fs/binfmt_misc/register", "net/ipv4/ip_forward", "user/max_user_namespaces",
	} {
		all = append(all, Case{ID: "sysctl-" + strings.ReplaceAll(p, "/", "."), Group: "kernel", What: "setting " + p, Control: ControlSeen, try: writable("/proc/sys/" + p)})
	}
	all = append(all, []Case{
		{ID: "proc-sysrq", Group: "kernel", What: "commanding the kernel by /proc/sysrq-trigger", Control: ControlSeen, try: writable("/proc/sysrq-trigger")},
		{ID: "proc-uid-map", Group: "kernel", What: "mapping other users", try: func(Targets) (bool, string) {
			err := os.WriteFile("/proc/self/uid_map", []byte("0 0 1"), 0o600)
			return err == nil, fmt.Sprint(err)
		}},
		{ID: "proc-oom-adj", Group: "kernel", What: "escaping the out-of-memory killer", Guest: true, try: func(Targets) (bool, string) {
			err := os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0o600)
			return err == nil, fmt.Sprint(err)
		}},
		{ID: "cgroup-write", Group: "kernel", What: "changing control groups", Control: ControlSeen, try: tryCgroups},
		{ID: "keyrings", Group: "kernel", What: "other people's keys in /proc/keys", try: func(Targets) (bool, string) {
			raw, err := os.ReadFile("/proc/keys")
			return err == nil && len(raw) > 0, fmt.Sprintf("%d bytes, %v", len(raw), err)
		}},
		{ID: "sysv-shm", Group: "kernel", What: "shared memory of the host's", Control: ControlMust, try: func(t Targets) (bool, string) {
			_, err := unix.SysvShmGet(t.ShmKey, 0, 0)
			return err == nil, fmt.Sprint(err)
		}},
		{ID: "kallsyms", Group: "kernel", What: "where the kernel lies", Control: ControlSeen, try: func(Targets) (bool, string) {
			raw, err := os.ReadFile("/proc/kallsyms")
			if err != nil || len(raw) < 17 {
				return false, fmt.Sprint(err)
			}
			return strings.Trim(string(raw[:16]), "0") != "", string(raw[:16])
		}},
		{ID: "hostname", Group: "kernel", What: "the host's name", Control: ControlSeen, try: func(Targets) (bool, string) {
			name, err := os.Hostname()
			return name != Hostname, fmt.Sprint(name, " ", err)
		}},
	}...)
	return all
}

// settable says whether a setting of the kernel's can be written: what it is
// is written back. Some may be opened by everybody and written by few. Outside
// it is enough that it opens.
func settable(path string, outside bool) (bool, string) {
	now, _ := os.ReadFile(path)
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = unix.Close(fd) }()
	if outside || len(now) == 0 {
		return true, "opened for writing"
	}
	if _, err := unix.Write(fd, now); err != nil {
		return false, "opened, " + err.Error()
	}
	return true, "written"
}

func tryCgroups(Targets) (bool, string) {
	found := ""
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil || found != "" {
			return filepath.SkipAll
		}
		if d.Name() == "cgroup.procs" && unix.Access(path, unix.W_OK) == nil {
			found = path
		}
		return nil
	})
	return found != "", found
}
