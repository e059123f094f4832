package cell

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "hand"), os.NewFile(uintptr(fds[1]), "hand"), nil
}

// receiveDir takes the directory that Init has handed out: it is there when
// Init has said that it is ready. The sender is our own program, before
// anything hostile ran; that it is a directory is looked at all the same.
func receiveDir(hand *os.File) (*os.File, error) {
	fd := int(hand.Fd())
	timeout := unix.NsecToTimeval(int64(10 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return nil, fmt.Errorf("receive the work directory: %w", err)
	}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(fd, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("receive the work directory: %w", err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return nil, fmt.Errorf("receive the work directory: %w", err)
	}
	if len(msgs) != 1 {
		return nil, fmt.Errorf("receive the work directory: %d messages", len(msgs))
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return nil, fmt.Errorf("receive the work directory: %w", err)
	}
	if len(fds) != 1 {
		return nil, fmt.Errorf("receive the work directory: %d descriptors", len(fds))
	}
	dir := os.NewFile(uintptr(fds[0]), "work")
	if st, err := dir.Stat(); err != nil || !st.IsDir() {
		return nil, errors.Join(errors.New("what was handed out is no directory"), err, dir.Close())
	}
	return dir, nil
}
