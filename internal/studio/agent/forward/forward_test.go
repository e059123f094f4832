package forward

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a forwarder to a socket, and gives where it listens and its end.
func start(t *testing.T, socket string) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, socket) }()
	return l.Addr().String(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Bytes, the end of what one side has to say, and an answer after it.
func TestForward(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		c, err := l.Accept()
		if err != nil {
			return
		}
		all, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "%d bytes", len(all))
		_ = c.Close()
	}()
	addr, stop := start(t, socket)
	defer stop()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil || string(got) != "1048576 bytes" {
		t.Errorf("%q, %v", got, err)
	}
	<-served
	_ = l.Close()
}

// Where nobody listens, the agent sees its connection end and the forwarder
// goes on; its end ends connections that hang.
func TestForwardToNobody(t *testing.T) {
	dir := t.TempDir()
	addr, stop := start(t, filepath.Join(dir, "none"))
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("something answered")
	}
	_ = c.Close()
	stop()

	socket := filepath.Join(dir, "hangs")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, stop = start(t, socket)
	if c, err = net.Dial("tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	stop()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
}

// The name is used only where it leads to the forwarder.
func TestBaseURL(t *testing.T) {
	l, err := Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	base := BaseURL(t.Context(), l)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base, nil)
	if err != nil || !strings.Contains(base, "127.0.0.1") && req.URL.Hostname() != Host {
		t.Errorf("base URL %q, %v", base, err)
	}
}
