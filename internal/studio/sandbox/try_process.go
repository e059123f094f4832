package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func processCases() []Case {
	return []Case{
		{ID: "process-environ", Group: "process", What: "a host process's environment", Control: ControlMust, try: func(t Targets) (bool, string) { return findWord("environ", t.EnvWord) }},
		{ID: "process-arguments", Group: "process", What: "a host process's arguments", Control: ControlMust, try: func(t Targets) (bool, string) { return findWord("cmdline", t.EnvWord) }},
		{ID: "process-many", Group: "process", What: "more processes than a box's own", Control: ControlSeen, try: func(Targets) (bool, string) {
			pids, _ := filepath.Glob("/proc/[0-9]*")
			return len(pids) > 8, fmt.Sprintf("%d processes", len(pids))
		}},
		{ID: "process-init-environ", Group: "process", What: "something in the environment of the box's first process", Control: ControlNone, try: func(Targets) (bool, string) {
			raw, err := os.ReadFile("/proc/1/environ")
			return len(bytes.Trim(raw, "\x00")) > 0, fmt.Sprintf("%d bytes, %v", len(raw), err)
		}},
		{ID: "process-init-files", Group: "process", What: "what the box's first process has open", Control: ControlNone, try: func(Targets) (bool, string) {
			_, err := os.Readlink("/proc/1/fd/1")
			return err == nil, fmt.Sprint(err)
		}},
		{ID: "process-init-memory", Group: "process", What: "the memory of the box's first process", try: func(Targets) (bool, string) {
			f, err := os.OpenFile("/proc/1/mem", os.O_RDWR, 0)
			if err != nil {
				return false, err.Error()
			}
			// Only a mapped address would answer; that it opened is enough.
			return true, fmt.Sprint("opened ", f.Close())
		}},
		{ID: "process-inherited", Group: "process", What: "a descriptor that came from outside", Control: ControlNone, try: tryDescriptors},
		{ID: "process-capabilities", Group: "process", What: "a capability", Control: ControlSeen, try: tryCapabilities},
		{ID: "process-user", Group: "process", What: "being root", Control: ControlSeen, try: func(Targets) (bool, string) {
			return os.Getuid() == 0 || os.Geteuid() == 0, fmt.Sprintf("user %d", os.Getuid())
		}},
		{ID: "process-setuid", Group: "process", What: "becoming root", Control: ControlNone, try: func(Targets) (bool, string) {
			_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0)
			return errno == 0, errno.Error()
		}},
		{ID: "process-groups", Group: "process", What: "joining a group", Control: ControlNone, try: func(Targets) (bool, string) {
			_, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, 0, 0, 0)
			return errno == 0, errno.Error()
		}},
		{ID: "process-priority", Group: "process", What: "running before everybody else", Guest: true, Control: ControlNone, try: func(Targets) (bool, string) {
			err := unix.Setpriority(unix.PRIO_PROCESS, 0, -10)
			return err == nil, fmt.Sprint(err)
		}},
		{ID: "process-core", Group: "process", What: "leaving a core file", Control: ControlNone, try: func(Targets) (bool, string) {
			var l unix.Rlimit
			err := unix.Getrlimit(unix.RLIMIT_CORE, &l)
			return err == nil && l.Max > 0, fmt.Sprintf("at most %d bytes", l.Max)
		}},
	}
}

func findWord(file, word string) (bool, string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/" + file)
	self := "/proc/" + strconv.Itoa(os.Getpid()) + "/"
	for _, p := range paths {
		if strings.HasPrefix(p, self) {
			continue
		}
		if raw, err := os.ReadFile(p); err == nil && bytes.Contains(raw, []byte(word)) {
			return true, p
		}
	}
	return false, fmt.Sprintf("in none of %d", len(paths))
}

// tryDescriptors looks for what is open beside stdin, stdout and stderr, and
// what this program's own runtime has.
func tryDescriptors(Targets) (bool, string) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return false, err.Error()
	}
	var others []string
	for _, e := range entries {
		n, _ := strconv.Atoi(e.Name())
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || n <= 2 || strings.HasPrefix(to, "anon_inode:") || strings.HasPrefix(to, "/proc/") {
			continue
		}
		others = append(others, e.Name()+" "+to)
	}
	return len(others) > 0, strings.Join(others, ", ")
}

