package workflow

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs says whether a file is this process's user's.
func ownedByUs(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
