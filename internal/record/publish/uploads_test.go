package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
)

// site is where the hosted film is looked at. It answers with handlers, one a
// request; the last one again and again.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	handlers []http.HandlerFunc
	requests []string // "HEAD /v.mp4", with " bytes=0-0" for a range
}

func newSite(t *testing.T, handlers ...http.HandlerFunc) *site {
	t.Helper()
	s := &site{handlers: handlers}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Range")))
		h := s.handlers[min(len(s.requests), len(s.handlers))-1]
		s.mu.Unlock()
		h(w, r)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func (s *site) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

const filmBytes = 3000

// header answers with a status and headers ("Name: value").
func header(status int, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, l := range lines {
			name, value, _ := strings.Cut(l, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
	}
}

// Headers of a right answer.
const (
	mp4    = "Content-Type: video/mp4"
	length = "Content-Length: 3000"
	ranges = "Accept-Ranges: bytes"
)

func good(w http.ResponseWriter, r *http.Request) { header(200, mp4, length, ranges)(w, r) }

// rig is a publisher to uploads.sh with its stand-in and its site.
type rig struct {
	Publisher
	film  Film
	site  *site
	calls string
	log   *bytes.Buffer
	waits []time.Duration
}

func newRig(t *testing.T, s *site, change func(*Options), plan ...behaviour) *rig {
	t.Helper()
	env, dir := installStandIn(t, plan...)
	r := &rig{film: film(t, filmBytes), site: s, calls: dir, log: &bytes.Buffer{}}
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	o := Options{
		Spawn: spawn, Env: env, HTTP: s.Client(), Log: slog.New(slog.NewTextHandler(r.log, nil)), Patience: time.Minute,
		Jitter: func() float64 { return 0.5 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.waits = append(r.waits, d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&o)
	}
	p, err := New(Target{Kind: KindUploads}, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Publisher = p
	return r
}

// ok is the answer of the CLI after an upload (src/client.ts, PutResult).
func ok(address string) behaviour {
	return behaviour{Stdout: fmt.Sprintf("{\n  \"workspace\": \"team\",\n  \"key\": \"screenshots/proofreel/%s/proof.mp4\",\n  \"url\": %q,\n  \"size\": %d,\n  \"contentType\": \"video/mp4\",\n  \"replaced\": false\n}\n", filmID, address, filmBytes)}
}

func said(exit int, code string, status int) behaviour {
	return behaviour{Exit: exit, Stdout: fmt.Sprintf("{\n  \"error\": \"it did not work\",\n  \"code\": %q,\n  \"status\": %d\n}\n", code, status)}
}

// The argument list is the contract with the CLI; of the environment only what
// it needs is passed on.
func TestUploadsCallsTheCLIExactly(t *testing.T) {
	s := newSite(t, good)
	r := newRig(t, s, func(o *Options) {
		o.Workspace = "team"
		o.Env = append(o.Env, "UPLOADS_WORKSPACE=other")
	}, ok(s.URL+"/v.mp4"))
	receipt, err := r.Publish(t.Context(), r.film)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Receipt{URL: s.URL + "/v.mp4"}, receipt); d != "" {
		t.Error(d)
	}
	c := calls(t, r.calls)
	if len(c) != 1 {
		t.Fatalf("%d calls", len(c))
	}
	wantArgs := []string{
		"put", r.film.Path, "--key", "screenshots/proofreel/" + filmID + "/proof.mp4", "--content-type", "video/mp4",
		"--no-optimize", "--no-git", "--no-auto", "--no-pr", "--format", "json", "--replace", "--workspace", "team",
	}
	if d := cmp.Diff(wantArgs, c[0].Args); d != "" {
		t.Error(d)
	}
	var names []string
	for _, v := range c[0].Env {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{"HOME", "LANG", "PATH", "UPLOADS_STAND_IN", "UPLOADS_TOKEN"}, names); d != "" {
		t.Error(d)
	}
}

// Only the network, a server's fault and too many requests are tried again,
// and never for ever; a mistake is never repeated.
func TestUploadsRetries(t *testing.T) {
	slow := said(1, "API_ERROR", 429)
	slow.Stderr = "Retry-After: 7\n"
	for _, c := range []struct {
		name  string
		plan  []behaviour // an empty one stands for success
		calls int
		waits []time.Duration
		fails string
	}{
		{"network, network, done", []behaviour{said(4, "NETWORK", 0), said(4, "NETWORK", 0), {}}, 3, []time.Duration{time.Second, 2 * time.Second}, ""},
		{"503, done", []behaviour{said(1, "API_ERROR", 503), {}}, 2, []time.Duration{time.Second}, ""},
		{"429 says how long", []behaviour{slow, {}}, 2, []time.Duration{7 * time.Second}, ""},
		{"killed, done", []behaviour{{Kill: true}, {}}, 2, []time.Duration{time.Second}, ""},
		{
			"503 for ever",
			[]behaviour{said(1, "API_ERROR", 503), said(1, "API_ERROR", 500), said(1, "API_ERROR", 502), said(1, "API_ERROR", 503)},
			4,
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
			"HTTP status 503",
		},
		{"usage", []behaviour{said(2, "USAGE", 0)}, 1, nil, "exit code 2 (USAGE)"},
		{"no token", []behaviour{said(2, "MISSING_TOKEN", 0)}, 1, nil, "MISSING_TOKEN"},
		{"not allowed", []behaviour{said(3, "UNAUTHORIZED", 401)}, 1, nil, "HTTP status 401"},
		{"quota", []behaviour{said(3, "STORAGE_QUOTA", 507)}, 1, nil, "STORAGE_QUOTA"},
		{"too large", []behaviour{said(1, "API_ERROR", 413)}, 1, nil, "HTTP status 413"},
		{"not found", []behaviour{said(1, "API_ERROR", 404)}, 1, nil, "HTTP status 404"},
		{"no words", []behaviour{{Exit: 1}}, 1, nil, "exit code 1"},
		{"a crash", []behaviour{{Exit: 1, Stderr: "TypeError: x is not a function\n"}}, 1, nil, "TypeError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, good)
			for n, b := range c.plan {
				if b == (behaviour{}) {
					c.plan[n] = ok(s.URL + "/v.mp4")
				}
			}
			r := newRig(t, s, nil, c.plan...)
			receipt, err := r.Publish(t.Context(), r.film)
			checkOutcome(t, r, receipt, err, c.fails)
			if got := len(calls(t, r.calls)); got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
			if d := cmp.Diff(c.waits, r.waits); d != "" {
				t.Error(d)
			}
		})
	}
}

// checkOutcome holds what every failure has in common.
func checkOutcome(t *testing.T, r *rig, receipt Receipt, err error, fails string) {
	t.Helper()
	if fails == "" {
		if err != nil || receipt.URL == "" {
			t.Fatalf("got %+v, %v", receipt, err)
		}
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.PublishFailed || f.Artifact != r.film.Path || f.Hint == "" {
		t.Fatalf("got %+v, want a fault with the film as artifact and a hint", err)
	}
	if !strings.Contains(err.Error(), fails) {
		t.Errorf("error %q does not say %q", err, fails)
	}
	if receipt != (Receipt{}) {
		t.Errorf("a failure gave out %+v", receipt)
	}
}

// What the CLI says is not believed without a look, and no address that opens
// a door or leads elsewhere is given out.
func TestUploadsRefusesAnswers(t *testing.T) {
	for _, c := range []struct{ name, stdout, fails string }{
		{"nothing", "", "no JSON"},
		{"words", "uploaded!\n", "no JSON"},
		{"half a document", `{"url": "https://x/`, "no JSON"},
		{"no public address", `{"url": null}`, "no public URL"},
		{"http", `{"url": "http://site.example/v.mp4"}`, "not https"},
		{"file", `{"url": "file:///etc/passwd"}`, "not https"},
		{"credentials", `{"url": "https://me:` + token + `@site.example/v.mp4"}`, "holds credentials"},
		{"signed", `{"url": "https://site.example/v.mp4?X-Amz-Signature=abcdef"}`, "credentials in its query"},
		{"another object", `{"url": "https://site.example/v.mp4", "key": "screenshots/other.mp4"}`, "stored the film as"},
		{"another size", `{"url": "https://site.example/v.mp4", "size": 12}`, "12 bytes of 3000"},
		{"no text", `{"url": "https://site.example/\u0000"}`, "can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, good)
			r := newRig(t, s, nil, behaviour{Stdout: c.stdout})
			receipt, err := r.Publish(t.Context(), r.film)
			checkOutcome(t, r, receipt, err, c.fails)
			if s.count() != 0 {
				t.Errorf("it was looked at: %v", s.requests)
			}
			if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "abcdef") {
				t.Errorf("the error gives away a secret: %v", err)
			}
		})
	}
}

// The hosted film is looked at as a player would look.
func TestUploadsLooksAtTheHostedFilm(t *testing.T) {
	partial := header(206, mp4, "Content-Length: 1", "Content-Range: bytes 0-0/3000")
	for _, c := range []struct {
		name     string
		handlers []http.HandlerFunc
		requests int
		fails    string
	}{
		{"right", []http.HandlerFunc{good}, 1, ""},
		{"type with a parameter", []http.HandlerFunc{header(200, mp4+"; codecs=avc1", length, ranges)}, 1, ""},
		{"ranges work but are not announced", []http.HandlerFunc{header(200, mp4, length), partial}, 2, ""},
		{"moved", []http.HandlerFunc{header(302, "Location: /cdn/v.mp4"), good}, 2, ""},
		{"busy, then right", []http.HandlerFunc{header(503), header(429, "Retry-After: 3"), good}, 3, ""},
		{"no ranges", []http.HandlerFunc{header(200, mp4, length)}, 2, "serves no ranges"},
		{"ranges of another film", []http.HandlerFunc{header(200, mp4, length), header(206, "Content-Range: bytes 0-0/77")}, 2, "answers a range with"},
		{"wrong type", []http.HandlerFunc{header(200, "Content-Type: text/html", length, ranges)}, 1, "not video/mp4"},
		{"no type", []http.HandlerFunc{header(200, "Content-Type: ", length, ranges)}, 1, "not video/mp4"},
		{"wrong length", []http.HandlerFunc{header(200, mp4, "Content-Length: 2999", ranges)}, 1, "length 2999, not 3000"},
		{"no length", []http.HandlerFunc{header(200, mp4, ranges)}, 1, "length"},
		{"compressed", []http.HandlerFunc{header(200, mp4, length, ranges, "Content-Encoding: gzip")}, 1, "content encoding"},
		{"not there", []http.HandlerFunc{header(404)}, 1, "404"},
		{"not for everybody", []http.HandlerFunc{header(403)}, 1, "403"},
		{"broken for ever", []http.HandlerFunc{header(500)}, 4, "500"},
		{"moved to http", []http.HandlerFunc{header(302, "Location: http://site.example/v.mp4")}, 1, "not https"},
		{"moved nowhere", []http.HandlerFunc{header(302)}, 1, "redirect to nowhere"},
		{"moved for ever", []http.HandlerFunc{header(302, "Location: /again")}, 4, "more than 3 redirects"},
		{"moved to a signed address", []http.HandlerFunc{header(302, "Location: /v.mp4?token=abcdef")}, 1, "credentials in its query"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, c.handlers...)
			r := newRig(t, s, nil, ok(s.URL+"/v.mp4"))
			receipt, err := r.Publish(t.Context(), r.film)
			checkOutcome(t, r, receipt, err, c.fails)
			if s.count() != c.requests {
				t.Errorf("requests %v, want %d", s.requests, c.requests)
			}
			if n := len(calls(t, r.calls)); n != 1 {
				t.Errorf("%d uploads: a look must not upload again", n)
			}
		})
	}
}

