package attacks

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/studio/sandbox"
)

// word is what every canary answers.
const word = "canary-answer-8c41"

// canaries are servers, files, a process and memory of the host's that no box
// may reach.
type canaries struct {
	targets sandbox.Targets
	dir     string
	http    string // address of a server that speaks HTTP
	hits    atomic.Int64
	pid     int // of a process
}

func plant(t *testing.T) *canaries {
	t.Helper()
	c := &canaries{dir: tempDir(t)}
	c.targets = sandbox.Targets{Word: word, EnvWord: "canary-process-51d0", Abstract: word, PathSocket: filepath.Join(c.dir, "s")}
	c.targets.Secret, c.targets.OtherJob = filepath.Join(c.dir, "secret"), filepath.Join(c.dir, "boxes", "other", "scene.js")
	if err := os.MkdirAll(filepath.Dir(c.targets.OtherJob), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{c.targets.Secret, c.targets.OtherJob} {
		if err := os.WriteFile(p, []byte(word), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.targets.TCP4 = c.serve(t, "tcp4", "127.0.0.1:0")
	c.http = c.serve(t, "tcp4", "127.0.0.1:0")
	if probe, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = probe.Close()
		c.targets.TCP6 = c.serve(t, "tcp6", "[::1]:0")
	}
	c.serve(t, "unix", "@"+word)
	c.serve(t, "unix", c.targets.PathSocket)
	if err := os.Chmod(c.targets.PathSocket, 0o666); err != nil {
		t.Fatal(err)
	}
	c.serveUDP(t)
	c.memory(t)
	child := exec.CommandContext(context.Background(), "/bin/sh", "-c", "sleep 3600; :", c.targets.EnvWord)
	child.Env = []string{"PATH=/usr/bin:/bin", "CANARY=" + c.targets.EnvWord}
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid = child.Process.Pid
	t.Cleanup(func() { _, _ = unix.Kill(-c.pid, unix.SIGKILL), child.Wait() })
	return c
}

func (c *canaries) serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.hits.Add(1)
			_, _ = conn.Read(make([]byte, 256))
			_, _ = conn.Write([]byte(word + "\n"))
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}

func (c *canaries) serveUDP(t *testing.T) {
	t.Helper()
	l, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.targets.UDP = l.LocalAddr().String()
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for b := make([]byte, 64); ; {
			_, from, err := l.ReadFrom(b)
			if err != nil {
				return
			}
			c.hits.Add(1)
			_, _ = l.WriteTo([]byte(word), from)
		}
	})
}

func (c *canaries) memory(t *testing.T) {
	t.Helper()
	for key := os.Getpid() << 4; ; key++ {
		id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c.targets.ShmKey = key
		t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		return
	}
}

// outside runs a program on the bare machine with a file that says what is to
// be tried: what it can't reach there, it proves nothing about inside.
func outside(t *testing.T, v any, argv ...string) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "targets.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:], path)...)
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
	return string(out)
}
