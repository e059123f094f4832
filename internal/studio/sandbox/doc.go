// Package sandbox is the policy of the box in which an agent runs, as data:
// what a job may ask for ([Spec]), what of the host it sees, which system
// calls it may make ([Seccomp]), and the conformance probe ([Cases], [Try])
// that is run inside a real box to see whether all of that holds.
//
// It starts nothing: where and how a box runs is the matter of executor.
// Whatever runs in a box is taken to be hostile, our own runner too.
package sandbox
