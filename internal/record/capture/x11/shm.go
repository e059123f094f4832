package x11

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/shm"
)

// sharedMemory is a System V segment that the X server writes pixels into.
// (Newer servers also take file descriptors, but xgb can't pass them.)
type sharedMemory struct {
	seg  shm.Seg
	data []byte
}

// attachShared makes a segment that both sides have attached and that has no
// name any more: it goes with the processes, however they end. It is an error
// when the server is on another machine, in another IPC namespace, or of
// another user.
func attachShared(conn *xgb.Conn, size int, missing error) (*sharedMemory, error) {
	if missing != nil {
		return nil, fmt.Errorf("the X server shares no memory: %w", missing)
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|0o600)
	if err != nil {
		return nil, fmt.Errorf("make a shared memory segment of %d bytes: %w", size, err)
	}
	// On Linux the name may go only after the last attach, but then at once.
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	data, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("attach the shared memory segment: %w", err)
	}
	seg, err := shm.NewSegId(conn)
	if err == nil {
		err = shm.AttachChecked(conn, seg, uint32(id), false).Check()
	}
	if err != nil {
		_ = unix.SysvShmDetach(data)
		return nil, fmt.Errorf("the X server can't attach our shared memory: %w", err)
	}
	return &sharedMemory{seg: seg, data: data}, nil
}

// close detaches our side; the server's goes with the connection.
func (m *sharedMemory) close() {
	_ = unix.SysvShmDetach(m.data)
	m.data = nil
}
