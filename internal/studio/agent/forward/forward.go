// Package forward is the static way inside a box from 127.0.0.1 to the
// gateway's socket: bytes in both directions, and nothing else. It is on the
// hostile side and proves nothing; it is there because most programs can speak
// HTTP to an address only.
package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// Host is the gateway's name in every box; /etc/hosts there says where it is.
const Host = "llm.internal"

// most bounds the connections at once. The gateway has a bound of its own.
const most = 64

// Listen listens on 127.0.0.1: on port 80 where that may be bound, else on
// 8080, else on a free one.
func Listen(ctx context.Context) (net.Listener, error) {
	var c net.ListenConfig
	var all error
	for _, port := range []int{80, 8080, 0} {
		l, err := c.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return l, nil
		}
		all = errors.Join(all, err)
	}
	return nil, fmt.Errorf("listen for the agent: %w", all)
}

// BaseURL is where an agent finds the gateway through l: by its name where
// that is known, as in every box, else by its address.
func BaseURL(ctx context.Context, l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	// In a box a file answers. Elsewhere a resolver might, after a long while.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if known, err := net.DefaultResolver.LookupHost(ctx, Host); err == nil && len(known) > 0 && known[0] == host {
		host = Host
	}
	if port == "80" {
		return "http://" + host
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Serve passes the connections of l on to a unix socket until ctx ends or l is
// closed, and waits for them. It closes l.
func Serve(ctx context.Context, l net.Listener, socket string) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	free := make(chan struct{}, most)
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("take the agent's connection: %w", err)
		}
		running.Go(func() {
			defer func() { <-free }()
			pass(ctx, conn, socket)
		})
	}
}

// pass connects two ends until both directions have ended, or ctx has.
func pass(ctx context.Context, near net.Conn, socket string) {
	defer func() { _ = near.Close() }()
	var d net.Dialer
	far, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return // the agent sees its connection end
	}
	defer func() { _ = far.Close() }()
	stop := context.AfterFunc(ctx, func() { _, _ = near.Close(), far.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() { half(near, far) })
	half(far, near)
	back.Wait()
}

// half copies one direction and hands its end on.
func half(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if c, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = c.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}
