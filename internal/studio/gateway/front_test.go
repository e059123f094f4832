package gateway

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// head makes the head of a raw request.
func (d *door) head(line string, headers ...string) string {
	h := append([]string{"Host: llm.internal", "X-Api-Key: " + d.job.Token(), "Content-Type: application/json"}, headers...)
	return line + "\r\n" + strings.Join(h, "\r\n") + "\r\n\r\n"
}

// What is not one of two routes, spelled exactly so, does not exist: a router
// that tidies paths, or looks at half of them, opens a third.
func TestOnlyTwoRoutes(t *testing.T) {
	d := open(t, options{})
	body := ask(10)
	length := fmt.Sprintf("Content-Length: %d", len(body))
	for line, code := range map[string]int{
		"POST /v1/messages HTTP/1.1":                       200,
		"POST /v1/messages?beta=true HTTP/1.1":             200,
		"GET /v1/messages HTTP/1.1":                        405,
		"PUT /v1/messages HTTP/1.1":                        405,
		"post /v1/messages HTTP/1.1":                       405,
		"OPTIONS /v1/messages HTTP/1.1":                    405,
		"OPTIONS * HTTP/1.1":                               404,
		"POST //v1/messages HTTP/1.1":                      404,
		"POST /v1/messages/ HTTP/1.1":                      404,
		"POST /v1/messages/../files HTTP/1.1":              404,
		"POST /v1/files/../messages HTTP/1.1":              404,
		"POST /v1/./messages HTTP/1.1":                     404,
		"POST /v1/messages/batches HTTP/1.1":               404,
		"POST /v1/messages%2fcount_tokens HTTP/1.1":        404,
		"POST /v1/%6dessages HTTP/1.1":                     404,
		"POST /v1/%2e%2e/v1/messages HTTP/1.1":             404,
		"POST /V1/MESSAGES HTTP/1.1":                       404,
		"POST /v1/messages;x=1 HTTP/1.1":                   404,
		"POST /v1/messages?beta=true&beta=true HTTP/1.1":   404,
		"POST /v1/messages?beta=True HTTP/1.1":             404,
		"POST /v1/messages?beta=true&x=1 HTTP/1.1":         404,
		"POST /v1/messages? HTTP/1.1":                      404,
		"POST /v1/messages#x HTTP/1.1":                     404,
		"POST /v1/complete HTTP/1.1":                       404,
		"POST /v1/files HTTP/1.1":                          404,
		"POST /v1/models HTTP/1.1":                         404,
		"POST / HTTP/1.1":                                  404,
		"POST http://evil.example/v1/messages HTTP/1.1":    404,
		"POST http://llm.internal/v1/messages HTTP/1.1":    404,
		"POST https://api.anthropic.com/v1/files HTTP/1.1": 404,
		"CONNECT api.anthropic.com:443 HTTP/1.1":           404,
		"CONNECT /v1/messages HTTP/1.1":                    405,
		"PRI * HTTP/2.0":                                   404,
		"POST /v1/messages HTTP/1.0":                       505,
		"POST /v1/messages HTTP/0.9":                       505,
		"POST /v1/messages HTTP/3.0":                       505,
		"POST /v1/messages":                                400,
		"POST \x00/v1/messages HTTP/1.1":                   400,
	} {
		codes, _ := d.raw(1, d.head(line, length)+body)
		if len(codes) == 0 || codes[0] != code {
			t.Errorf("%q: %v, want %d", line, codes, code)
		}
	}
	if n := len(d.up.Seen()); n != 2 {
		t.Errorf("%d requests went out, 2 were good", n)
	}
}