// A server that takes the request and never answers: the caller's context ends
// the look.
func TestUploadsLeavesASilentServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	r := newRig(t, s, nil, ok(s.URL+"/v.mp4"))
	receipt, err := r.Publish(ctx, r.film)
	if !errors.Is(err, context.Canceled) || receipt.URL != "" {
		t.Errorf("got %+v, %v", receipt, err)
	}
}

// A host that is not there is the network's fault: tried again, then said.
func TestUploadsCannotReachTheHost(t *testing.T) {
	s := newSite(t, good)
	address := s.URL
	s.Close()
	r := newRig(t, s, nil, ok(address+"/v.mp4"))
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "look at the hosted film")
	if len(r.waits) != maxAttempts-1 {
		t.Errorf("waits %v", r.waits)
	}
}

// A CLI that hangs is ended with everything that it started, and tried again.
func TestUploadsEndsAHungCLI(t *testing.T) {
	s := newSite(t, good)
	r := newRig(t, s, func(o *Options) { o.Patience = time.Second }, behaviour{Hang: true}, ok(s.URL+"/v.mp4"))
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "")
	c := calls(t, r.calls)
	if len(c) != 2 || c[0].Child == 0 {
		t.Fatalf("calls %+v", c)
	}
	for _, pid := range []int{c[0].PID, c[0].Child} {
		if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' {
			t.Errorf("process %d is still there: %c", pid, st.State)
		}
	}
}

