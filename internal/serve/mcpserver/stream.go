package mcpserver

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// linger is for how long the end of the client's side is held back while calls
// are in flight, so that a client which closes it behind its last request gets
// the answers that are quick.
const linger = 2 * time.Second

// watched is a transport that says when the client has gone. The library would
// first wait for the calls in flight, for answers that nobody takes.
type watched struct {
	mcp.Transport
	gone func()
}

// Connect connects the transport that is watched.
func (w *watched) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &peer{Connection: conn, gone: w.gone, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// peer is the client, by its connection.
type peer struct {
	mcp.Connection
	gone     func()
	inFlight atomic.Int64
	answered chan struct{}
	once     sync.Once
	closed   chan struct{}
}

// Read reads a message. At the client's end it waits for the quick answers.
func (p *peer) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := p.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		p.inFlight.Add(1)
	}
	if err != nil {
		p.finish()
		p.gone()
	}
	return msg, err //nolint:wrapcheck // the library looks for io.EOF
}

func (p *peer) finish() {
	late := time.NewTimer(linger)
	defer late.Stop()
	for p.inFlight.Load() > 0 {
		select {
		case <-p.answered:
		case <-p.closed:
			return
		case <-late.C:
			return
		}
	}
}

// Write writes a message and notes answers.
func (p *peer) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := p.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		p.inFlight.Add(-1)
		select {
		case p.answered <- struct{}{}:
		default: // it is known already
		}
	}
	return err //nolint:wrapcheck // the library's own
}

// Close closes the connection; it may be called again.
func (p *peer) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Connection.Close() //nolint:wrapcheck // the library's own
}

// output is the side that we write. It is not closed: another file would get
// the number of standard output, and what is printed there by mistake.
type output struct{ io.Writer }

func (output) Close() error { return nil }
