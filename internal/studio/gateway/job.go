package gateway

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Job is a job's open door.
type Job struct {
	g     *Gateway
	c     JobConfig
	caps  Caps
	model price.Model
	log   *slog.Logger
	token string
	user  string // its opaque name at the provider

	budget *ledger.Budget
	server *http.Server
	served chan struct{}   // closed when the server has ended
	ctx    context.Context //nolint:containedctx // of the job: calls outlive the agent's requests
	cancel context.CancelFunc
	calls  sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex
	closed  bool
	limiter limiter
	denied  map[string]int
	dropped map[string]int
	alarms  []string
	tokens  price.Tokens
}

// Summary tells what a job did.
type Summary struct {
	ledger.Statement
	Denied  map[string]int // refused requests by rule
	Dropped map[string]int // what was left out of requests, by the policy's names
	Alarms  []string
	Tokens  price.Tokens // of the calls whose usage was told
}

// Token is what the agent authenticates with, as x-api-key or as a bearer. It
// is worth the rest of this job's budget, on this job's door, until the job
// ends.
func (j *Job) Token() string { return j.token }

func (j *Job) serve(l net.Listener) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	t := j.g.c.Timeouts
	j.server = &http.Server{
		Handler:                      j,
		Protocols:                    protocols,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            t.Header,
		IdleTimeout:                  t.Idle,
		MaxHeaderBytes:               j.caps.HeaderBytes,
		ErrorLog:                     log.New(serverLog{j.log}, "", 0),
	}
	j.served = make(chan struct{})
	go func() {
		defer close(j.served)
		if err := j.server.Serve(limitConns(l, j.caps)); !errors.Is(err, http.ErrServerClosed) {
			j.alarm("door", err.Error(), false)
		}
	}()
}

// serverLog takes net/http's own lines. They can hold the agent's bytes, so
// they are quoted by the handler and cut.
type serverLog struct{ log *slog.Logger }

func (s serverLog) Write(p []byte) (int, error) {
	s.log.Debug("door", "line", string(p[:min(len(p), 200)]))
	return len(p), nil
}

// Summary tells how the job stands.
func (j *Job) Summary() Summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Summary{
		Statement: j.budget.Statement(), Tokens: j.tokens,
		Denied: maps.Clone(j.denied), Dropped: maps.Clone(j.dropped), Alarms: append([]string(nil), j.alarms...),
	}
}

// Close shuts the door: the token is worth nothing from now on, and the job's
// budget nothing either, to whoever opens it again. Calls that run
// may end by themselves for a while, and are billed by their usage; then they
// are cut off and billed in full. A second Close gives the same summary.
func (j *Job) Close() Summary {
	j.mu.Lock()
	again := j.closed
	j.closed = true
	j.mu.Unlock()
	if again {
		<-j.served
		j.calls.Wait()
		return j.Summary()
	}
	// What waits for its turn must not go out any more, and nobody who opens the
	// journal again may spend what is left.
	if err := j.budget.Stop("ended"); err != nil {
		j.alarm("ledger", err.Error(), false)
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.g.c.Timeouts.Close)
	defer cancel()
	_ = j.server.Shutdown(ctx) // an agent that holds its connection open is cut off below
	j.cancel()
	_ = j.server.Close()
	<-j.served
	j.calls.Wait()
	if _, err := j.budget.Close(); err != nil {
		j.alarm("ledger", err.Error(), false)
	}
	return j.Summary()
}

// alarm tells of what should not be, and stops the job when it must not go on.
func (j *Job) alarm(kind, detail string, stop bool) {
	j.log.Error("alarm", "kind", kind, "detail", detail, "stopped", stop)
	if stop {
		if err := j.budget.Stop("alarm_" + kind); err != nil {
			j.log.Error("stop the job", "error", err)
		}
	}
	const enough = 100 // the summary's; the log has all
	j.mu.Lock()
	if len(j.alarms) < enough {
		j.alarms = append(j.alarms, kind+": "+detail)
	}
	j.mu.Unlock()
	if j.g.c.Alarm != nil {
		j.g.c.Alarm(Alarm{Job: j.c.ID, Kind: kind, Detail: detail, Stopped: stop})
	}
}

// note counts something and says how often it was.
func (j *Job) note(to map[string]int, what string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	to[what]++
	return to[what]
}

// deny answers with a denial and counts it.
func (j *Job) deny(w http.ResponseWriter, d *denial) {
	const enough = 100 // of a rule: an agent must not fill the operator's disk; the summary has the number
	if n := j.note(j.denied, d.Rule); n <= enough {
		j.log.Info("denied", "rule", d.Rule, "place", d.Place, "last", n == enough)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(j.g.c.Timeouts.Write))
	d.write(w)
}

// limiter is a bucket of requests.
type limiter struct {
	rate, burst, left float64
	last              time.Time
}

// take takes cost out of the bucket, or says that it is empty.
func (l *limiter) take(cost float64, now time.Time) bool {
	l.left = min(l.burst, l.left+l.rate*max(0, now.Sub(l.last).Seconds()))
	l.last = now
	if l.left < min(cost, l.burst) {
		return false
	}
	l.left -= cost
	return true
}

// take1 takes one out of the bucket and says how long to wait for it.
func (l *limiter) take1(now time.Time) time.Duration {
	if l.take(1, now) {
		return 0
	}
	missing := 1 - l.left
	l.left--
	return min(time.Second, time.Duration(missing/l.rate*float64(time.Second)))
}

// limitConns lets so many connections be open at once, and new ones come no
// faster than requests may: others wait unaccepted. What an agent sends is read
// outside of its box, so its box's limit does not bound the work.
func limitConns(l net.Listener, c Caps) net.Listener {
	pace := limiter{rate: c.Rate, burst: c.Burst, left: c.Burst, last: time.Now()}
	return &limited{Listener: l, slots: make(chan struct{}, c.Conns), pace: pace, done: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots chan struct{}
	pace  limiter // of the one goroutine that accepts
	done  chan struct{}
	once  sync.Once
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err //nolint:wrapcheck // the server knows net's errors
	}
	if wait := l.pace.take1(time.Now()); wait > 0 {
		select {
		case <-time.After(wait):
		case <-l.done: // the server closes it
		}
	}
	return &limitedConn{Conn: c, free: func() { <-l.slots }}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close() //nolint:wrapcheck // as above
}

type limitedConn struct {
	net.Conn
	once sync.Once
	free func()
}

func (c *limitedConn) Close() error {
	defer c.once.Do(c.free)
	return c.Conn.Close() //nolint:wrapcheck // as above
}

// CloseWrite lets the server end its side first, so that the agent can read
// the answer to a request whose body was not taken.
func (c *limitedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite() //nolint:wrapcheck // as above
	}
	return nil
}
