// Package clock reads the machine's clock that never jumps.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boottime is the time since the machine was started (CLOCK_BOOTTIME). It is
// monotonic, is not changed with the wall clock, and counts the time that the
// machine was suspended; every process reads the same.
func Boottime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// Linux has this clock since 2.6.39; a sandbox without it has CLOCK_MONOTONIC.
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	}
	return time.Duration(ts.Nano())
}
