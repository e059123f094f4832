package sandbox

// foreignGetpid calls getpid by the 32-bit gate of the kernel. It gives a
// negative number, or does not return, where that is shut.
func foreignGetpid() int32
