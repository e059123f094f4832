// Command rigserve serves the test rig on this machine and prints its address as the
// first line of standard output. SIGTERM and SIGINT stop it. It has no other task.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/proofreel/proofreel/web/rig"
)

func main() {
	port := flag.Int("port", 0, "TCP `port` on 127.0.0.1; 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Stdout, *port); err != nil {
		fmt.Fprintln(os.Stderr, "rigserve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, port int) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := fmt.Fprintf(out, "http://%s/\n", listener.Addr()); err != nil {
		return errors.Join(fmt.Errorf("print the address: %w", err), listener.Close())
	}
	server := &http.Server{Handler: rig.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	// Close and not Shutdown: a browser's idle connection must not hold the exit up.
	if err := server.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
