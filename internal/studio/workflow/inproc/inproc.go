// Package inproc has connections that never leave this process: a listener
// without an address that anybody else could reach.
package inproc

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Listener is a net.Listener whose Dial makes the connections.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen gives a listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (*Listener) Addr() net.Addr { return addr{} }

// Dial connects, wherever it is asked to: as http.Transport.DialContext.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		_, _ = ours.Close(), theirs.Close()
		return nil, fmt.Errorf("connect inside of the process: %w", net.ErrClosed)
	case <-ctx.Done():
		_, _ = ours.Close(), theirs.Close()
		return nil, fmt.Errorf("connect inside of the process: %w", ctx.Err())
	}
}

type addr struct{}

func (addr) Network() string { return "inproc" }
func (addr) String() string  { return "inproc" }
