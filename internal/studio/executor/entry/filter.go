package entry

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// installFilter puts the policy's filter on this thread; exec makes it the
// program's.
func installFilter(netlink bool) error {
	program, err := sandbox.Seccomp(netlink)
	if err != nil {
		return fmt.Errorf("assemble the system call filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(program))
	for i, p := range program {
		filter[i] = unix.SockFilter{Code: p.Code, Jt: p.JT, Jf: p.JF, K: p.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renounce privileges: %w", err)
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	//nolint:gosec // the kernel takes the program by address
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0); err != nil {
		return fmt.Errorf("install the system call filter: %w", err)
	}
	return nil
}
