package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/bench/internal/gauge"
	"github.com/proofreel/proofreel/internal/host/proc"
)

// use is what a process has used so far.
type use struct {
	cpu  time.Duration // of its threads, ended ones too, and of children that it has reaped
	peak int64         // of its resident set, bytes
	role string
}

// usage reads what each of the processes has used. One that has ended since it
// was listed is left out: its parent has it.
func usage(ids []proc.Identity) map[int]use {
	all := map[int]use{}
	for _, id := range ids {
		cpu, err := cpuOf(id.PID)
		if err != nil {
			continue
		}
		all[id.PID] = use{cpu: cpu, peak: peakOf(id.PID), role: roleOf(id.PID)}
	}
	return all
}

// cpuOf is the CPU time of a process to the nanosecond (clock_getcpuclockid(3)),
// with that of its reaped children to 10 ms (proc(5), fields 16 and 17).
func cpuOf(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED: user and system time of the whole process
	var own unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedClock), &own); err != nil {
		return 0, fmt.Errorf("CPU time of %d: %w", pid, err)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("CPU time of %d: %w", pid, err)
	}
	f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(f) < 15 {
		return 0, fmt.Errorf("CPU time of %d: %q", pid, raw)
	}
	user, _ := strconv.ParseInt(f[13], 10, 64)
	system, _ := strconv.ParseInt(f[14], 10, 64)
	return time.Duration(own.Nano()) + time.Duration(user+system)*time.Second/gauge.Hertz, nil
}

// peakOf is the largest resident set that a process has had, in bytes.
func peakOf(pid int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}

const verifierRole = "verifier"

// roleOf tells the process that decodes from those that film.
func roleOf(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if bytes.Contains(raw, []byte("\x00-f\x00h264\x00-i\x00")) {
		return verifierRole
	}
	return "recorder"
}

// spent is the CPU time between two readings, of those whose role is wanted. A
// process that was not there before has begun meanwhile.
func spent(before, after map[int]use, wanted func(role string) bool) time.Duration {
	var sum time.Duration
	for pid, u := range after {
		if wanted(u.role) {
			sum += u.cpu - before[pid].cpu
		}
	}
	return sum
}
