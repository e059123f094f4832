package gateway

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Random calls at once through a real gateway and a provider that does what it
// likes: never over the budget, and what the provider was asked for is booked.
// The ledger's own schedules are many more; these go through everything.
func TestSchedules(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.checks", "1000")
		t.Cleanup(func() { _ = flag.Set("rapid.checks", f.DefValue) })
	}
	var cost atomic.Int64 // what the provider would send a bill for
	up := gatewaytest.New(func(r gatewaytest.Request) gatewaytest.Reply { return scripted(r, &cost) })
	defer up.Close()
	g, err := New(Config{
		Upstream: Upstream{BaseURL: up.URL}, Dir: t.TempDir(), Prices: table(t),
		Caps: Caps{Rate: 1e9, Burst: 1e9, MinTokens: 10}, Timeouts: Timeouts{Close: 10 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	sockets, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(sockets) }()
	var jobs int
	rapid.Check(t, func(rt *rapid.T) {
		jobs++
		cost.Store(0)
		before := up.Messages()
		budget := ledger.Micros(rapid.Int64Range(0, 8000).Draw(rt, "budget"))
		plans := rapid.SliceOfN(rapid.SampledFrom([]string{
			"used", "full", "refused", "cut", "leave", "leave cut", "malformed", "usage lies",
		}), 1, 8).Draw(rt, "plans")
		tokens := rapid.IntRange(0, 300).Draw(rt, "tokens")

		l, err := gatewaytest.Socket(filepath.Join(sockets, fmt.Sprint(jobs)))
		if err != nil {
			rt.Fatal(err)
		}
		j, err := g.Open(JobConfig{ID: fmt.Sprintf("j%d", jobs), Model: "good", Budget: budget, Calls: 6, Expiry: time.Now().Add(time.Hour)}, l)
		if err != nil {
			rt.Fatal(err)
		}
		client := gatewaytest.Client(l.Addr().String())
		var wg sync.WaitGroup
		for _, plan := range plans {
			wg.Go(func() { agent(client, j.Token(), plan, tokens) })
		}
		wg.Wait()
		client.CloseIdleConnections()
		s := j.Close()
		went := up.Messages() - before
		if s.Spent > budget || s.Held != 0 || s.Calls > 6 || s.Calls < went {
			rt.Fatalf("%d calls went out of %v, budget %d: %+v", went, plans, budget, s.Statement)
		}
		if truth := ledger.Micros(cost.Load()); s.Spent+s.Overrun < truth {
			rt.Fatalf("the calls %v cost %d: %+v", plans, truth, s.Statement)
		}
	})
}

// scripted answers as the request's text says, and adds up what the answer
// truly costs.
func scripted(r gatewaytest.Request, cost *atomic.Int64) gatewaytest.Reply {
	bill := func(in, out int) { cost.Add(int64(in + 5*out)) }
	is := func(plan string) bool { return strings.Contains(r.Body, `"content":"`+plan+`"`) }
	var most int
	_, _ = fmt.Sscanf(r.Body, `{"model":"good","max_tokens":%d`, &most)
	in, out := 20, most
	switch {
	case is("refused"):
		return gatewaytest.Error(429, "rate_limit_error", "x")
	case is("full"):
		bill(in, out)
		return gatewaytest.Error(500, "api_error", "x")
	case is("usage lies"):
		bill(in, out)
		return gatewaytest.Message("x", gatewaytest.Usage(in, -out))
	case is("cut"), is("leave cut"):
		bill(in, out)
		s := gatewaytest.Stream(gatewaytest.Usage(in, 0), gatewaytest.Usage(in, out), "a")
		s.Events, s.Cut = s.Events[:3], true
		return s
	case r.Streaming():
		bill(in, out)
		return gatewaytest.Stream(gatewaytest.Usage(in, 0), gatewaytest.Usage(in, out), "a")
	default:
		bill(in, out)
		return gatewaytest.Message("x", gatewaytest.Usage(in, out))
	}
}

// agent makes one call as planned, and does not care for the answer.
func agent(client *http.Client, token, plan string, tokens int) {
	body := ask(tokens)
	if plan == "cut" || strings.HasPrefix(plan, "leave") {
		body = askStream(tokens)
	}
	body = strings.Replace(body, `"hi"`, `"`+plan+`"`, 1)
	if plan == "malformed" {
		body = strings.Replace(body, `"model"`, `"model":1,"model"`, 1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://llm.internal"+pathMessages, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", token)
	resp, err := client.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if strings.HasPrefix(plan, "leave") {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}
