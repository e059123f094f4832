package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	enosys = uint32(unix.ENOSYS)
	// Every namespace that clone(2) can make. Time namespaces come by
	// unshare(2) alone: clone has its exit signal in that bit.
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
)

// Rule is a row of the system call policy. Calls that no row names are
// allowed, up to the newest that we know.
type Rule struct {
	Calls  []string
	Errno  unix.Errno
	Why    string
	kind   kind
	arg    int
	values []uint32
}

// When says in words which arguments the rule is about.
func (r Rule) When() string {
	switch r.kind {
	case onlyThese:
		return fmt.Sprintf("argument %d is none of %s", r.arg+1, hexes(r.values))
	case noneOf:
		return fmt.Sprintf("argument %d is one of %s", r.arg+1, hexes(r.values))
	case anyBit:
		return fmt.Sprintf("argument %d has a bit of %s", r.arg+1, hexes(r.values))
	default:
		return "always"
	}
}

func hexes(values []uint32) string {
	out := ""
	for i, v := range values {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%#x", v)
	}
	return out
}

// Rules is the policy. Errors are those that programs know how to live with.
func Rules(netlink bool) []Rule {
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
	if netlink {
		families = append(families, unix.AF_NETLINK)
	}
	deny := func(errno unix.Errno, why string, calls ...string) Rule {
		return Rule{Calls: calls, Errno: errno, Why: why}
	}
	return []Rule{
		{
			Calls: []string{"socket"}, Errno: unix.EAFNOSUPPORT, kind: onlyThese, arg: 0, values: families,
			Why: "a network namespace does not cut VSOCK, and every family is kernel code that a job has no use for",
		},
		{
			Calls: []string{"socketpair"}, Errno: unix.EAFNOSUPPORT, kind: onlyThese, arg: 0, values: []uint32{unix.AF_UNIX},
			Why: "other families' pairs are no use",
		},
		{
			Calls: []string{"clone"}, Errno: unix.EPERM, kind: anyBit, arg: 0, values: []uint32{newNamespaces},
			Why: "a user namespace gives capabilities over kernel code that root alone could reach",
		},
		{
			Calls: []string{"unshare"}, Errno: unix.EPERM, kind: anyBit, arg: 0, values: []uint32{newNamespaces | unix.CLONE_NEWTIME},
			Why: "the same, for the calling process",
		},
		deny(unix.ENOSYS, "its flags lie in memory, where no filter reads; C libraries fall back to clone", "clone3"),
		deny(unix.ENOSYS, "does what other calls do, past this filter", "io_uring_setup", "io_uring_enter", "io_uring_register"),
		deny(unix.EPERM, "a job could stop or steer the box's first process, and freeze whoever waits for it", "ptrace"),
		deny(unix.EPERM, "reaches into other processes", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "move_pages", "migrate_pages"),
		deny(unix.EPERM, "changes what is mounted, or where the root is", "mount", "umount2", "pivot_root", "chroot",
			"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd"),
		deny(unix.EPERM, "enters other namespaces", "setns"),
		deny(unix.EPERM, "runs programs in the kernel", "bpf"),
		deny(unix.EPERM, "a long list of kernel faults", "perf_event_open", "userfaultfd", "vmsplice", "modify_ldt"),
		deny(unix.EPERM, "keyrings are not bound to a namespace", "add_key", "request_key", "keyctl"),
		deny(unix.EPERM, "opens files past every directory's permissions", "open_by_handle_at", "name_to_handle_at"),
		deny(unix.EPERM, "changes the running kernel", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
		deny(unix.EPERM, "the machine's own affairs", "syslog", "acct", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
			"sethostname", "setdomainname", "iopl", "ioperm", "vhangup", "fanotify_init", "lookup_dcookie"),
		deny(unix.EPERM, "memory that even the kernel can't look into, and the placing of memory", "memfd_secret", "mbind", "set_mempolicy", "set_mempolicy_home_node"),
		deny(unix.ENOSYS, "old calls that nothing uses", "_sysctl", "create_module", "get_kernel_syms", "query_module", "nfsservctl", "uselib", "ustat", "sysfs"),
		{
			Calls: []string{"ioctl"}, Errno: unix.EPERM, kind: noneOf, arg: 1, values: []uint32{unix.TIOCSTI, unix.TIOCLINUX},
			Why: "types into the terminal of whoever started the box",
		},
		{
			Calls: []string{"personality"}, Errno: unix.EPERM, kind: onlyThese, arg: 0, values: []uint32{0, 8, 0x20000, 0x20008, 0xffffffff},
			Why: "other execution domains, and switching address randomisation off",
		},
	}
}

// ErrArch says that there is no filter for this processor.
var ErrArch = errors.New("no system call filter for " + runtime.GOARCH)

// Seccomp assembles the policy's filter for this processor.
func Seccomp(netlink bool) ([]Instruction, error) {
	arch, last, numbers := machine()
	if arch == 0 {
		return nil, ErrArch
	}
	var calls []call
	for _, r := range Rules(netlink) {
		for _, name := range r.Calls {
			number, ok := numbers[name]
			if !ok {
				continue // this processor never had it
			}
			calls = append(calls, call{number: number, kind: r.kind, arg: r.arg, values: r.values, errno: uint16(r.Errno)})
		}
	}
	return assemble(arch, last, calls)
}
