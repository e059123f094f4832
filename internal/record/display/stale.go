package display

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// maxLock is more than a lock file holds: ten digits and a newline.
const maxLock = 64

// CleanStale removes what a killed Xvfb left behind: its lock and its socket.
// Nothing is touched while that server lives, when the lock names another
// process, or when anything listens on the socket. What can't be removed
// stays; a later server takes such a number over by itself.
func CleanStale(name string, xvfb proc.Identity) {
	number, err := numberOf(name)
	if err != nil || xvfb.PID <= 0 || xvfb.Alive() {
		return
	}
	cleanStale("/tmp", number, xvfb)
}

func cleanStale(tmp string, number int, xvfb proc.Identity) {
	n := strconv.Itoa(number)
	lock, socket := tmp+"/.X"+n+"-lock", tmp+"/.X11-unix/X"+n
	// Servers take a lock by way of this file (LockServer in the X server's
	// os/utils.c), so while we hold it none can take the number.
	guard := tmp + "/.tX" + n + "-lock"
	g, err := os.OpenFile(guard, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return // a server is starting there, and cleans up itself
	}
	defer func() {
		_ = g.Close()
		_ = os.Remove(guard)
	}()
	pid, locked := lockHolder(lock)
	if locked && pid != xvfb.PID {
		return
	}
	if locked {
		if _, err := proc.Of(pid); !errors.Is(err, proc.ErrGone) {
			return // the PID was recycled: it may be another server's
		}
	}
	if listens(socket) {
		return
	}
	if locked {
		_ = os.Remove(lock)
	}
	_ = os.Remove(socket)
}

// lockHolder reads the PID in an X server's lock. A lock that can't be read
// counts as held by nobody that we know: PID 0.
func lockHolder(path string) (pid int, locked bool) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLock {
		return 0, true
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, true
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0, true
	}
	return pid, true
}

// listens says whether a server may listen on the socket: all but a refused
// connection and a missing file counts.
func listens(socket string) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(context.Background(), "unix", socket)
	if err == nil {
		_ = c.Close()
		return true
	}
	return !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.ENOENT)
}
