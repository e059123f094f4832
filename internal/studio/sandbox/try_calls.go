package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// callCases has a case for every call that the policy refuses, made from the
// policy: a row that is added there is tried here.
func callCases() []Case {
	_, _, numbers := machine()
	all := flagCases()
	for _, r := range Rules(false) {
		if r.kind != always {
			continue
		}
		for _, name := range r.Calls {
			number, ok := numbers[name]
			if !ok {
				continue
			}
			c := Case{ID: "call-" + name, Group: "call", What: r.Why, Control: ControlSeen, try: func(Targets) (bool, string) { return call6(number, nonsense(name)) }}
			if name == "vhangup" { // takes no argument that could be wrong
				c.Control = ControlNone
			}
			all = append(all, c)
		}
	}
	return all
}

// nonsense gives arguments that no kernel does anything with: what reaches
// the call's own code is told that they are wrong, what is refused is told so.
func nonsense(name string) [6]uintptr {
	if name == "modify_ldt" { // function 0 reads; others "do not exist"
		return [6]uintptr{}
	}
	bad := ^uintptr(0)
	return [6]uintptr{bad, bad, bad, bad, bad, bad}
}

func call6(number uint32, a [6]uintptr) (bool, string) {
	_, _, errno := unix.RawSyscall6(uintptr(number), a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 {
		return true, "worked"
	}
	return !refused(errno), errno.Error()
}

// flagCases are calls that are refused for some arguments only.
func flagCases() []Case {
	_, _, numbers := machine()
	plain := func(id, what, name string, a ...uintptr) Case {
		var args [6]uintptr
		copy(args[:], a)
		return Case{ID: id, Group: "call", What: what, Control: ControlSeen, try: func(Targets) (bool, string) { return call6(numbers[name], args) }}
	}
	const impossible = 1 // no flag of unshare's: the kernel says EINVAL before it does anything
	return []Case{
		// With CLONE_FS these flags contradict each other: no process comes of it.
		plain("clone-newuser", "clone with a user namespace", "clone", unix.CLONE_NEWUSER|unix.CLONE_FS),
		plain("clone-newns", "clone with a mount namespace", "clone", unix.CLONE_NEWNS|unix.CLONE_FS),
		plain("unshare-newuser", "a nested user namespace", "unshare", unix.CLONE_NEWUSER|impossible),
		plain("unshare-newnet", "a nested network namespace", "unshare", unix.CLONE_NEWNET|impossible),
		plain("unshare-newns", "a nested mount namespace", "unshare", unix.CLONE_NEWNS|impossible),
		plain("ioctl-tiocsti", "typing into a terminal", "ioctl", 0, unix.TIOCSTI, 0),
		// The upper half of an int is not looked at by the kernel, nor by a filter that is right.
		plain("ioctl-tiocsti-high", "the same with bits above the number", "ioctl", 0, unix.TIOCSTI|1<<40, 0),
		plain("personality", "another execution domain", "personality", 0x0400000),
		{ID: "socket-high", Group: "call", What: "a VSOCK socket with bits above the number", Control: ControlSeen, try: func(Targets) (bool, string) {
			fd, _, errno := unix.RawSyscall(unix.SYS_SOCKET, unix.AF_VSOCK|1<<40, unix.SOCK_STREAM, 0)
			if errno == 0 {
				_ = unix.Close(int(fd))
				return true, "created"
			}
			return !refused(errno) && errno != unix.EAFNOSUPPORT, errno.Error()
		}},
		{ID: "call-unknown", Group: "call", What: "a system call newer than the policy", try: func(Targets) (bool, string) {
			return call6(463, [6]uintptr{^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0), ^uintptr(0)})
		}},
		{ID: "call-x32", Group: "call", What: "the x32 ABI", try: func(Targets) (bool, string) { return call6(x32Bit|39, [6]uintptr{}) }},
		{ID: "call-foreign", Group: "call", What: "32-bit system calls (int 0x80)", Control: ControlSeen, try: tryForeignChild},
		{ID: "ptrace-pid1", Group: "call", What: "tracing the box's first process", try: func(Targets) (bool, string) {
			const seize = 0x4206
			_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, seize, 1, 0, 0, 0, 0)
			if errno == 0 {
				return true, "seized"
			}
			return !refused(errno), errno.Error()
		}},
	}
}

// foreignCall is the word by which the probe's child is told to make one.
const foreignCall = "foreign-call"

// foreignVar marks that child. A program that holds this package and does not
// answer to "box" would else start itself again, and again.
const foreignVar = "PROOFREEL_PROBE_CHILD"

// tryForeignChild lets a child make a system call of another architecture: it
// is killed for it where the policy holds.
func tryForeignChild(Targets) (bool, string) {
	if os.Getenv(foreignVar) != "" {
		return false, "not tried: this is the child"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "box", "probe", foreignCall)
	cmd.Env = []string{foreignVar + "=1"}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), foreignAnswer) {
		return true, "answered"
	}
	return false, fmt.Sprint(err)
}

// foreignAnswer is what the child prints when the call worked.
const foreignAnswer = "foreign call answered"

func tryForeign() {
	if pid := foreignGetpid(); pid > 0 {
		fmt.Println(foreignAnswer)
	}
}
