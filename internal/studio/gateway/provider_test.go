package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// What the provider can do wrong. Billed is what it truly may have cost: by
// usage, in full when nobody knows, nothing when the call was not begun.
func TestProviderMisbehaves(t *testing.T) {
	const (
		nothing = "nothing"
		full    = "full"
		used    = "used"
	)
	stream := func(bend func(*gatewaytest.Reply)) gatewaytest.Reply {
		r := gatewaytest.Stream(gatewaytest.Usage(10, 1), gatewaytest.Usage(10, 20), "a")
		bend(&r)
		return r
	}
	secretError := func(code int, typ string) gatewaytest.Reply {
		r := gatewaytest.Error(code, typ, "organization "+orgID+" with key "+upstreamKey+" sent: hi")
		r.Header = http.Header{"Retry-After": {"7"}, "Anthropic-Organization-Id": {orgID}}
		return r
	}
	type reply = gatewaytest.Reply
	cases := []struct {
		name   string
		stream bool
		reply  reply
		code   int
		rule   string
		billed string
		alarm  string
	}{
		{"400", false, secretError(400, "invalid_request_error"), 400, "upstream_invalid_request", nothing, ""},
		{"401", false, secretError(401, "authentication_error"), 502, "upstream_authentication", nothing, "upstream"},
		{"403", false, secretError(403, "permission_error"), 502, "upstream_permission", nothing, "upstream"},
		{"404", false, secretError(404, "not_found_error"), 404, "upstream_not_found", nothing, ""},
		{"413", false, secretError(413, "request_too_large"), 413, "upstream_request_too_large", nothing, ""},
		{"429", false, secretError(429, "rate_limit_error"), 429, "upstream_rate_limit", nothing, ""},
		{"429 of a stream", true, secretError(429, "rate_limit_error"), 429, "upstream_rate_limit", nothing, ""},
		{"529", false, secretError(529, "overloaded_error"), 529, "upstream_overloaded", nothing, ""},
		{"500", false, secretError(500, "api_error"), 500, "upstream_api", full, ""},
		{"504", false, secretError(504, "timeout_error"), 504, "upstream_timeout", full, ""},
		{"an error of no known type", false, secretError(400, "evil_error"), 502, "upstream_answer", full, ""},
		{"an error with 200", false, secretError(200, "api_error"), 502, "upstream_answer", full, ""},
		{"a page", false, reply{Status: 502, Body: "<html>" + orgID, Header: http.Header{"Content-Type": {"text/html"}}}, 502, "upstream_answer", full, ""},
		{"a redirect", false, reply{Status: 307, Header: http.Header{"Location": {"http://evil.example/"}}}, 502, "upstream_answer", full, ""},
		{"not a message", false, reply{Body: `{"type":"completion"}`}, 502, "upstream_answer", full, ""},
		{"no JSON", false, reply{Body: `{"type":"message"`}, 502, "upstream_answer", full, ""},
		{"a name twice", false, reply{Body: `{"type":"message","usage":{"output_tokens":100},"usage":{"output_tokens":0}}`}, 502, "upstream_answer", full, ""},
		{"no usage", false, reply{Body: `{"type":"message"}`}, 200, "", full, ""},
		{"usage of null", false, reply{Body: `{"type":"message","usage":null}`}, 200, "", full, ""},
		{"usage without output", false, reply{Body: `{"type":"message","usage":{"input_tokens":1}}`}, 200, "", full, ""},
		{"negative usage", false, gatewaytest.Message("x", gatewaytest.Usage(10, -10)), 200, "", full, "usage"},
		{"huge usage", false, gatewaytest.Message("x", `{"output_tokens":1e300}`), 200, "", full, "usage"},
		{"NaN", false, reply{Body: `{"type":"message","usage":{"output_tokens":NaN}}`}, 502, "upstream_answer", full, ""},
		{"usage beyond the reservation", false, gatewaytest.Message("x", gatewaytest.Usage(10, 5000)), 200, "", full, "overrun"},
		{"fast", false, gatewaytest.Message("x", `{"output_tokens":1,"speed":"fast"}`), 200, "", full, "usage"},
		{"a web search", false, gatewaytest.Message("x", `{"output_tokens":1,"server_tool_use":{"web_search_requests":1}}`), 200, "", full, "usage"},
		{"a second sampling", false, gatewaytest.Message("x", `{"output_tokens":1,"iterations":[{"type":"compaction","output_tokens":5}]}`), 200, "", full, "usage"},
		{"another model", false, reply{Body: `{"type":"message","model":"claude-fable-5-1","usage":{"output_tokens":1}}`}, 200, "", full, "usage"},
		{"packed", false, reply{Body: "\x1f\x8b\x08", Header: http.Header{"Content-Encoding": {"gzip"}}}, 502, "upstream_answer", full, ""},
		{"a packed error", false, reply{Status: 429, Body: "\x1f\x8b\x08", Header: http.Header{"Content-Encoding": {"br"}}}, 502, "upstream_answer", full, ""},
		{"huge answer", false, reply{Body: `{"type":"message","x":"` + strings.Repeat("x", 3<<20) + `"}`}, 502, "upstream_answer", full, ""},
		{"deep answer", false, reply{Body: strings.Repeat("[", 5000)}, 502, "upstream_answer", full, ""},
		{"cut answer", false, reply{Body: `{"type":"message",`, Cut: true}, 502, "upstream_answer", full, ""},
		{"hangs up", false, reply{Cut: true}, 502, "upstream_answer", full, ""},
		{"hangs", false, reply{Hang: true}, 504, "upstream_timeout", full, ""},
		{"a stream where none was asked for", false, stream(func(*reply) {}), 502, "upstream_answer", full, ""},
		{"no stream where one was asked for", true, gatewaytest.Message("x", gatewaytest.Usage(1, 1)), 502, "upstream_answer", full, ""},

		{"good stream", true, stream(func(*reply) {}), 200, "", used, ""},
		{"stream cut before its usage", true, stream(func(r *reply) { r.Events, r.Cut = r.Events[:3], true }), 200, "", full, ""},
		{"stream ends before its usage", true, stream(func(r *reply) { r.Events = r.Events[:3] }), 200, "", full, ""},
		{"stream ends after its usage", true, stream(func(r *reply) { r.Events = r.Events[:5] }), 200, "", used, ""},
		{"stream stops without usage", true, stream(func(r *reply) { r.Events = append(r.Events[:3:3], r.Events[5]) }), 200, "", full, ""},
		{"stream hangs", true, stream(func(r *reply) { r.Events, r.Hang = r.Events[:3], true }), 200, "", full, ""},
		{"usage falls", true, stream(func(r *reply) {
			r.Events[0].Data = strings.Replace(r.Events[0].Data, `"output_tokens":1`, `"output_tokens":20`, 1)
			r.Events[4].Data = strings.Replace(r.Events[4].Data, `"output_tokens":20`, `"output_tokens":2`, 1)
		}), 200, "", used, ""},
		{"usage twice is not their sum", true, stream(func(r *reply) { r.Events = append(r.Events[:5:5], r.Events[4:]...) }), 200, "", used, ""},
		{"negative usage in a stream", true, stream(func(r *reply) {
			r.Events[4].Data = strings.Replace(r.Events[4].Data, `"output_tokens":20`, `"output_tokens":-2`, 1)
		}), 200, "", full, "usage"},
		{"negative usage at its start", true, stream(func(r *reply) {
			r.Events[0].Data = strings.Replace(r.Events[0].Data, `"output_tokens":1`, `"output_tokens":-1`, 1)
		}), 200, "", full, "usage"},
		{"an error in a stream", true, stream(func(r *reply) {
			r.Events[3] = gatewaytest.Event{Name: "error", Data: `{"type":"error","error":{"type":"overloaded_error","message":"` + orgID + `"}}`}
		}), 200, "", full, ""},
		{"event with another name", true, stream(func(r *reply) { r.Events[2].Name = "ping" }), 200, "", full, ""},
		{"event that is no JSON", true, stream(func(r *reply) { r.Events[2].Data = "{" }), 200, "", full, ""},
		{"event that is a list", true, stream(func(r *reply) { r.Events[2].Raw = "data: []\n\n" }), 200, "", full, ""},
		{"huge event", true, stream(func(r *reply) { r.Events[2].Data = `"` + strings.Repeat("x", 200<<10) + `"` }), 200, "", full, ""},
		{"endless line", true, stream(func(r *reply) { r.Events[2].Raw = strings.Repeat("x", 200<<10) }), 200, "", full, ""},
		{"endless stream", true, stream(func(r *reply) {
			delta := r.Events[2]
			delta.Data = strings.Replace(delta.Data, `"a"`, `"`+strings.Repeat("x", 90<<10)+`"`, 1)
			for range 30 {
				r.Events = append(r.Events[:3:3], append([]gatewaytest.Event{delta}, r.Events[3:]...)...)
			}
		}), 200, "", full, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, options{
				config: func(g *Config) {
					g.Caps.Event, g.Caps.Answer = 128<<10, 2<<20
					if c.reply.Hang {
						g.Timeouts.Call = 300 * time.Millisecond
					}
				},
				play: func(gatewaytest.Request) gatewaytest.Reply { return c.reply },
			})
			body := ask(100)
			if c.stream {
				body = askStream(100)
			}
			r := d.post(pathMessages, body)
			if r.code != c.code || r.rule() != c.rule {
				t.Errorf("%d %s, want %d %s: %.300s", r.code, r.rule(), c.code, c.rule, r.body)
			}
			want := map[string]ledger.Micros{nothing: 0, full: d.worst(body, 100), used: 110}[c.billed]
			s := d.spent()
			if s.Spent != want || s.Calls != 1 {
				t.Errorf("%+v, want %d", s, want)
			}
			if got := d.alarmed(); got != c.alarm {
				t.Errorf("alarms %q", got)
			}
			if stops := c.alarm == "usage" || c.alarm == "overrun"; stops != (s.Stopped != "") || stops != (d.post(pathMessages, ask(1)).rule() == "job_stopped") {
				t.Errorf("stopped: %q", s.Stopped)
			}
			if c.alarm == "overrun" && s.Overrun != 5000*5+10-want {
				t.Errorf("overrun %d", s.Overrun)
			}
			d.noSecrets(r)
			if strings.HasPrefix(c.name, "429") && r.header.Get("Retry-After") != "7" {
				t.Errorf("%v", r.header)
			}
			if c.stream && c.code == 200 && c.billed == full && !strings.Contains(r.body, `"type":"error"`) && c.alarm == "" && !strings.Contains(c.name, "stops") {
				t.Errorf("the agent was not told: %s", r.body)
			}
		})
	}
}