// A request whose extent two readers see differently smuggles a second one.
// What net/http itself tolerates ends here: the provider gets a request of our
// own making.
func TestFraming(t *testing.T) {
	d := open(t, options{})
	body := ask(10)
	n := len(body)
	length := fmt.Sprintf("Content-Length: %d", n)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", n, body)
	evil := "POST /v1/files HTTP/1.1\r\nHost: x\r\n\r\n"
	line := "POST /v1/messages HTTP/1.1"
	cases := []struct {
		name, text string
		code       int
		rule       string
	}{
		{"good", d.head(line, length) + body, 200, ""},
		{"both lengths", d.head(line, length, "Transfer-Encoding: chunked") + chunked, 411, "transfer_encoding"},
		{"both lengths, smuggling", d.head(line, "Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n" + evil, 411, "transfer_encoding"},
		{"chunked", d.head(line, "Transfer-Encoding: chunked") + chunked, 411, "transfer_encoding"},
		{"unknown coding", d.head(line, length, "Transfer-Encoding: xchunked") + body, 501, ""},
		{"two codings", d.head(line, length, "Transfer-Encoding: gzip, chunked") + chunked, 501, ""},
		{"two lengths", d.head(line, length, "Content-Length: 3") + body, 400, ""},
		{"length with a sign", d.head(line, fmt.Sprintf("Content-Length: +%d", n)) + body, 400, ""},
		{"negative length", d.head(line, "Content-Length: -1"), 400, ""},
		{"hex length", d.head(line, "Content-Length: 0x10") + body, 400, ""},
		{"length of 2^64", d.head(line, "Content-Length: 18446744073709551616") + body, 400, ""},
		{"no length", d.head(line), 400, "json_syntax"},
		{"a space before the colon", d.head(line, "Content-Length : 10") + body, 400, ""},
		{"two hosts", d.head(line, length, "Host: evil") + body, 400, ""},
		{"nul in a header", d.head(line, length, "X: a\x00b") + body, 400, ""},
		{"upgrade to h2c", d.head(line, length, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__") + body, 400, "upgrade"},
		{"upgrade to a web socket", d.head(line, length, "Connection: Upgrade", "Upgrade: websocket") + body, 400, "upgrade"},
		{"trailer", d.head(line, length, "Trailer: X-Api-Key") + body, 400, "trailer"},
		{"gzip", d.head(line, length, "Content-Encoding: gzip") + body, 415, "content_encoding"},
		{"identity and gzip", d.head(line, length, "Content-Encoding: identity", "Content-Encoding: gzip") + body, 415, "content_encoding"},
		{"form", strings.Replace(d.head(line, length), "application/json", "text/plain", 1) + body, 415, "content_type"},
		{"utf-16", strings.Replace(d.head(line, length), "application/json", "application/json; charset=utf-16", 1) + body, 415, "content_type"},
		{"two content types", d.head(line, length, "Content-Type: text/plain") + body, 400, "header_twice"},
		{"two keys", d.head(line, length, "X-Api-Key: other") + body, 400, "header_twice"},
		{"unknown expectation", d.head(line, length, "Expect: magic") + body, 417, ""},
		{"large header", d.head(line, length, "X: "+strings.Repeat("x", 20<<10)) + body, 431, ""},
		{"large body", d.head(line, "Content-Length: 99999999"), 413, "body_size"},
		{"huge body", d.head(line, "Content-Length: 9223372036854775807"), 413, "body_size"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := len(d.up.Seen())
			codes, rules := d.raw(1, c.text)
			if len(codes) == 0 || codes[0] != c.code || rules[0] != c.rule {
				t.Fatalf("%v %v, want %d %s", codes, rules, c.code, c.rule)
			}
			want := 0
			if c.code == 200 {
				want = 1
			}
			if got := len(d.up.Seen()) - before; got != want {
				t.Errorf("%d requests went out", got)
			}
		})
	}
	// Two after each other are two, in their order, and each is judged.
	two, rules := d.raw(2, d.head(line, length)+body+d.head("POST /v1/files HTTP/1.1", "Content-Length: 0"))
	if !slices.Equal(two, []int{200, 404}) {
		t.Errorf("%v %v", two, rules)
	}
}

// Tolerated by net/http and harmless here: exactly one request goes out, and
// it is ours.
func TestTolerated(t *testing.T) {
	body := ask(10)
	n := len(body)
	for name, bend := range map[string]func(string) string{
		"bare line feeds": func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") },
		"equal lengths twice": func(s string) string {
			return strings.Replace(s, "\r\n\r\n", fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", n), 1)
		},
		"folded header": func(s string) string { return strings.Replace(s, "\r\n\r\n", "\r\nX: a\r\n b\r\n\r\n", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, options{})
			d.raw(1, bend(d.head("POST /v1/messages HTTP/1.1", fmt.Sprintf("Content-Length: %d", n)))+body)
			if seen := d.up.Seen(); len(seen) > 1 || (len(seen) == 1 && (seen[0].URI != pathMessages || seen[0].Header.Get("X") != "")) {
				t.Errorf("%+v", seen)
			}
		})
	}
}

// A client that sends slowly must not hold the door.
func TestSlowClients(t *testing.T) {
	d := open(t, options{config: func(c *Config) { c.Timeouts.Header, c.Timeouts.Body = 150*time.Millisecond, 150*time.Millisecond }})
	for name, text := range map[string]string{
		"header": "POST /v1/messages HTTP/1.1\r\nHost: x\r\n",
		"body":   d.head("POST /v1/messages HTTP/1.1", "Content-Length: 1000") + "{",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("unix", d.socket)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.ReadAll(c); err != nil {
				t.Errorf("still open: %v", err)
			}
		})
	}
	// An answer that takes longer than the request's deadlines is not cut off.
	d.up.Play(func(gatewaytest.Request) gatewaytest.Reply {
		r := ok(gatewaytest.Request{})
		r.Wait = 600 * time.Millisecond
		return r
	})
	if r := d.post(pathMessages, ask(10)); r.code != 200 {
		t.Errorf("%+v", r)
	}
	if s := d.spent(); s.Calls != 1 {
		t.Errorf("%+v", s)
	}
}

