package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// What we start, we end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Secrets that must be nowhere but in requests to the provider.
const (
	upstreamKey = "sk-ant-CANARY-0123456789"
	orgID       = "org-CANARY-3f2504e0-4f89-11d3-9a0c-0305e82c3301"
)

// door is a gateway with one open job, and a provider behind it.
type door struct {
	t      *testing.T
	up     *gatewaytest.Upstream
	g      *Gateway
	job    *Job
	socket string
	client *http.Client
	log    *syncBuffer
	dir    string

	mu     sync.Mutex
	alarms []Alarm
}

// options of a door; zero fields are the tests' defaults.
type options struct {
	play   func(gatewaytest.Request) gatewaytest.Reply
	config func(*Config)
	job    func(*JobConfig)
	budget ledger.Micros
}

// model costs $1 for a million tokens in and $5 out, for easy sums.
func model() price.Model {
	return price.Model{Name: "good", MaxOutput: 100_000, Rates: price.Rates{
		Input: 1_000_000, Write5m: 1_250_000, Write1h: 2_000_000, Read: 100_000, Output: 5_000_000,
	}}
}

func table(t testing.TB) *price.Table {
	t.Helper()
	d, err := price.Default()
	if err == nil {
		d, err = d.With(model())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func ok(gatewaytest.Request) gatewaytest.Reply {
	return gatewaytest.Message("hello", gatewaytest.Usage(10, 10))
}

func open(t *testing.T, o options) *door {
	t.Helper()
	if o.play == nil {
		o.play = ok
	}
	d := &door{t: t, dir: t.TempDir(), log: &syncBuffer{}}
	d.up = gatewaytest.New(o.play)
	t.Cleanup(d.up.Close)
	c := Config{
		Upstream: Upstream{BaseURL: d.up.URL, Key: NewSecret(upstreamKey)}, Dir: d.dir, Prices: table(t),
		Log: slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Alarm: func(a Alarm) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.alarms = append(d.alarms, a)
		},
		Timeouts: Timeouts{Close: 5 * time.Second},
		Caps:     Caps{Rate: 1e9, Burst: 1e9, InFlight: 64, Conns: 128},
	}
	if o.config != nil {
		o.config(&c)
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	d.g = g
	budget := o.budget
	if budget == 0 {
		budget = ledger.Dollar
	}
	jc := JobConfig{ID: "job-1", Model: "good", Budget: budget, Calls: 1000, Expiry: time.Now().Add(time.Hour)}
	if o.job != nil {
		o.job(&jc)
	}
	d.job, d.socket = d.openJob(jc)
	d.client = gatewaytest.Client(d.socket)
	t.Cleanup(d.client.CloseIdleConnections)
	return d
}

func (d *door) openJob(c JobConfig) (*Job, string) {
	d.t.Helper()
	dir, err := os.MkdirTemp("", "door") // a socket's path must be short
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := gatewaytest.Socket(socket)
	if err != nil {
		d.t.Fatal(err)
	}
	j, err := d.g.Open(c, l)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { j.Close() })
	return j, socket
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// result is an answer as the agent gets it.
type result struct {
	code   int
	header http.Header
	body   string
}

func (r result) rule() string { return r.header.Get(headerRule) }

// post sends a body with the job's token, and whatever headers.
func (d *door) post(path, body string, headers ...string) result {
	d.t.Helper()
	r, err := d.try(path, body, headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *door) request(path, body string, headers ...string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, "http://llm.internal"+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", d.job.Token())
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	return req
}

func (d *door) try(path, body string, headers ...string) (result, error) {
	resp, err := d.client.Do(d.request(path, body, headers...))
	if err != nil {
		return result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(raw)}, err
}

// raw sends bytes and gives the status code and the rule of each of at most n
// answers, until the door hangs up.
func (d *door) raw(n int, text string) (codes []int, rules []string) {
	d.t.Helper()
	c, err := net.Dial("unix", d.socket)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, text); err != nil {
		return nil, nil
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(c)
	for len(codes) < n {
		resp, err := http.ReadResponse(r, nil) //nolint:bodyclose // the connection is closed
		if err != nil {
			return codes, rules
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		codes = append(codes, resp.StatusCode)
		rules = append(rules, resp.Header.Get(headerRule))
		if resp.Close {
			break
		}
	}
	return codes, rules
}

// spent waits until no reservation is open and gives what was spent: a call
// may be settled after the agent has its answer.
func (d *door) spent() ledger.Statement {
	d.t.Helper()
	for range 1000 {
		if s := d.job.Summary().Statement; s.Open == 0 {
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.t.Fatalf("a reservation stays open: %+v", d.job.Summary())
	return ledger.Statement{}
}

// alarmed gives the kinds of the alarms so far.
func (d *door) alarmed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var kinds []string
	for _, a := range d.alarms {
		kinds = append(kinds, a.Kind)
	}
	return strings.Join(kinds, " ")
}

// ask is a small request that may write so many tokens.
func ask(maxTokens int) string {
	return fmt.Sprintf(`{"model":"good","max_tokens":%d,"messages":[{"role":"user","content":"hi"}]}`, maxTokens)
}

func askStream(maxTokens int) string {
	return strings.Replace(ask(maxTokens), `"messages"`, `"stream":true,"messages"`, 1)
}

func pinsOf(j *Job) policy.Pins { return policy.Pins{Model: j.c.Model, User: j.user} }
