package cell

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ours refuses a directory that another user owns or can write, or that is a
// link.
func ours(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s is not a directory of this user's alone", dir)
	}
	return nil
}
