// Package gateway is the only door of a job's box: an HTTP server on a socket
// of the job's own, behind which lies one model's API. It takes every byte as
// an enemy's. A call is parsed strictly, written anew by the policy's tables,
// and paid for before it goes out: its worst case is reserved in the job's
// ledger, and settled by the usage that the answer reports.
//
// Here lie the front, the tokens, the metering and the relay. What may pass is
// the policy's, what it costs the price table's, and what is left the
// ledger's. Boxes and agents are not known here.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Config of a gateway. Upstream and Dir are needed; the zero value of the
// others means what is said there.
type Config struct {
	Upstream Upstream
	Dir      string        // where the jobs' journals are; it exists
	Prices   *price.Table  // nil: the built-in table
	Policy   policy.Limits // zero fields: the defaults
	Timeouts Timeouts      // zero fields: the defaults
	Caps     Caps          // of jobs that bring none; zero fields: the defaults
	Key      []byte        // signs tokens, 32 bytes or more; nil: a random one
	Sync     bool          // wait for the disk at each reservation
	Now      func() time.Time
	Log      *slog.Logger // nil: nowhere
	Alarm    func(Alarm)  // told of what should never happen; it must not block; nil: only logged
}

// Alarm says that something was not as it must be: usage that can't be true,
// our key refused. The job was stopped when Stopped says so.
type Alarm struct {
	Job, Kind, Detail string
	Stopped           bool
}

// Timeouts of the two sides.
type Timeouts struct {
	Header  time.Duration // of the agent's request header; 10 s
	Body    time.Duration // of its body; 60 s
	Idle    time.Duration // of its connection between requests; 2 min
	Write   time.Duration // of one write to the agent; 30 s
	Dial    time.Duration // to the provider, TLS included; 15 s
	Call    time.Duration // of a whole call to the provider; 15 min
	Silence time.Duration // of the provider between two events of a stream; 3 min
	Drain   time.Duration // for which an answer is read on when the agent is gone; 5 min
	Close   time.Duration // for which Close waits for calls to end by themselves; 30 s
}

// Caps bound a job. They are about load, not about money.
type Caps struct {
	MaxTokens   int64   // tokens that a call may write; 32,000
	MinTokens   int64   // with less than this, a call is not worth making: refused; 1,024
	Counts      int     // count_tokens calls; 1,000
	InFlight    int     // calls at once: more wait; 4
	Conns       int     // connections at once: more wait; 16
	Rate        float64 // requests a second, of 1 MiB each, in the long run; 20
	Burst       float64 // and at once; 60
	Body        int64   // bytes of a request; 16 MiB
	Answer      int64   // bytes of an answer; 32 MiB
	Event       int     // bytes of one event of a stream; 1 MiB
	HeaderBytes int     // bytes of a request's header; 16 KiB
}

// JobConfig is what a job may do.
type JobConfig struct {
	ID     string // 1 to 64 lower case letters, digits, dashes
	Model  string // the only model; without a price it is refused
	Budget ledger.Micros
	Calls  int
	Expiry time.Time // of the token
	Caps   *Caps     // nil: the gateway's
}

// NoPriceError says that a model can't be called because nobody knows what it
// costs.
type NoPriceError struct{ Model, Version string }

func (e *NoPriceError) Error() string {
	return fmt.Sprintf("the price table %s has no price of the model %q", e.Version, e.Model)
}

// Gateway opens doors for jobs.
type Gateway struct {
	c      Config
	prices price.Table
	rules  *policy.Rules
	up     *upstream
	log    *slog.Logger
}

// New makes a gateway. It connects to nothing yet.
func New(c Config) (*Gateway, error) {
	g := &Gateway{c: c, rules: policy.New(c.Policy), log: c.Log}
	g.c.Timeouts = c.Timeouts.withDefaults()
	g.c.Caps = c.Caps.withDefaults(defaultCaps())
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.c.Now == nil {
		g.c.Now = time.Now
	}
	var err error
	if c.Prices != nil {
		g.prices = *c.Prices
	} else if g.prices, err = price.Default(); err != nil {
		return nil, err
	}
	if c.Key == nil {
		if g.c.Key, err = newKey(); err != nil {
			return nil, err
		}
	} else if len(c.Key) < 32 {
		return nil, errors.New("the signing key has less than 32 bytes")
	}
	if g.up, err = newUpstream(c.Upstream, g.c.Timeouts); err != nil {
		return nil, err
	}
	return g, nil
}