// A slow upload that moves is not hung, however long it takes.
func TestUploadsLetsASlowCLIWork(t *testing.T) {
	s := newSite(t, good)
	work := ok(s.URL + "/v.mp4")
	work.Work = 6 * time.Second
	r := newRig(t, s, func(o *Options) { o.Patience = 4 * time.Second }, work)
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "")
}

// When the caller goes away nothing is left running.
func TestUploadsEndsWithTheContext(t *testing.T) {
	r := newRig(t, newSite(t, good), nil, behaviour{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for len(calls(t, r.calls)) == 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := r.Publish(ctx, r.film); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	c := calls(t, r.calls)
	for _, pid := range []int{c[0].PID, c[0].Child} {
		if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' {
			t.Errorf("process %d is still there: %c", pid, st.State)
		}
	}
}

// Neither errors nor logs hold a secret, whatever the CLI prints.
func TestUploadsGivesAwayNoSecret(t *testing.T) {
	leak := "Authorization: Bearer abcdefghijkl\nPUT https://me:hunter22@api.example/v1?X-Signature=qwertz\n--token " + token + "\n" +
		"{\"token\": \"zyxwvu\"} UPLOADS_SECRET=" + token + "\n"
	again := behaviour{Exit: 4, Stderr: leak}
	s := newSite(t, good)
	r := newRig(t, s, nil, again, again, again, behaviour{Exit: 1, Stderr: leak})
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "exit code 1")
	text := err.Error() + r.log.String() + fmt.Sprintf("%+v %#v", err, errors.Unwrap(errors.Unwrap(err)))
	for _, secret := range []string{token, "abcdefghijkl", "hunter22", "qwertz", "zyxwvu"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	if !strings.Contains(r.log.String(), "trying again") {
		t.Error("the attempts are not in the log")
	}
}

func TestUploadsWithoutItsCLI(t *testing.T) {
	r := newRig(t, newSite(t, good), func(o *Options) { o.Env = []string{"PATH=/nowhere:", "HOME=/"} })
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "not in PATH")
	if !strings.Contains(fault.As(err).Hint, "npm install") {
		t.Errorf("hint %q", fault.As(err).Hint)
	}
}

// What is published is what was verified.
func TestUploadsRefusesAChangedFilm(t *testing.T) {
	r := newRig(t, newSite(t, good), nil)
	if err := os.Truncate(r.film.Path, 10); err != nil {
		t.Fatal(err)
	}
	receipt, err := r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "has 10 bytes")
	r.film.ID = "../../etc"
	receipt, err = r.Publish(t.Context(), r.film)
	checkOutcome(t, r, receipt, err, "no UUID")
	if names, _ := filepath.Glob(filepath.Join(r.calls, "call-*")); len(names) != 0 {
		t.Errorf("the CLI was called: %v", names)
	}
}