func tryCapabilities(Targets) (bool, string) {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false, err.Error()
	}
	var seen []string
	open := false
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if strings.HasPrefix(name, "Cap") {
			seen = append(seen, name+" "+value)
			open = open || strings.Trim(value, "0") != ""
		}
	}
	return open, strings.Join(seen, ", ")
}

// ownCases are what a box must have: the positive side, without which all
// shut doors would only mean that the probe can do nothing.
func ownCases() []Case {
	all := []Case{
		{ID: "own-work", Group: "own", What: "writing into the work directory", Open: true, try: func(Targets) (bool, string) { return writes(WorkDir, 4096) }},
		{ID: "own-tmp", Group: "own", What: "writing into /tmp", Open: true, try: func(Targets) (bool, string) { return writes("/tmp", 4096) }},
		{ID: "own-shm", Group: "own", What: "writing into /dev/shm", Open: true, try: func(Targets) (bool, string) { return writes("/dev/shm", 4096) }},
		{ID: "own-program", Group: "own", What: "starting the host's programs", Open: true, Control: ControlSeen, try: func(Targets) (bool, string) {
			out, err := exec.Command("/bin/sh", "-c", "exec echo hello").Output() //nolint:noctx // it ends at once
			return strings.TrimSpace(string(out)) == "hello", fmt.Sprint(err)
		}},
		{ID: "own-loopback", Group: "own", What: "a server on the box's own loopback", Open: true, Control: ControlSeen, try: tryOwnLoopback},
		{ID: "own-names", Group: "own", What: "llm.internal is this box", Open: true, try: func(Targets) (bool, string) {
			got, err := net.LookupHost("llm.internal") //nolint:noctx // it is in the hosts file
			return err == nil && len(got) == 1 && got[0] == "127.0.0.1", fmt.Sprint(got, " ", err)
		}},
		{ID: "quota-work", Group: "own", What: "filling the work directory past its limit", try: func(t Targets) (bool, string) { return writes(WorkDir, t.WorkBytes+1<<20) }},
		{ID: "quota-tmp", Group: "own", What: "filling /tmp past its limit", try: func(t Targets) (bool, string) { return writes("/tmp", t.TmpBytes+1<<20) }},
	}
	for i := range ProbeDoors {
		all = append(all,
			Case{ID: "door-" + strconv.Itoa(i+1), Group: "own", What: "the box's door", Open: true, try: func(t Targets) (bool, string) { return dial("unix", doorOf(t, i), t.Word) }},
			Case{ID: "door-replace-" + strconv.Itoa(i+1), Group: "own", What: "putting another socket in the door's place", try: func(t Targets) (bool, string) {
				err := errors.Join(os.Remove(doorOf(t, i)))
				return err == nil, fmt.Sprint(err)
			}},
		)
	}
	return all
}

// ProbeDoors is how many doors the probe's box has.
const ProbeDoors = 2

func doorOf(t Targets, i int) string {
	if i < len(t.Doors) {
		return t.Doors[i]
	}
	return ""
}

// writes says whether so many bytes can be written into a directory.
func writes(dir string, size int64) (bool, string) {
	path := filepath.Join(dir, "probe-wrote")
	f, err := os.Create(path)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = os.Remove(path) }()
	n, err := io.CopyN(f, zeros{}, size)
	err = errors.Join(err, f.Close())
	return err == nil, fmt.Sprintf("%d bytes, %v", n, err)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func tryOwnLoopback(Targets) (bool, string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // it is there at once
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = l.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := l.Accept(); err == nil {
			_, _ = c.Write([]byte("own"))
			_ = c.Close()
		}
	}()
	open, detail := dial("tcp4", l.Addr().String(), "own")
	_ = l.Close()
	select {
	case <-done:
	case <-time.After(dialWithin):
	}
	return open, detail
}
