package runner

import (
	"net"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
)

// quiet is the least time between two reports that differ in numbers only.
const quiet = 100 * time.Millisecond

// reporter tells the outside how it goes. It never holds up the work: where
// nobody listens, nothing is told.
type reporter struct {
	socket string

	mu   sync.Mutex
	r    agent.Report
	last agent.Report // that was sent
	at   time.Time
	conn net.Conn
}

func newReporter(socket string) *reporter { return &reporter{socket: socket} }

// now gives the report as it stands.
func (p *reporter) now() agent.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r
}

// set changes the report and sends it.
func (p *reporter) set(change func(*agent.Report)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change(&p.r); p.r == p.last {
		return
	}
	same := p.r.Phase == p.last.Phase && p.r.End == p.last.End && p.r.Turn == p.last.Turn
	if same && time.Since(p.at) < quiet {
		return
	}
	for range 2 { // a connection that has ended is made anew, once
		if p.send() {
			p.last, p.at = p.r, time.Now()
			return
		}
	}
}

func (p *reporter) send() bool {
	if p.conn == nil {
		conn, err := net.DialTimeout("unix", p.socket, time.Second) //nolint:noctx // a second at most
		if err != nil {
			return false
		}
		p.conn = conn
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := p.conn.Write(p.r.Append(nil)); err != nil {
		_ = p.conn.Close()
		p.conn = nil
		return false
	}
	return true
}

func (p *reporter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}
