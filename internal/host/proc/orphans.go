package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of every descendant whose own
// parent ends (PR_SET_CHILD_SUBREAPER), so that a daemon which forks itself
// away is still found and reaped.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become child subreaper: %w", err)
	}
	return nil
}

// ReapOrphans reaps the adopted children that have ended. Children that the
// Spawner started are left to their own Wait.
func (s *Spawner) ReapOrphans() {
	self := os.Getpid()
	for _, pid := range pids() {
		st, err := ReadStat(pid)
		if err != nil || st.PPID != self || st.State != 'Z' {
			continue
		}
		s.mu.Lock() // no fork meanwhile: a fresh child is registered before we look
		_, ours := s.live[pid]
		if !ours {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
		s.mu.Unlock()
	}
}

// MarkerName is the environment variable by which processes that belong to
// one recording are found, whoever their parent is.
const MarkerName = "PROOFREEL_OWNER"

// Marked lists the processes of this user, other than the caller, that carry
// the marker MarkerName=value in their environment. Processes that wiped
// their environment are not found: see Descendants.
func Marked(value string) []Identity { return WithEnv(MarkerName + "=" + value) }

// WithEnv lists the processes of this user, other than the caller, whose
// environment (as it was when their program was started) holds every one of
// the given NAME=VALUE pairs.
func WithEnv(pairs ...string) []Identity {
	return matching("environ", func(environ []byte) bool {
		for _, p := range pairs {
			if !hasVar(environ, []byte(p)) {
				return false
			}
		}
		return len(pairs) > 0
	})
}

// WithArgument lists the processes, other than the caller, that were started
// with this exact argument. Programs that rewrite their command line into one
// string (Chromium's zygotes do) are found too.
func WithArgument(arg string) []Identity {
	return matching("cmdline", func(cmdline []byte) bool {
		if hasVar(cmdline, []byte(arg)) {
			return true
		}
		line := append(append([]byte{' '}, bytes.TrimRight(cmdline, "\x00")...), ' ')
		return bytes.Contains(line, []byte(" "+arg+" "))
	})
}

// matching lists the processes whose file of that name under /proc/PID is
// accepted.
func matching(file string, accept func([]byte) bool) []Identity {
	self := os.Getpid()
	var out []Identity
	for _, pid := range pids() {
		if pid == self {
			continue
		}
		id, err := Of(pid) // before the file is read: what was read is of this process
		if err != nil {
			continue
		}
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
		if err == nil && accept(raw) && id.Alive() {
			out = append(out, id)
		}
	}
	return out
}

func hasVar(environ, want []byte) bool {
	for _, v := range bytes.Split(environ, []byte{0}) {
		if bytes.Equal(v, want) {
			return true
		}
	}
	return false
}

// Descendants lists the processes below the given ones.
func Descendants(roots ...Identity) []Identity {
	children := map[int][]int{}
	for _, pid := range pids() {
		if st, err := ReadStat(pid); err == nil && st.State != 'Z' {
			children[st.PPID] = append(children[st.PPID], pid)
		}
	}
	var out []Identity
	seen := map[int]bool{}
	var walk func(pid int)
	walk = func(pid int) {
		for _, c := range children[pid] {
			if seen[c] {
				continue
			}
			seen[c] = true
			if id, err := Of(c); err == nil {
				out = append(out, id)
			}
			walk(c)
		}
	}
	for _, r := range roots {
		if r.Alive() {
			walk(r.PID)
		}
	}
	return out
}

// KillAll ends the processes and waits until they are gone, at most for
// patience. It returns those that are still there (in uninterruptible sleep,
// or of another user).
func KillAll(ids []Identity, patience time.Duration) []Identity {
	for _, id := range ids {
		_ = id.Signal(unix.SIGKILL)
	}
	deadline := time.Now().Add(patience)
	for {
		var left []Identity
		for _, id := range ids {
			if id.Alive() {
				left = append(left, id)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Wake continues every process that was stopped (SIGSTOP, SIGTSTP).
func Wake(ids []Identity) {
	for _, id := range ids {
		if st, err := id.Stat(); err == nil && st.State == 'T' {
			_ = id.Signal(unix.SIGCONT)
		}
	}
}

// pids lists the PIDs of this machine. A /proc that can't be read gives none.
func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && !strings.HasPrefix(n, "0") {
			out = append(out, pid)
		}
	}
	return out
}