// Close drops idle connections to the provider. Jobs are closed by their own
// Close.
func (g *Gateway) Close() { g.up.client.CloseIdleConnections() }

// Journal gives where a job's journal is.
func (g *Gateway) Journal(job string) string { return filepath.Join(g.c.Dir, job+".ledger") }

// Open opens a job's door on a listener, which it then owns: the job's own
// socket, which no other job can reach. A job whose server has died goes on
// with its journal: what was open there is spent. *NoPriceError: the model has no price.
func (g *Gateway) Open(c JobConfig, l net.Listener) (*Job, error) {
	j, err := g.newJob(c)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("open the door of job %s: %w", c.ID, err)
	}
	j.serve(l)
	return j, nil
}

func (g *Gateway) newJob(c JobConfig) (*Job, error) {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`).MatchString(c.ID) {
		return nil, fmt.Errorf("%q can't be a job's id", c.ID)
	}
	model, ok := g.prices.Find(c.Model)
	if !ok {
		return nil, &NoPriceError{c.Model, g.prices.Version}
	}
	caps := g.c.Caps
	if c.Caps != nil {
		caps = c.Caps.withDefaults(caps)
	}
	limits := ledger.Limits{Money: c.Budget, Calls: c.Calls, Counts: caps.Counts}
	o := ledger.Options{Sync: g.c.Sync, Now: g.c.Now}
	budget, err := ledger.OpenOrCreate(g.Journal(c.ID), c.ID, limits, o)
	if err != nil {
		return nil, err
	}
	j := &Job{
		g: g, c: c, caps: caps, model: model, budget: budget,
		log:    g.log.With("job", c.ID),
		token:  mint(g.c.Key, claims{c.ID, c.Model, c.Expiry}),
		user:   "job-" + sign(g.c.Key, "user "+c.ID)[:22],
		slots:  make(chan struct{}, caps.InFlight),
		denied: map[string]int{}, dropped: map[string]int{},
	}
	j.limiter = limiter{rate: caps.Rate, burst: caps.Burst, left: caps.Burst, last: g.c.Now()}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j, nil
}

func (t Timeouts) withDefaults() Timeouts {
	t.Header = cmp.Or(t.Header, 10*time.Second)
	t.Body = cmp.Or(t.Body, time.Minute)
	t.Idle = cmp.Or(t.Idle, 2*time.Minute)
	t.Write = cmp.Or(t.Write, 30*time.Second)
	t.Dial = cmp.Or(t.Dial, 15*time.Second)
	t.Call = cmp.Or(t.Call, 15*time.Minute)
	t.Silence = cmp.Or(t.Silence, 3*time.Minute)
	t.Drain = cmp.Or(t.Drain, 5*time.Minute)
	t.Close = cmp.Or(t.Close, 30*time.Second)
	return t
}

func defaultCaps() Caps {
	return Caps{
		MaxTokens: 32_000, MinTokens: 1024, Counts: 1000, InFlight: 4, Conns: 16, Rate: 20, Burst: 60,
		Body: 16 << 20, Answer: 32 << 20, Event: 1 << 20, HeaderBytes: 16 << 10,
	}
}

func (c Caps) withDefaults(d Caps) Caps {
	c.MaxTokens = cmp.Or(c.MaxTokens, d.MaxTokens)
	c.MinTokens = cmp.Or(c.MinTokens, d.MinTokens)
	c.Counts = cmp.Or(c.Counts, d.Counts)
	c.InFlight = cmp.Or(c.InFlight, d.InFlight)
	c.Conns = cmp.Or(c.Conns, d.Conns)
	c.Rate = cmp.Or(c.Rate, d.Rate)
	c.Burst = cmp.Or(c.Burst, d.Burst)
	c.Body = cmp.Or(c.Body, d.Body)
	c.Answer = cmp.Or(c.Answer, d.Answer)
	c.Event = cmp.Or(c.Event, d.Event)
	c.HeaderBytes = cmp.Or(c.HeaderBytes, d.HeaderBytes)
	return c
}
