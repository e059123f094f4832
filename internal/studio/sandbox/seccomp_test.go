package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// interpret runs a filter as the kernel does.
func interpret(t interface{ Fatalf(string, ...any) }, p []Instruction, number, arch uint32, args [6]uint64) uint32 {
	load := func(offset uint32) uint32 {
		switch {
		case offset == offNumber:
			return number
		case offset == offArch:
			return arch
		case offset >= offArgs && (offset-offArgs)%8 == 0:
			return uint32(args[(offset-offArgs)/8])
		case offset >= offArgs:
			return uint32(args[(offset-offArgs)/8] >> 32)
		}
		t.Fatalf("load from %d", offset)
		return 0
	}
	var a uint32
	for pc := 0; pc < len(p); pc++ {
		i := p[pc]
		yes := false
		switch i.Code {
		case opLoad:
			a = load(i.K)
			continue
		case opReturn:
			return i.K
		case opJumpEQ:
			yes = a == i.K
		case opJumpGT:
			yes = a > i.K
		case opJumpGE:
			yes = a >= i.K
		case opJumpAn:
			yes = a&i.K != 0
		default:
			t.Fatalf("instruction %#x", i.Code)
		}
		if yes {
			pc += int(i.JT)
		} else {
			pc += int(i.JF)
		}
	}
	t.Fatalf("the filter ran off its end")
	return 0
}

// decide is the policy in plain words, without BPF.
func decide(number, arch uint32, args [6]uint64) uint32 {
	own, last, numbers := machine()
	if arch != own {
		return retKill
	}
	if number >= x32Bit || number > last {
		return retErrno | enosys
	}
	for _, r := range Rules(false) {
		for _, name := range r.Calls {
			n, ok := numbers[name]
			if !ok || n != number {
				continue
			}
			hit := r.kind == always || r.kind == onlyThese
			for _, v := range r.values {
				word := uint32(args[r.arg])
				switch r.kind {
				case onlyThese:
					hit = hit && word != v
				case noneOf:
					hit = hit || word == v
				case anyBit:
					hit = hit || word&v != 0
				}
			}
			if hit {
				return retErrno | uint32(r.Errno)
			}
			return retAllow
		}
	}
	return retAllow
}

// A jump that is off by one lets a call through, or refuses one that every
// program needs.
func TestFilterIsThePolicy(t *testing.T) {
	p, err := Seccomp(false)
	if err != nil {
		t.Fatal(err)
	}
	own, last, numbers := machine()
	var named []uint32
	for _, n := range numbers {
		named = append(named, n)
	}
	var values []uint64
	for _, r := range Rules(false) {
		for _, v := range r.values {
			values = append(values, uint64(v), uint64(v)|1<<32, uint64(v)+1)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.SampledFrom(named), rapid.Uint32Range(0, last+20), rapid.Uint32()).Draw(t, "number")
		arch := rapid.SampledFrom([]uint32{own, own, own, own, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, 0}).Draw(t, "arch")
		var args [6]uint64
		for i := range args {
			args[i] = rapid.OneOf(rapid.SampledFrom(values), rapid.Uint64()).Draw(t, "argument")
		}
		if got, want := interpret(t, p, number, arch, args), decide(number, arch, args); got != want {
			t.Fatalf("system call %d %v gives %#x, not %#x", number, args, got, want)
		}
	})
}

// What programs can't do without must be allowed, by its name.
func TestFilterLetsProgramsLive(t *testing.T) {
	p, err := Seccomp(false)
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ := machine()
	for _, n := range []uint32{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_OPENAT, unix.SYS_MMAP, unix.SYS_EXECVE, unix.SYS_EXIT_GROUP, unix.SYS_FUTEX, unix.SYS_EPOLL_PWAIT,
		unix.SYS_PRCTL, unix.SYS_SECCOMP, unix.SYS_MEMFD_CREATE, unix.SYS_SENDMSG, unix.SYS_RECVMSG, unix.SYS_OPENAT2, unix.SYS_CLOSE_RANGE,
		unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_SCHED_SETAFFINITY, unix.SYS_GETRANDOM, unix.SYS_STATX, unix.SYS_PIDFD_OPEN, unix.SYS_FACCESSAT2,
	} {
		if got := interpret(t, p, n, own, [6]uint64{}); got != retAllow {
			t.Errorf("system call %d gives %#x", n, got)
		}
	}
	threads := uint64(unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SETTLS | 0xff)
	if got := interpret(t, p, unix.SYS_CLONE, own, [6]uint64{threads}); got != retAllow {
		t.Errorf("a thread gives %#x", got)
	}
}

// Netlink is the one family that can be added, and adds nothing else.
func TestNetlink(t *testing.T) {
	own, _, _ := machine()
	for _, netlink := range []bool{false, true} {
		p, err := Seccomp(netlink)
		if err != nil {
			t.Fatal(err)
		}
		for family := range uint64(64) {
			allowed := family == unix.AF_UNIX || family == unix.AF_INET || family == unix.AF_INET6 || netlink && family == unix.AF_NETLINK
			for _, high := range []uint64{0, 1 << 32, 1 << 63} {
				if got := interpret(t, p, unix.SYS_SOCKET, own, [6]uint64{family | high}) == retAllow; got != allowed {
					t.Errorf("family %d (netlink %v): allowed is %v", family, netlink, got)
				}
			}
		}
	}
}

// A name that is misspelt would be a call that nobody refuses.
func TestEveryRuleHasItsNumbers(t *testing.T) {
	_, _, numbers := machine()
	elsewhere := map[string]bool{} // calls that some processors never had
	for _, n := range []string{"modify_ldt", "iopl", "ioperm", "_sysctl", "create_module", "get_kernel_syms", "query_module", "uselib", "ustat", "sysfs"} {
		elsewhere[n] = true
	}
	seen := map[string]bool{}
	for _, r := range Rules(true) {
		if r.Why == "" || r.Errno == 0 || len(r.Calls) == 0 {
			t.Errorf("a rule without reason, error or calls: %+v", r)
		}
		for _, name := range r.Calls {
			if seen[name] {
				t.Errorf("%s has two rules: the first would hide the second", name)
			}
			seen[name] = true
			if _, ok := numbers[name]; !ok && !elsewhere[name] {
				t.Errorf("%s has no number", name)
			}
		}
	}
	for name := range numbers {
		if !seen[name] {
			t.Errorf("%s has a number and no rule", name)
		}
	}
}
