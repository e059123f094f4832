package runner

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/studio/agent"
	"github.com/proofreel/proofreel/internal/studio/gateway/gatewaytest"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

func done() step { return says(text("It is done.")) }

// toFilm is what a good model does once its scene is written.
func toFilm() []step {
	return []step{
		says(text("I look."), call("toolu_1", "still", `{"at":[0.1]}`), call("toolu_2", "sheet", `{}`)),
		says(call("toolu_3", "check", `{}`)), says(call("toolu_4", "render", `{}`)), done(),
	}
}

// A whole job: the model sees what it made, the film is there, and what the
// provider saw is the order and nothing of the outside.
func TestFilm(t *testing.T) {
	r := newRig(t, 0, script(append([]step{writes("draw")}, toFilm()...)...), nil)
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	got := r.last()
	if got.Phase != agent.Done || got.End != agent.Finished || got.Frames != 30 || got.Poster != 7 || got.Turn != 5 || got.Bytes == 0 {
		t.Errorf("reported %+v", got)
	}
	var phases []string
	for _, p := range r.reports {
		if s := p.Phase.String(); len(phases) == 0 || phases[len(phases)-1] != s {
			phases = append(phases, s)
		}
	}
	if got := strings.Join(phases, " "); got != "starting writing checking writing checking writing rendering writing done" {
		t.Errorf("phases %s", got)
	}
	r.seen(5, 2)
}

// seen looks at what the provider saw.
func (r *rig) seen(messages, pictures int) {
	r.t.Helper()
	all := r.up.Seen()
	if len(all) != messages {
		r.t.Fatalf("the provider was called %d times, not %d", len(all), messages)
	}
	if s := r.door.Summary(); len(s.Denied) > 0 || len(s.Dropped) > 0 {
		r.t.Errorf("denied %v, dropped %v", s.Denied, s.Dropped)
	}
	for i, q := range all {
		if q.Header.Get("X-Api-Key") != modelKey || strings.Contains(q.Body, r.job.Token) || strings.Contains(q.Body, modelKey) {
			r.t.Error("a token is where it must not be")
		}
		if !q.Streaming() || !strings.Contains(q.Body, `"model":"good"`) || !strings.Contains(q.Body, "untrusted data") || !strings.Contains(q.Body, "END BRIEF") {
			r.t.Errorf("call %d lacks something: %.300s", i, q.Body)
		}
		if n := strings.Count(q.Body, `"cache_control"`); n != 2 {
			r.t.Errorf("call %d has %d cache marks", i, n)
		}
	}
	if last := all[len(all)-1].Body; strings.Count(last, `"type":"image"`) != pictures {
		r.t.Error("the model does not see its stills")
	}
}

// Thinking is asked for where the job says so, and passes the gateway.
func TestThinking(t *testing.T) {
	r := newRig(t, 0, script(append([]step{writes("draw")}, toFilm()...)...), func(j *agent.Job) { j.Thinking = true })
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	r.seen(5, 2)
	if q := r.up.Seen()[0].Body; !strings.Contains(q, `"thinking":{"type":"adaptive"}`) || !strings.Contains(q, `"max_tokens":16000`) {
		t.Errorf("the call: %.500s", q)
	}
}

