package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PIDNamespace names the PID namespace of a process by its inode.
func PIDNamespace(pid int) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/"+strconv.Itoa(pid)+"/ns/pid", &st); err != nil {
		return 0, fmt.Errorf("PID namespace of %d: %w", pid, err)
	}
	return st.Ino, nil
}

// Reaped says whether nothing at all is left of the process. Unlike Alive it
// takes a zombie for there: the first thread of a program is one while others
// of it still run, and while a zombie is there its PID namespace is, too.
func (id Identity) Reaped() bool {
	boot, err := BootID()
	if err != nil {
		return false
	}
	if id.PID <= 0 || id.Boot != boot {
		return true
	}
	st, err := ReadStat(id.PID)
	return errors.Is(err, ErrGone) || err == nil && st.Start != id.Start
}

// Below lists the processes in the PID namespace whose first process this is.
// None, when that one is gone: the namespace is too then, and its number may
// be another's.
func (id Identity) Below(namespace uint64) []Identity {
	if id.Reaped() {
		return nil
	}
	ids := InPIDNamespace(namespace)
	if id.Reaped() { // meanwhile: whom did we see?
		return nil
	}
	return ids
}

// InPIDNamespace lists the processes of a PID namespace that this process may
// look into. The caller is never one of them. Numbers of namespaces are used
// again: see Below.
func InPIDNamespace(inode uint64) []Identity {
	self := os.Getpid()
	var out []Identity
	for _, pid := range pids() {
		if pid == self {
			continue
		}
		id, err := Of(pid)
		if err != nil {
			continue
		}
		if ns, err := PIDNamespace(pid); err == nil && ns == inode && id.Alive() {
			out = append(out, id)
		}
	}
	return out
}

// OfUser lists the processes whose real, effective or saved user is uid.
func OfUser(uid int) []Identity {
	want := strconv.Itoa(uid)
	return matching("status", func(status []byte) bool {
		for line := range strings.Lines(string(status)) {
			rest, ok := strings.CutPrefix(line, "Uid:")
			if !ok {
				continue
			}
			for _, f := range strings.Fields(rest) {
				if f == want {
					return true
				}
			}
		}
		return false
	})
}

// ResidentBytes adds up the memory of processes: each one's share of what it
// shares with others, where the kernel tells, else all that it maps.
func ResidentBytes(ids []Identity) int64 {
	var sum int64
	for _, id := range ids {
		sum += residentBytes(id.PID)
	}
	return sum
}

func residentBytes(pid int) int64 {
	dir := "/proc/" + strconv.Itoa(pid)
	if raw, err := os.ReadFile(dir + "/smaps_rollup"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				return kib << 10
			}
		}
	}
	raw, err := os.ReadFile(dir + "/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(raw))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
