package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/price"
	"github.com/proofreel/proofreel/internal/studio/gateway/sse"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// messages makes a call: pays, sends, relays the answer, settles.
//
// When the agent goes away the answer is read on, for a while: only its end
// says what it cost. Cutting it off would be billed in full, and would make a
// client's timeout cost the job a whole reservation.
func (c *call) messages() {
	j := c.j
	ctx, cancel := context.WithTimeout(j.ctx, j.g.c.Timeouts.Call)
	defer cancel()
	p, d := c.reserve(ctx)
	if d != nil {
		j.deny(c.w, d)
		return
	}
	// Whatever happens below, a panic too, the reservation is settled.
	defer c.settleFull(p, "the call ended otherwise")
	defer c.watch(cancel)()

	resp, err := j.g.up.post(ctx, pathMessages, c.req.Encode(p.maxTokens), c.betas, c.req.Stream)
	if err != nil {
		c.unanswered(p, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	faultpoint("answered")
	switch {
	case !plain(resp):
		c.strange(p, "the answer is packed")
	case resp.StatusCode != http.StatusOK:
		c.failed(p, resp)
	case c.req.Stream && mediaType(resp) == "text/event-stream":
		c.stream(p, resp.Body, cancel)
	case !c.req.Stream && mediaType(resp) == "application/json":
		c.whole(p, resp.Body)
	default:
		c.strange(p, "the answer is of another media type")
	}
}

// watch ends the call some time after the agent has gone.
func (c *call) watch(cancel context.CancelFunc) (stop func()) {
	drain := time.AfterFunc(time.Hour, cancel)
	drain.Stop()
	unhook := context.AfterFunc(c.agent, func() { drain.Reset(c.j.g.c.Timeouts.Drain) })
	return func() {
		unhook()
		drain.Stop()
	}
}

// unanswered settles a call that got no answer. One that never left is free.
func (c *call) unanswered(p *payment, err error) {
	c.j.log.Warn("no answer", "error", err)
	var s *sendError
	if errors.As(err, &s) && !s.sent {
		c.settle(p, 0, ledger.Refused)
	} else {
		c.settleFull(p, "no answer")
	}
	c.j.deny(c.w, unsent(err))
}

// strange settles a call whose answer can't be understood.
func (c *call) strange(p *payment, detail string) {
	c.settleFull(p, detail)
	c.j.deny(c.w, status(http.StatusBadGateway, "upstream_answer", "the provider's answer can't be understood"))
}

// failed relays an error that the provider answered. One that says that the
// call was not begun is free; of another nobody knows how far it got.
func (c *call) failed(p *payment, resp *http.Response) {
	_, v, err := whole(resp.Body, maxError)
	typ := errorType(v)
	if err != nil || typ == "" || resp.StatusCode < 400 {
		c.strange(p, "no error of the API with status "+resp.Status)
		return
	}
	code := resp.StatusCode
	if (code < 500 && code != http.StatusRequestTimeout) || code == http.StatusServiceUnavailable || code == statusOverloaded {
		c.settle(p, 0, ledger.Refused)
	} else {
		c.settleFull(p, "failed with "+typ)
	}
	switch typ {
	case "authentication_error", "permission_error", "billing_error":
		c.j.alarm("upstream", errorTypes()[typ], false)
	}
	c.j.deny(c.w, translate(code, typ, v, resp.Header))
}

// statusOverloaded is the API's own status for it.
const statusOverloaded = 529

// whole relays an answer in one piece.
func (c *call) whole(p *payment, body io.Reader) {
	raw, v, err := whole(body, c.j.caps.Answer)
	if err != nil || v.Str("type") != "message" {
		c.strange(p, "no message")
		return
	}
	var u price.Usage
	if usage, ok := v.Get("usage"); ok {
		err = u.Add(usage)
	}
	c.otherModel(v, &u)
	switch {
	case err != nil:
		c.settleStrange(p, "usage", err.Error())
	case !u.Seen:
		c.settleFull(p, "no usage")
	default:
		c.settleUsage(p, u)
	}
	c.answer(http.StatusOK, raw)
}

// otherModel notices an answer of a model that has another price.
func (c *call) otherModel(message strictjson.Value, u *price.Usage) {
	name := message.Str("model")
	if _, priced := c.j.g.prices.Find(name); priced && name != c.j.c.Model {
		u.Strange = "an answer of " + name
	}
}

// streamState is what a stream has told so far.
type streamState struct {
	usage price.Usage
	bad   error // usage that can't be true
	final bool  // the usage is the last there will be
}

// stream relays an event stream, event by event as they come.
func (c *call) stream(p *payment, body io.Reader, cancel context.CancelFunc) {
	silence := time.AfterFunc(c.j.g.c.Timeouts.Silence, cancel)
	defer silence.Stop()
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusOK)
	c.unflushed = true // the header goes out before the first event comes

	from := feed{body, c.flush, func() { silence.Reset(c.j.g.c.Timeouts.Silence) }}
	r := sse.NewReader(from, sse.Limits{Event: c.j.caps.Event, Total: c.j.caps.Answer})
	var s streamState
	var out []byte
	for {
		e, err := r.Next()
		if err != nil {
			c.ended(p, &s, err)
			return
		}
		v, err := strictjson.Parse(e.Data, answerLimits())
		if err != nil || v.Kind != strictjson.Object || (e.Name != "" && e.Name != v.Str("type")) {
			c.cut(p, "an event that can't be understood")
			return
		}
		e.Name = v.Str("type")
		pass, last := c.event(p, &s, e.Name, v)
		if !pass {
			continue
		}
		if e.Name == "error" {
			c.broken(p, v)
			return
		}
		if bytes.ContainsAny(e.Data, "\r\n") {
			e.Data = v.Append(nil)
		}
		faultpoint("event")
		out = sse.Append(out[:0], e)
		c.write(out) // an agent that has gone is read on for
		if last {
			c.flush()
			return
		}
	}
}

// feed is the provider's stream. Whatever was relayed is flushed before more
// is waited for: no event is held back, and those that came in one piece go
// out in one.
type feed struct {
	body   io.Reader
	before func()
	after  func()
}

func (f feed) Read(p []byte) (int, error) {
	f.before()
	n, err := f.body.Read(p)
	if n > 0 {
		f.after()
	}
	return n, err //nolint:wrapcheck // the reader above wraps it
}

// event takes in what an event tells. It says whether the agent gets it, and
// whether it is the last: then the call is settled, so that the agent's next
// one finds the budget as it is.
func (c *call) event(p *payment, s *streamState, name string, v strictjson.Value) (pass, last bool) {
	take := func(of strictjson.Value) {
		if usage, ok := of.Get("usage"); ok && s.bad == nil {
			s.bad = s.usage.Add(usage)
		}
	}
	switch name {
	case "message_start":
		m, _ := v.Get("message")
		take(m)
		c.otherModel(m, &s.usage)
	case "message_delta":
		take(v)
		delta, _ := v.Get("delta")
		usage, _ := v.Get("usage")
		_, counted := usage.Get("output_tokens")
		s.final = s.final || (delta.Str("stop_reason") != "" && counted)
	case "message_stop":
		c.finish(p, s)
		return true, true
	case "content_block_start", "content_block_delta", "content_block_stop", "ping", "error":
	default:
		c.j.note(c.j.dropped, "event")
		return false, false
	}
	return true, false
}

// finish settles a stream.
func (c *call) finish(p *payment, s *streamState) {
	switch {
	case s.bad != nil:
		c.settleStrange(p, "usage", s.bad.Error())
	case !s.final:
		c.settleFull(p, "the stream told no usage at its end")
	default:
		c.settleUsage(p, s.usage)
	}
}

// ended settles a stream that ended without its last event.
func (c *call) ended(p *payment, s *streamState, err error) {
	if s.final || s.bad != nil {
		c.finish(p, s)
	}
	c.j.log.Warn("the stream ended early", "error", err)
	c.cut(p, "the stream ended early")
}

// cut ends a stream that has begun.
func (c *call) cut(p *payment, detail string) {
	c.settleFull(p, detail)
	d := status(http.StatusBadGateway, "upstream_answer", "the provider's answer was cut off")
	c.j.note(c.j.denied, d.Rule)
	c.write(d.event())
	c.flush()
}

// broken relays an error inside of a stream, without its text.
func (c *call) broken(p *payment, v strictjson.Value) {
	typ := errorType(v)
	if typ == "" {
		c.cut(p, "an error that is none of the API")
		return
	}
	c.settleFull(p, "the stream broke with "+typ)
	d := translate(http.StatusBadGateway, typ, v, nil)
	c.j.note(c.j.denied, d.Rule)
	c.write(d.event())
	c.flush()
}