// A token is worth this job's calls, on this job's door, until its end, and
// nothing is told about why another is not taken.
func TestTokens(t *testing.T) {
	key := make([]byte, 32)
	now := time.Now()
	d := open(t, options{config: func(c *Config) { c.Key = key }})
	other, otherSocket := d.openJob(JobConfig{ID: "job-2", Model: "good", Budget: 1e6, Calls: 9, Expiry: now.Add(time.Hour)})
	good := d.job.Token()
	parts := strings.Split(good, ".")
	with := func(i int, v string) string {
		p := slices.Clone(parts)
		p[i] = v
		return strings.Join(p, ".")
	}
	b64 := base64.RawURLEncoding.EncodeToString
	tokens := map[string]string{
		"none":                 "",
		"other job's":          other.Token(),
		"expired":              mint(key, claims{"job-1", "good", now.Add(-time.Second)}),
		"of another model":     mint(key, claims{"job-1", "claude-opus-5-5", now.Add(time.Hour)}),
		"of another server":    mint([]byte(strings.Repeat("k", 32)), claims{"job-1", "good", now.Add(time.Hour)}),
		"job changed":          with(1, b64([]byte("job-2"))),
		"model changed":        with(2, b64([]byte("evil"))),
		"expiry changed":       with(3, "99999999999"),
		"expiry with a sign":   with(3, "+"+parts[3]),
		"MAC cut":              good[:len(good)-1],
		"MAC longer":           good + "A",
		"MAC empty":            with(4, ""),
		"no MAC":               strings.Join(parts[:4], "."),
		"MAC's other spelling": good[:len(good)-1] + string(good[len(good)-1]+1),
		"MAC in padded base64": good + "=",
		"another version":      with(0, "none"),
		"an algorithm of none": b64([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"with a space":         good + " x",
		"the provider's":       upstreamKey,
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			for _, header := range []string{"X-Api-Key", "Authorization"} {
				value := token
				if header == "Authorization" && token != "" {
					value = "Bearer " + token
				}
				r := d.post(pathMessages, ask(10), "X-Api-Key", "", header, value)
				if r.code != 401 || r.rule() != "token" {
					t.Errorf("%s: %+v", header, r)
				}
			}
		})
	}
	t.Run("beside a wrong one", func(t *testing.T) {
		if r := d.post(pathMessages, ask(10), "Authorization", "Bearer "+other.Token()); r.code != 401 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("basic", func(t *testing.T) {
		if r := d.post(pathMessages, ask(10), "X-Api-Key", "", "Authorization", "Basic "+good); r.code != 401 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("on another job's door", func(t *testing.T) {
		c := gatewaytest.Client(otherSocket)
		defer c.CloseIdleConnections()
		resp, err := c.Do(d.request(pathMessages, ask(10)))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Error(resp.Status)
		}
	})
	if n := len(d.up.Seen()); n != 0 {
		t.Fatalf("%d requests went out", n)
	}
	for _, headers := range [][]string{nil, {"X-Api-Key", "", "Authorization", "Bearer " + good}, {"Authorization", "Bearer " + good}} {
		if r := d.post(pathMessages, ask(10), headers...); r.code != 200 {
			t.Errorf("the good one, %v: %+v", headers, r)
		}
	}
	before := d.job.Summary()
	d.job.Close()
	if _, err := d.try(pathMessages, ask(10)); err == nil {
		t.Error("the door is open after the job's end")
	}
	// The token is dead even on a door that still stands.
	reopened, err := d.g.newJob(JobConfig{ID: "job-9", Model: "good", Budget: 1, Calls: 1, Expiry: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if d := reopened.authenticate(http.Header{"X-Api-Key": {good}}); d == nil {
		t.Error("replayed at another job")
	}
	_, _ = reopened.budget.Close()
	if after := d.job.Summary(); after.Calls != before.Calls {
		t.Errorf("%+v", after)
	}
}

// A token may expire while its job runs.
func TestExpiry(t *testing.T) {
	now := time.Now()
	d := open(t, options{config: func(c *Config) { c.Now = func() time.Time { return now } }})
	if r := d.post(pathMessages, ask(10)); r.code != 200 {
		t.Fatalf("%+v", r)
	}
	d.client.CloseIdleConnections()
	now = now.Add(time.Hour)
	if r := d.post(pathMessages, ask(10)); r.code != 401 {
		t.Errorf("%+v", r)
	}
}

// Whatever the agent sends in its headers stays here, and of the provider's
// the agent gets what it needs.
func TestHeaders(t *testing.T) {
	d := open(t, options{play: func(r gatewaytest.Request) gatewaytest.Reply {
		reply := ok(r)
		reply.Header = http.Header{
			"Anthropic-Organization-Id": {orgID}, "Request-Id": {"req_1"}, "Set-Cookie": {"a=b"}, "X-Api-Key": {upstreamKey},
			"Anthropic-Ratelimit-Tokens-Remaining": {"5"}, "Cf-Ray": {"x"}, "Content-Type": {"application/json; charset=utf-8"},
		}
		return reply
	}})
	r := d.post(pathMessages+queryBeta, ask(10),
		"Cookie", "a=b", "Anthropic-Workspace-Id", "w", "Anthropic-User-Profile-Id", "u", "X-Forwarded-For", "1.2.3.4", "Accept-Encoding", "gzip",
		"Anthropic-Version", "2099-01-01", "X-Stainless-Os", "Linux", "User-Agent", "evil", "Anthropic-Beta", "mcp-client-2025-04-04,effort-2025-11-24, files-api-2025-04-14",
		"Anthropic-Dangerous-Direct-Browser-Access", "true", "Forwarded", "for=x", "Te", "trailers", "Proxy-Authorization", "x", "Idempotency-Key", "x")
	if r.code != 200 {
		t.Fatalf("%+v", r)
	}
	seen := d.up.Seen()[0]
	want := map[string]string{
		"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json", "User-Agent": "proofreel-gateway",
		"Anthropic-Version": apiVersion, "Anthropic-Beta": "effort-2025-11-24", "X-Api-Key": upstreamKey,
		"Content-Length": fmt.Sprint(len(seen.Body)),
	}
	for name, values := range seen.Header {
		if len(values) != 1 || values[0] != want[name] {
			t.Errorf("the provider got %s: %v", name, values)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("the provider did not get %v", want)
	}
	if seen.URI != pathMessages {
		t.Errorf("the provider got %s", seen.URI)
	}
	if got := d.job.Summary().Dropped["anthropic-beta"]; got != 1 {
		t.Errorf("%d requests with dropped betas", got)
	}
	for name := range r.header {
		if !slices.Contains([]string{"Content-Type", "Content-Length", "Date"}, name) {
			t.Errorf("the agent got %s: %v", name, r.header[name])
		}
	}
}

// A denial must be an error of the API that names its rule: an agent mends
// what it can read.
func TestDenialsAreReadable(t *testing.T) {
	d := open(t, options{})
	cases := []struct{ name, path, body, rule, inText string }{
		{"tool", pathMessages, strings.Replace(ask(10), `"messages"`, `"tools":[{"type":"computer_20250124"}],"messages"`, 1), "type_refused", "tools[0].type"},
		{"image", pathMessages, strings.Replace(ask(10), `"hi"`, `[{"type":"image","source":{"type":"url","url":"http://x"}}]`, 1), "type_refused", "messages[0].content[0].source.type"},
		{"json", pathMessages, `{"a":1,"a":1}`, "json_duplicate_name", "twice"},
		{"path", "/v1/files", `{}`, "path", "/v1/messages"},
		{"model", pathMessages, strings.Replace(ask(10), "good", "evil", 1), "model", "this job's model is good"},
		{"escapes", pathMessages, `{"<script>\u001b[31m":1}`, "field_unknown", `\\x1b`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := d.post(c.path, c.body)
			v, err := strictjson.Parse([]byte(r.body), strictjson.Limits{Depth: 9, Values: 99})
			if err != nil {
				t.Fatal(err)
			}
			e, _ := v.Get("error")
			if v.Str("type") != "error" || e.Str("type") == "" || r.rule() != c.rule || !strings.Contains(r.body, c.rule) || !strings.Contains(r.body, c.inText) {
				t.Errorf("%+v", r)
			}
			if len(r.body) > 1000 || r.header.Get("X-Should-Retry") != "false" {
				t.Errorf("%+v", r)
			}
		})
	}
	s := d.job.Summary()
	if s.Denied["type_refused"] != 2 || s.Denied["path"] != 1 || s.Calls != 0 {
		t.Errorf("%+v", s)
	}
}

// A hijacked agent must not burn the gateway's own CPU: its box has a limit,
// the gateway is outside of it.
func TestRate(t *testing.T) {
	now := time.Now()
	d := open(t, options{config: func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Caps.Rate, c.Caps.Burst = 1, 3
	}})
	var codes []int
	for range 5 {
		codes = append(codes, d.post(pathMessages, `{}`).code)
	}
	if !slices.Equal(codes, []int{400, 400, 429, 429, 429}) { // each costs a little more than one
		t.Errorf("%v", codes)
	}
	now = now.Add(10 * time.Second)
	if r := d.post(pathMessages, `{}`); r.code != 400 {
		t.Errorf("%+v", r)
	}
}

// What is refused at once is work outside of the box's limits, and a line in
// the operator's log: neither may go on as fast as an agent can ask.
func TestDenialsArePaced(t *testing.T) {
	for name, text := range map[string]string{"another path": "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", "no HTTP": "hello\r\n\r\n"} {
		d := open(t, options{config: func(c *Config) { c.Caps.Rate, c.Caps.Burst = 200, 20 }})
		began := time.Now()
		for range 120 {
			d.raw(1, text)
		}
		if took := time.Since(began); took < 400*time.Millisecond {
			t.Errorf("%s: 120 connections in %v, where 20 and 200 a second are allowed", name, took)
		}
	}
	d := open(t, options{})
	for range 150 {
		d.raw(1, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	if lines, n := strings.Count(d.log.String(), `"msg":"denied"`), d.job.Summary().Denied["path"]; lines != 100 || n != 150 {
		t.Errorf("%d lines of %d denials", lines, n)
	}
}
