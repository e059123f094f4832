package cell

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// canaries are what the probe plants on the host: servers, files, a process,
// a piece of shared memory. Every one answers whoever comes.
type canaries struct {
	targets sandbox.Targets
	dir     string
	doors   []string
	hits    map[string]int // by what was hit
	closers []func() error

	mu sync.Mutex
	wg sync.WaitGroup
}

// plant plants them. On an error what was planted is taken away again.
func plant(h *Host) (*canaries, error) {
	c := &canaries{hits: map[string]int{}}
	if err := c.plant(h); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *canaries) plant(h *Host) error {
	c.targets.Word, c.targets.EnvWord = "canary-"+token(), "canary-env-"+token()
	var err error
	// Not in the state directory: that would be shut by its permissions alone.
	if c.dir, err = os.MkdirTemp("/tmp", "proofreel-probe-"); err != nil {
		return fmt.Errorf("plant canaries: %w", err)
	}
	c.closers = append(c.closers, func() error { return os.RemoveAll(c.dir) })
	if err := os.Chmod(c.dir, 0o755); err != nil { //nolint:gosec // whoever gets as far as the host may read it
		return fmt.Errorf("plant canaries: %w", err)
	}
	for _, step := range []func() error{c.plantFiles, c.plantServers, c.plantMemory, func() error { return c.plantProcess(h) }} {
		if err := step(); err != nil {
			return fmt.Errorf("plant canaries: %w", err)
		}
	}
	return nil
}

func (c *canaries) plantFiles() error {
	c.targets.Secret, c.targets.OtherJob = filepath.Join(c.dir, "secret"), filepath.Join(c.dir, "boxes", "other", "scene.js")
	if err := os.MkdirAll(filepath.Dir(c.targets.OtherJob), 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	for _, p := range []string{c.targets.Secret, c.targets.OtherJob} {
		if err := os.WriteFile(p, []byte(c.targets.Word), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

func (c *canaries) plantServers() error {
	c.targets.Abstract = c.targets.Word
	c.targets.PathSocket = filepath.Join(c.dir, "s")
	for _, s := range []struct {
		network, address string
		into             *string
		may              bool // the machine may have no such address
	}{
		{"tcp4", "127.0.0.1:0", &c.targets.TCP4, false},
		{"tcp6", "[::1]:0", &c.targets.TCP6, true},
		{"tcp", hostAddress(), &c.targets.TCPHost, true},
		{"unix", "@" + c.targets.Abstract, nil, false},
		{"unix", c.targets.PathSocket, nil, false},
	} {
		if s.address == "" {
			continue
		}
		address, err := c.serve(s.network, s.address, s.network+" "+s.address)
		if err != nil && !s.may {
			return err
		}
		if s.into != nil {
			*s.into = address
		}
	}
	for i := range sandbox.ProbeDoors {
		path := filepath.Join(c.dir, fmt.Sprintf("door%d", i))
		if _, err := c.serve("unix", path, "door"); err != nil {
			return err
		}
		c.doors = append(c.doors, path)
	}
	return c.serveUDP()
}

// serve answers every connection with the word.
func (c *canaries) serve(network, address, name string) (string, error) {
	l, err := net.Listen(network, address) //nolint:noctx // it is there at once
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	c.closers = append(c.closers, l.Close)
	if network == "unix" && address[0] == '/' {
		if err := os.Chmod(address, 0o666); err != nil { //nolint:gosec // a box's user connects to it
			return "", err
		}
	}
	c.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.hit(name)
			c.answer(conn)
		}
	})
	return l.Addr().String(), nil
}

// answer reads the question first: closing with bytes unread would reset the
// connection, and the answer might be lost.
func (c *canaries) answer(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Read(make([]byte, 16))
	_, _ = conn.Write([]byte(c.targets.Word + "\n"))
	_ = conn.Close()
}

func (c *canaries) serveUDP() error {
	l, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // as above
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	c.closers = append(c.closers, l.Close)
	c.targets.UDP = l.LocalAddr().String()
	c.wg.Go(func() {
		buf := make([]byte, 64)
		for {
			_, from, err := l.ReadFrom(buf)
			if err != nil {
				return
			}
			c.hit("udp")
			_, _ = l.WriteTo([]byte(c.targets.Word), from)
		}
	})
	return nil
}

func (c *canaries) plantMemory() error {
	const tries = 20
	var errs error
	for range tries {
		key := int(rand.Int32N(1<<30)) + 1<<20 //nolint:gosec // no secret
		id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
		if err != nil {
			errs = err
			continue
		}
		c.targets.ShmKey = key
		c.closers = append(c.closers, func() error {
			_, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			return err
		})
		return nil
	}
	return fmt.Errorf("make shared memory: %w", errs)
}

func (c *canaries) plantProcess(h *Host) error {
	child, err := h.spawner.Start(proc.Command{
		Role: "canary", Path: "/bin/sh", Args: []string{"-c", "sleep 600; :", c.targets.EnvWord},
		Env: []string{"PATH=/usr/bin:/bin", "CANARY=" + c.targets.EnvWord},
	})
	if err != nil {
		return err
	}
	c.closers = append(c.closers, func() error { child.Kill(); return nil })
	return nil
}

func (c *canaries) hit(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits[name]++
}

// takeHits gives what was hit since it was last asked, but for doors.
func (c *canaries) takeHits() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.hits
	delete(out, "door")
	c.hits = map[string]int{}
	return out
}

func (c *canaries) close() error {
	var errs []error
	for i := len(c.closers) - 1; i >= 0; i-- {
		if err := c.closers[i](); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	c.wg.Wait()
	return errors.Join(errs...)
}

// hostAddress gives an address of the host's own that is not loopback's.
func hostAddress() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return net.JoinHostPort(n.IP.String(), "0")
		}
	}
	return ""
}
