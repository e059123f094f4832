// Package entry is the way into a box: what our own binary does between the
// server and the job's program, as the hidden command "box". Stage runs
// outside, as root, and gives its privileges up; Init is the first thing that
// runs inside. Neither outlives its exec.
//
// Both run before anything hostile does, and both are read by whoever audits
// the box: nothing else may live here.
package entry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/sys/unix"
)

// Roles of the hidden command.
const (
	RoleStage = "stage"
	RoleInit  = "init"
	RoleProbe = "probe"
)

// Limit is a resource limit, soft and hard alike.
type Limit struct {
	Resource int    `json:"resource"`
	Value    uint64 `json:"value"`
}

// setLimits sets them, or less where the hard limit is less already.
func setLimits(limits []Limit) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.Resource, &now); err != nil {
			return fmt.Errorf("read limit %d: %w", l.Resource, err)
		}
		v := min(l.Value, now.Max)
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("set limit %d to %d: %w", l.Resource, v, err)
		}
	}
	return nil
}

// keepOnly has every descriptor from 3 on closed at exec, but these.
func keepOnly(fds []int) error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, fd := range fds {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keep descriptor %d: %w", fd, err)
		}
	}
	return nil
}

func decode(r io.Reader, into any) error {
	const most = 64 << 20
	d := json.NewDecoder(io.LimitReader(r, most))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	return nil
}

// exec replaces the program. It returns on an error only.
func exec(argv, env []string) error {
	if len(argv) == 0 {
		return errors.New("nothing to start")
	}
	if env == nil {
		env = []string{}
	}
	err := unix.Exec(argv[0], argv, env)
	return fmt.Errorf("start %s: %w", argv[0], err)
}
