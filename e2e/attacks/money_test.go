package attacks

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Prices of the author's model, in micro-dollars a million tokens: what the
// provider bills, worked out on its side.
const (
	inputPrice  = 2_000_000
	outputPrice = 10_000_000
)

// bill is what the provider asks for: of every answer the tokens that its
// usage told.
type bill struct{ calls, micros atomic.Int64 }

func (b *bill) add(input, output int) {
	b.calls.Add(1)
	b.micros.Add(int64((input*inputPrice + output*outputPrice + 999_999) / 1_000_000))
}

// writes gives the max_tokens of a request, which the provider uses up.
func writes(r gatewaytest.Request) int {
	var m struct {
		MaxTokens int `json:"max_tokens"`
	}
	if json.Unmarshal([]byte(r.Body), &m) != nil {
		return 0
	}
	return m.MaxTokens
}

// spender is a request that writes as much as it may.
func spender(word string) []byte {
	return raw(line, plain, strings.Replace(strings.Replace(body(`"stream":true`), `"hi"`, `"`+word+`"`, 1), ":16", ":2000", 1))
}

// money: whatever a job does, it does not cost more than its budget, and no
// call that was made goes uncounted.
func (l *lab) money(t *testing.T) {
	l.race(t)
	l.aborts(t)
	l.usage(t)
}

// race: sixty calls at once, of which the budget pays a few.
func (l *lab) race(t *testing.T) {
	var b bill
	budget := ledger.Dollar / 4
	o := l.run(t, job{
		name: "race", budget: budget,
		steps: [][]call{{put("r.json", []request{{ID: "race", Raw: spender("SPEND-race"), Times: 60}}), hostile("requests", "/work/r.json")}, {hostile("film", "good")}},
		play: map[string]playing{"SPEND-race": func(r gatewaytest.Request) gatewaytest.Reply {
			n := writes(r)
			b.add(40, n)
			reply := gatewaytest.Stream(gatewaytest.Usage(40, 1), gatewaytest.Usage(40, n), "x")
			reply.Wait = 50 * time.Millisecond
			return reply
		}},
	})
	spent := ledger.Micros(b.micros.Load())
	l.table.add("money", "60 calls at once: the bill", "within the budget", words(spent <= budget, "within the budget", fmt.Sprintf("%v of %v", spent, budget)), fmt.Sprintf("%d calls passed, %v", b.calls.Load(), spent))
	refused := l.denied("race", "budget_exhausted")
	l.table.add("money", "60 calls at once: the others", "refused, counted", words(refused > 0 && refused+int(b.calls.Load()) >= 60, "refused, counted", fmt.Sprint(refused)), words(b.calls.Load() > 0, "some passed", ""))
	l.table.add("money", "60 calls at once: the job", "budget_exhausted", o.code(), "good jobs are published")
}

// aborts: an agent that leaves in the middle of an answer pays for it.
func (l *lab) aborts(t *testing.T) {
	var b bill
	slow := func(r gatewaytest.Request) gatewaytest.Reply {
		n := writes(r)
		b.add(40, n)
		reply := gatewaytest.Stream(gatewaytest.Usage(40, 1), gatewaytest.Usage(40, n), "x", "y", "z")
		for i := range reply.Events {
			reply.Events[i].Wait = 30 * time.Millisecond
		}
		return reply
	}
	cut := func(r gatewaytest.Request) gatewaytest.Reply {
		n := writes(r)
		b.add(40, n)
		reply := gatewaytest.Stream(gatewaytest.Usage(40, 1), gatewaytest.Usage(40, n), "x")
		reply.Events, reply.Cut = reply.Events[:3], true
		return reply
	}
	silent := func(r gatewaytest.Request) gatewaytest.Reply {
		b.add(40, writes(r))
		return gatewaytest.Reply{Body: `{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","stop_sequence":null}`}
	}
	var list []request
	for i, read := range []int{1, 20, 200, 600} {
		list = append(list, request{ID: fmt.Sprintf("abort-%d", i), Raw: spender("SLOW-abort"), Read: read})
	}
	list = append(list, request{ID: "cut", Raw: spender("CUT-abort")}, request{ID: "silent", Raw: spender("SILENT-abort")})
	o := l.run(t, job{
		name: "aborts", play: map[string]playing{"SLOW-abort": slow, "CUT-abort": cut, "SILENT-abort": silent},
		steps: [][]call{{put("r.json", list), hostile("requests", "/work/r.json")}, {hostile("film", "good")}},
	})
	l.table.add("money", "leaving in the middle of answers", "published", o.code(), "it is the control")
	spent, billed := int64(o.res.Spent), b.micros.Load()
	l.table.add("money", "the ledger and the bill", "all is counted", words(spent >= billed && b.calls.Load() == 6, "all is counted", fmt.Sprintf("%d of %d, %d calls", spent, billed, b.calls.Load())), fmt.Sprintf("%d micro-dollars billed, %d counted", billed, spent))
}

// usage: a provider's number that can't be true stops the job.
func (l *lab) usage(t *testing.T) {
	for name, usage := range map[string]string{
		"negative": `{"input_tokens":40,"output_tokens":-5}`, "huge": `{"input_tokens":40,"output_tokens":99999999999999}`, "no number": `{"input_tokens":40,"output_tokens":"5"}`,
	} {
		id := "usage-" + strings.ReplaceAll(name, " ", "-")
		word := "WORD-" + id
		ask := request{ID: "first", Raw: raw(line, plain, strings.Replace(body(""), `"hi"`, `"`+word+`"`, 1))}
		again := request{ID: "second", Raw: raw(line, plain, body(""))}
		o := l.run(t, job{
			name: id, play: map[string]playing{word: func(gatewaytest.Request) gatewaytest.Reply { return gatewaytest.Message("x", usage) }},
			steps: [][]call{{put("r.json", []request{ask, again}), hostile("requests", "/work/r.json")}, {hostile("film", "good")}},
		})
		l.table.add("money", "usage that is "+name, "stopped", words(l.denied(id, "job_stopped") > 0, "stopped", "went on: "+o.code()), "other jobs go on")
	}
}