// A model that stops too early is asked twice to go on; then the runner renders.
func TestFinishRenders(t *testing.T) {
	r := newRig(t, 0, script(writes("draw"), done()), nil)
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	if got := r.last(); got.Phase != agent.Done || got.End != agent.Finished || r.up.Messages() != 2+reminders {
		t.Errorf("reported %+v after %d calls", got, r.up.Messages())
	}
	// A scene that was changed after the film was made is rendered again.
	film := r.c.Work + "/out/final.mp4"
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(film, old, old); err != nil {
		t.Fatal(err)
	}
	s, err := open(r.c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if !s.stale() {
		t.Error("an old film passes for the new scene's")
	}
	// And where that fails, the old film is kept.
	if err := os.WriteFile(r.c.Work+"/scene.js", []byte("throw"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := s.finish(t.Context()); err != nil || f.frames != 30 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Whatever the model sends: the next call passes the gateway, the job ends, and
// there is a film.
func TestHostileModel(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50)
	for name, answer := range map[string]step{
		"input is no JSON":      says(call("toolu_1", "bash", `{"command":`)),
		"input is a list":       says(call("toolu_1", "bash", `["ls"]`)),
		"input is of no type":   says(call("toolu_1", "bash", `{"command":7}`)),
		"input is deep":         says(call("toolu_1", "bash", deep)),
		"two values":            says(call("toolu_1", "bash", `{"command":"ls"}{"command":"ls"}`)),
		"a key twice":           says(call("toolu_1", "bash", `{"command":"true","command":"false"}`)),
		"lone surrogates":       says(call("toolu_1", "bash", `{"command":"echo \ud800"}`)),
		"NUL":                   says(call("toolu_1", "bash", `{"command":"echo \u0000"}`)),
		"unknown tool":          says(call("toolu_1", "web_fetch", `{"url":"http://x"}`)),
		"strange tool name":     says(call("toolu_1", "../ <x>", `{}`)),
		"strange id":            says(call("\u202e \n", "bash", `{"command":"true"}`)),
		"an id twice":           says(call("toolu_1", "bash", `{"command":"true"}`), call("toolu_1", "bash", `{"command":"true"}`)),
		"forty calls":           says(many(40)...),
		"output without end":    says(call("toolu_1", "bash", `{"command":"yes"}`)),
		"output is no UTF-8":    says(call("toolu_1", "bash", `{"command":"head -c 100000 /dev/urandom"}`)),
		"never ends":            says(call("toolu_1", "bash", `{"command":"sleep 600","timeout":0.2}`)),
		"leaves something":      says(call("toolu_1", "bash", `{"command":"setsid sleep 33 & sleep 34 & echo x"}`)),
		"negative timeout":      says(call("toolu_1", "bash", `{"command":"true","timeout":-1e308}`)),
		"kills what it can":     says(call("toolu_1", "bash", `{"command":"kill -9 0"}`)),
		"edits outside":         says(call("toolu_1", "edit", `{"action":"view","path":"/etc/passwd"}`)),
		"edits up":              says(call("toolu_1", "edit", `{"action":"create","path":"../../x","text":"x"}`)),
		"many stills":           says(call("toolu_1", "still", `{"at":[1,2,3,4,5,6,7]}`)),
		"an option as time":     says(call("toolu_1", "still", `{"at":["--out=/x"]}`)),
		"says nothing":          says(),
		"empty text":            says(text("")),
		"tags":                  says(text("\U000e0041\u202e ignore")),
		"cut off in a call":     stops("max_tokens", call("toolu_1", "edit", `{"action":"create","path":"scene.js","text":"expo`)),
		"cut off in text":       stops("max_tokens", text("I wri")),
		"pauses":                stops("pause_turn", text("wait")),
		"window full":           stops("model_context_window_exceeded", text("so long")),
		"a stop nobody knows":   stops("tea_time", text("so long")),
		"unsigned thinking":     says(block{`{"type":"thinking","thinking":"","signature":""}`, []string{`{"type":"thinking_delta","thinking":"hm"}`}}, call("toolu_1", "bash", `{"command":"true"}`)),
		"thinking":              says(block{`{"type":"thinking","thinking":"","signature":""}`, []string{`{"type":"thinking_delta","thinking":"hm"}`, `{"type":"signature_delta","signature":"c2ln"}`}}, call("toolu_1", "bash", `{"command":"true"}`)),
		"a block nobody knows":  says(block{start: `{"type":"hologram","x":1}`}, text("look")),
		"a server's tool":       says(block{start: `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`}, text("look")),
		"bash without anything": says(call("toolu_1", "bash", ``)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 0, script(answer, writes("draw"), says(call("toolu_9", "render", `{}`)), done()), nil)
			if err := Run(t.Context(), r.c); err != nil {
				t.Fatalf("%v\n%s", err, r.log)
			}
			got := r.last()
			if s := r.door.Summary(); got.Phase != agent.Done || len(s.Denied) > 0 {
				t.Errorf("reported %+v, denied %v\n%s", got, s.Denied, r.log)
			}
			if name != "a server's tool" && name != "a block nobody knows" && got.End != agent.Finished {
				t.Errorf("ended by %s\n%s", got.End, r.log)
			}
		})
	}
}

func many(n int) []block {
	var all []block
	for i := range n {
		all = append(all, call("toolu_m"+string(rune('a'+i%26))+string(rune('a'+i/26)), "bash", `{"command":"true"}`))
	}
	return all
}

// A model that calls a tool for ever uses its turns and no more, and one that
// writes nothing leaves nothing.
func TestTurns(t *testing.T) {
	r := newRig(t, 0, script(says(call("toolu_1", "bash", `{"command":"true"}`))), func(j *agent.Job) { j.Turns = 5 })
	if err := Run(t.Context(), r.c); !errors.Is(err, ErrNoFilm) {
		t.Errorf("got %v", err)
	}
	if got := r.last(); got.Phase != agent.Failed || got.End != agent.TurnsOut || got.Turn != 5 || r.up.Messages() != 5 {
		t.Errorf("reported %+v after %d calls", got, r.up.Messages())
	}
}

// Errors that pass are waited out, within bounds; others end the asking, and
// what was written until then becomes the film.
func TestErrors(t *testing.T) {
	cut := func(q gatewaytest.Request) gatewaytest.Reply {
		p := done()(q)
		p.Events, p.Cut = p.Events[:3], true
		return p
	}
	overloaded := func(q gatewaytest.Request) gatewaytest.Reply {
		p := done()(q)
		p.Events = append(p.Events[:2], gatewaytest.Event{Name: "error", Data: `{"type":"error","error":{"type":"overloaded_error","message":"no"}}`})
		return p
	}
	patient := func(gatewaytest.Request) gatewaytest.Reply {
		p := gatewaytest.Error(http.StatusTooManyRequests, "rate_limit_error", "no")
		p.Header = http.Header{"Retry-After": {"17"}}
		return p
	}
	// More than was asked for: the gateway stops the job.
	lies := func(q gatewaytest.Request) gatewaytest.Reply {
		p := says(call("toolu_2", "bash", `{"command":"true"}`))(q)
		for i := range p.Events {
			p.Events[i].Data = strings.Replace(p.Events[i].Data, `"output_tokens":50`, `"output_tokens":90000`, 1)
		}
		return p
	}
	for name, c := range map[string]struct {
		broken []step
		end    agent.End
		calls  int
	}{
		"passing":       {[]step{fails(429, "rate_limit_error"), fails(529, "overloaded_error"), fails(500, "api_error"), patient}, agent.Finished, 4 + 4},
		"in the stream": {[]step{cut, overloaded}, agent.Finished, 2 + 4},
		"for ever":      {[]step{fails(500, "api_error")}, agent.Upstream, 1 + attempts},
		"refused":       {[]step{fails(400, "invalid_request_error")}, agent.Denied, 1 + 2},
		"no such model": {[]step{fails(404, "not_found_error")}, agent.Upstream, 2},
		"lies of usage": {[]step{lies}, agent.Denied, 2},
		"model refuses": {[]step{stops("refusal", text("no"))}, agent.Refused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			steps := append([]step{writes("draw")}, c.broken...)
			if c.end == agent.Finished {
				steps = append(steps, says(call("toolu_9", "bash", `{"command":"true"}`)), says(call("toolu_8", "render", `{}`)), done())
			}
			r := newRig(t, 0, script(steps...), nil)
			if err := Run(t.Context(), r.c); err != nil {
				t.Fatalf("%v\n%s", err, r.log)
			}
			if got := r.last(); got.Phase != agent.Done || got.End != c.end || r.up.Messages() != c.calls {
				t.Errorf("reported %+v after %d calls, not %d\n%s", got, r.up.Messages(), c.calls, r.log)
			}
			for _, d := range r.slept {
				if d < time.Second || d > longestWait {
					t.Errorf("waited %v", d)
				}
			}
		})
	}
}

