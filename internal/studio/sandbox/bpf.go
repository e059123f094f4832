package sandbox

import (
	"encoding/binary"
	"fmt"
)

// Instruction is one of classic BPF, as seccomp(2) takes it.
type Instruction struct {
	Code   uint16
	JT, JF uint8
	K      uint32
}

// The instructions that are used: load a word of struct seccomp_data, compare,
// return.
const (
	opLoad   = 0x20 // BPF_LD | BPF_W | BPF_ABS
	opJumpEQ = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	opJumpGT = 0x25
	opJumpGE = 0x35
	opJumpAn = 0x45 // BPF_JSET: any bit of K
	opReturn = 0x06 // BPF_RET | BPF_K
)

// Offsets in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // six of 8 bytes, the low word first on the little-endian machines that we know
)

// What a filter returns.
const (
	retKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	retErrno = 0x00050000
	retAllow = 0x7fff0000
)

// x32Bit marks the system calls of the x32 ABI, which share amd64's
// architecture and have numbers of their own.
const x32Bit = 0x40000000

// kind says how an argument is judged.
type kind int

const (
	always    kind = iota // refused whatever the arguments
	onlyThese             // refused unless the argument's low word is one of the values
	noneOf                // refused when it is one of them
	anyBit                // refused when it has any bit of the values
)

// call is a rule of one system call with its number.
type call struct {
	number uint32
	kind   kind
	arg    int
	values []uint32
	errno  uint16
}

// assemble makes the filter: foreign architectures are killed, x32 and what
// is newer than last does not exist, then the rules, then all else is allowed.
func assemble(arch, last uint32, calls []call) ([]Instruction, error) {
	p := []Instruction{
		{Code: opLoad, K: offArch},
		{Code: opJumpEQ, K: arch, JT: 1},
		{Code: opReturn, K: retKill},
		{Code: opLoad, K: offNumber},
		{Code: opJumpGE, K: x32Bit, JT: 1},
		{Code: opJumpGT, K: last, JF: 1},
		{Code: opReturn, K: retErrno | enosys},
	}
	for _, c := range calls {
		body := block(c)
		if len(body) > 255 {
			return nil, fmt.Errorf("system call %d has too many values", c.number)
		}
		p = append(p, Instruction{Code: opJumpEQ, K: c.number, JF: uint8(len(body))})
		p = append(p, body...)
	}
	p = append(p, Instruction{Code: opReturn, K: retAllow})
	const most = 4096 // BPF_MAXINSNS
	if len(p) > most {
		return nil, fmt.Errorf("a filter of %d instructions", len(p))
	}
	return p, nil
}

// block judges the arguments of one system call. It always returns: it
// overwrites the number that the next rule would compare.
func block(c call) []Instruction {
	refuse, allow := Instruction{Code: opReturn, K: retErrno | uint32(c.errno)}, Instruction{Code: opReturn, K: retAllow}
	if c.kind == always {
		return []Instruction{refuse}
	}
	out := []Instruction{{Code: opLoad, K: offArgs + 8*uint32(c.arg)}}
	op, hit, miss := uint16(opJumpEQ), refuse, allow
	if c.kind == anyBit {
		op = opJumpAn
	}
	if c.kind == onlyThese {
		hit, miss = allow, refuse
	}
	for _, v := range c.values {
		out = append(out, Instruction{Code: op, K: v, JF: 1}, hit)
	}
	return append(out, miss)
}

// Encode gives the filter as the array of struct sock_filter that seccomp(2)
// and bubblewrap's --seccomp read.
func Encode(p []Instruction) []byte {
	out := make([]byte, 0, 8*len(p))
	for _, i := range p {
		out = binary.NativeEndian.AppendUint16(out, i.Code)
		out = append(out, i.JT, i.JF)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}