// noSecrets looks for planted secrets in all that the agent or a reader of the
// logs can see.
func (d *door) noSecrets(r result) {
	d.t.Helper()
	var b strings.Builder
	_ = r.header.Write(&b)
	journal, err := os.ReadFile(d.g.Journal("job-1"))
	if err != nil {
		d.t.Fatal(err)
	}
	for where, text := range map[string]string{"answer": r.body, "header": b.String(), "log": d.log.String(), "journal": string(journal), "config": fmt.Sprintf("%+v %#v", d.g.c, d.g.c), "upstream": fmt.Sprintf("%+v", d.g.up.c)} {
		for _, secret := range []string{upstreamKey, "CANARY"} {
			if strings.Contains(text, secret) && (where != "answer" || !strings.Contains(text, "no-canary")) {
				d.t.Errorf("%s holds %s: %.500s", where, secret, text)
			}
		}
	}
	if strings.Contains(d.log.String(), d.job.Token()) {
		d.t.Error("the token is in the log")
	}
}

// The provider's word on where a request is wrong helps the agent; the rest of
// its text is not ours to show.
func TestPlaceOfAnInvalidRequest(t *testing.T) {
	for message, want := range map[string]string{
		"messages.1.content.0: tool_use ids were found without tool_result": "messages.1.content.0",
		"max_tokens: 5 > 3":                     "max_tokens",
		"organization: x":                       "",
		orgID + ": x":                           "",
		"messages." + upstreamKey + ": x":       "",
		"no place":                              "",
		strings.Repeat("messages.", 50) + ": x": "",
	} {
		if got := place(message); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}

// A call that never left is free; the agent hears why, and nothing else.
func TestUnreachable(t *testing.T) {
	d := open(t, options{config: func(c *Config) {
		c.Upstream.Dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no route to " + orgID)
		}
	}})
	r := d.post(pathMessages, ask(10))
	if r.rule() != "upstream_unreachable" || r.header.Get("Retry-After") == "" || strings.Contains(r.body, orgID) {
		t.Errorf("%+v", r)
	}
	if s := d.spent(); s.Spent != 0 || s.Calls != 1 {
		t.Errorf("%+v", s)
	}
}
