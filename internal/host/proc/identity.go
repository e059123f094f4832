// Package proc starts, names, signals and reaps processes of this machine.
//
// A process is named by its [Identity]: PID, start time and boot, so that a
// recycled PID is never signalled. Children are started by a [Spawner], which
// makes them die with their parent. What the processes do is not known here.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Identity names one process for as long as the machine is up. The zero value
// names no process.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot (field 22 of /proc/PID/stat)
	Boot  string `json:"boot"`  // /proc/sys/kernel/random/boot_id
}

// ErrGone says that a process has ended: its PID is free or belongs to another.
var ErrGone = errors.New("process is gone")

// Stat is the part of /proc/PID/stat that is used here.
type Stat struct {
	State byte   // R, S, D, T (stopped), t (traced), Z (zombie), X
	PPID  int    // parent
	CPU   uint64 // user + system time in clock ticks
	Start uint64 // start time in clock ticks since boot
}

// ReadStat reads /proc/PID/stat. It returns an error that wraps ErrGone when
// there is no such process.
func ReadStat(pid int) (Stat, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return Stat{}, fmt.Errorf("pid %d: %w", pid, ErrGone)
	}
	if err != nil {
		return Stat{}, fmt.Errorf("read stat of pid %d: %w", pid, err)
	}
	return parseStat(raw)
}

// parseStat parses a line of /proc/PID/stat (proc(5)). The command name may
// hold spaces and parentheses, so the fields are counted from the last ')'.
func parseStat(raw []byte) (Stat, error) {
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return Stat{}, fmt.Errorf("parse stat: no command name in %q", raw)
	}
	f := strings.Fields(string(raw[end+1:]))
	const fields = 20 // state is field 3, start time field 22
	if len(f) < fields || len(f[0]) != 1 {
		return Stat{}, fmt.Errorf("parse stat: %d fields after the name in %q", len(f), raw)
	}
	var st Stat
	st.State = f[0][0]
	var errs [4]error
	st.PPID, errs[0] = strconv.Atoi(f[1])
	user, err1 := strconv.ParseUint(f[11], 10, 64)
	system, err2 := strconv.ParseUint(f[12], 10, 64)
	st.CPU, errs[1], errs[2] = user+system, err1, err2
	st.Start, errs[3] = strconv.ParseUint(f[19], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return Stat{}, fmt.Errorf("parse stat: %w", err)
	}
	return st, nil
}

// Of names the process that has this PID now. The error wraps ErrGone when
// there is none.
func Of(pid int) (Identity, error) {
	st, err := ReadStat(pid)
	if err != nil {
		return Identity{}, err
	}
	boot, err := BootID()
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, Start: st.Start, Boot: boot}, nil
}

// Self names the calling process.
func Self() (Identity, error) { return Of(os.Getpid()) }

// BootID names this boot of the machine: PIDs, start times and the boot-time
// clock mean nothing in another.
func BootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// Stat reads the process's state. The error wraps ErrGone when the process
// has ended, is a zombie, or its PID belongs to another.
func (id Identity) Stat() (Stat, error) {
	if id.PID <= 0 {
		return Stat{}, ErrGone
	}
	boot, err := BootID()
	if err != nil {
		return Stat{}, err
	}
	if boot != id.Boot {
		return Stat{}, fmt.Errorf("pid %d is of another boot: %w", id.PID, ErrGone)
	}
	st, err := ReadStat(id.PID)
	if err != nil {
		return Stat{}, err
	}
	if st.Start != id.Start || st.State == 'Z' || st.State == 'X' {
		return Stat{}, fmt.Errorf("pid %d: %w", id.PID, ErrGone)
	}
	return st, nil
}

// Alive says whether the process still runs (or is stopped). A zombie is not
// alive. When /proc can't be read the answer is yes: nothing that may live is
// taken for dead.
func (id Identity) Alive() bool {
	_, err := id.Stat()
	return !errors.Is(err, ErrGone)
}

// Signal sends sig to the process and to no other: the PID is held by a pidfd
// while its start time is compared. The error wraps ErrGone when it has ended.
func (id Identity) Signal(sig unix.Signal) error {
	if id.PID <= 0 {
		return ErrGone
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("pid %d: %w", id.PID, ErrGone)
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM):
		return id.signalByPID(sig) // kernels before 5.3 and some sandboxes have no pidfd
	case err != nil:
		return fmt.Errorf("open pidfd of %d: %w", id.PID, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if _, err := id.Stat(); err != nil {
		return err
	}
	return wrapSignal(id.PID, sig, unix.PidfdSendSignal(fd, sig, nil, 0))
}

func (id Identity) signalByPID(sig unix.Signal) error {
	if _, err := id.Stat(); err != nil {
		return err
	}
	return wrapSignal(id.PID, sig, unix.Kill(id.PID, sig))
}

func wrapSignal(pid int, sig unix.Signal, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("pid %d: %w", pid, ErrGone)
	default:
		return fmt.Errorf("send %s to pid %d: %w", unix.SignalName(sig), pid, err)
	}
}