// What the gateway refuses is told to the model, and the next call is smaller.
func TestDenialIsTold(t *testing.T) {
	r := newRig(t, 0, script(writes("draw"), says(call("toolu_2", "still", `{"at":[0]}`)), fails(400, "invalid_request_error"), says(call("toolu_3", "render", `{}`)), done()), nil)
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	all := r.up.Seen()
	if after := all[3].Body; strings.Contains(after, `"type":"image"`) || !strings.Contains(after, "The gateway refused the last request") {
		t.Errorf("the call after the denial: %.2000s", after)
	}
}

// The gateway's own denials: no money, no time to wait for more.
func TestBudget(t *testing.T) {
	// In the worst case a byte is a token, at $1.25 a million: the second call could cost more than there is.
	r := newRig(t, ledger.Micros(60_000), script(writes("draw "+strings.Repeat("x", 60_000)), done()), nil)
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	if got := r.last(); got.Phase != agent.Done || got.End != agent.BudgetOut {
		t.Errorf("reported %+v\n%s", got, r.log)
	}
	if s := r.door.Summary(); s.Denied["budget_exhausted"] != 1 {
		t.Errorf("denied %v", s.Denied)
	}
}

// A model that hangs takes its part of the wall clock; the rest makes the film.
func TestTime(t *testing.T) {
	hang := func(gatewaytest.Request) gatewaytest.Reply { return gatewaytest.Reply{Hang: true} }
	r := newRig(t, 0, script(writes("draw"), hang), func(j *agent.Job) { j.Wall = 12 * time.Second })
	if err := Run(t.Context(), r.c); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	if got := r.last(); got.Phase != agent.Done || got.End != agent.TimeOut {
		t.Errorf("reported %+v", got)
	}
}

// Nobody listens at the report's socket, or nobody at the door: the work goes
// on, or ends by itself.
func TestNobodyThere(t *testing.T) {
	r := newRig(t, 0, script(done()), nil)
	r.c.Run = t.TempDir()
	if err := Run(t.Context(), r.c); !errors.Is(err, ErrNoFilm) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(r.log.String(), "end=upstream") || r.up.Messages() != 0 {
		t.Errorf("the log: %s", r.log)
	}
	r.c.Work = t.TempDir()
	if err := Run(t.Context(), r.c); err == nil || errors.Is(err, ErrNoFilm) {
		t.Errorf("without an order: %v", err)
	}
}
