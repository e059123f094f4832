package gateway

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
)

// The two routes, and all spellings of them that there are.
const (
	pathMessages = "/v1/messages"
	pathCount    = "/v1/messages/count_tokens"
	queryBeta    = "?beta=true"
)

// ServeHTTP answers one request of the agent's.
func (j *Job) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !j.begin() {
		status(http.StatusUnauthorized, "token", "the job has ended").write(w)
		return
	}
	defer j.calls.Done()
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Now().Add(j.g.c.Timeouts.Body + j.g.c.Timeouts.Write)) // that of the request before is over
	route, d := j.admit(r)
	if d != nil {
		// The body was not read, and won't be: the connection ends here.
		w.Header().Set("Connection", "close")
		_ = rc.SetReadDeadline(time.Now().Add(time.Second))
		if d.Status == http.StatusTooManyRequests {
			j.hold(r.Context())
		}
		j.deny(w, d)
		return
	}
	select {
	case j.slots <- struct{}{}:
		defer func() { <-j.slots }()
	case <-r.Context().Done():
		return
	}
	raw, d := j.read(rc, r)
	if d != nil {
		w.Header().Set("Connection", "close")
		j.deny(w, d)
		return
	}
	faultpoint("parse")
	req, err := j.g.rules.Rebuild(raw, policy.Pins{Model: j.c.Model, User: j.user}, route == pathCount)
	if err != nil {
		j.deny(w, refused(err))
		return
	}
	for name := range req.Dropped {
		j.note(j.dropped, name)
	}
	c := call{j: j, w: w, rc: rc, req: req, agent: r.Context()}
	var dropped int
	if c.betas, dropped = policy.Betas(betaNames(r.Header)); dropped > 0 {
		j.note(j.dropped, "anthropic-beta")
	}
	if route == pathCount {
		c.countTokens()
		return
	}
	c.messages()
}

// hold lets whoever asks too often wait for the refusal, too: with so many
// connections at most, it asks that much more slowly.
func (j *Job) hold(ctx context.Context) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	case <-j.ctx.Done():
	}
}

// begin counts a request in, unless the job has ended.
func (j *Job) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.calls.Add(1)
	}
	return !j.closed
}

// admit judges a request by all but its body. Nothing that is not known to be
// harmless passes: the order is load, route, framing, token, size. Load comes
// first: a refusal is work, too.
func (j *Job) admit(r *http.Request) (route string, d *denial) {
	if !j.take(1) {
		return "", tooMany()
	}
	route = strings.TrimSuffix(r.RequestURI, queryBeta) // as it was sent: no cleaning, no decoding
	switch {
	case route != pathMessages && route != pathCount:
		return "", status(http.StatusNotFound, "path", "only POST %s and POST %s exist, with no query but beta=true", pathMessages, pathCount)
	case r.Method != http.MethodPost:
		return "", status(http.StatusMethodNotAllowed, "method", "only POST")
	}
	if d := framing(r); d != nil {
		return "", d
	}
	if d := j.authenticate(r.Header); d != nil {
		return "", d
	}
	if r.ContentLength > j.caps.Body {
		return "", status(http.StatusRequestEntityTooLarge, "body_size", "a body of %d bytes; at most %d", r.ContentLength, j.caps.Body)
	}
	if !j.take(float64(r.ContentLength) / (1 << 20)) {
		return "", tooMany()
	}
	return route, nil
}

func (j *Job) take(cost float64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.limiter.take(cost, j.g.c.Now())
}

func tooMany() *denial {
	return status(http.StatusTooManyRequests, "rate", "too many requests; wait a moment")
}

// framing refuses what makes a request's extent or meaning a matter of taste.
// net/http gives Transfer-Encoding precedence over a Content-Length beside it;
// without the first there is nothing to precede.
func framing(r *http.Request) *denial {
	h := r.Header
	switch {
	case r.ProtoMajor != 1 || r.ProtoMinor != 1:
		return status(http.StatusHTTPVersionNotSupported, "http_version", "only HTTP/1.1")
	case len(r.TransferEncoding) > 0:
		return status(http.StatusLengthRequired, "transfer_encoding", "send the body with Content-Length, not with Transfer-Encoding")
	case r.ContentLength < 0:
		return status(http.StatusLengthRequired, "content_length", "send the body's Content-Length")
	case len(h.Values("Upgrade")) > 0 || len(h.Values("Http2-Settings")) > 0:
		return invalid("upgrade", "there is no other protocol")
	case len(h.Values("Trailer")) > 0:
		return invalid("trailer", "there are no trailers")
	case h.Get("Content-Encoding") != "" && h.Get("Content-Encoding") != "identity" || len(h.Values("Content-Encoding")) > 1:
		return status(http.StatusUnsupportedMediaType, "content_encoding", "send the body as it is")
	}
	for _, name := range []string{"Content-Type", "Authorization", "X-Api-Key", "Anthropic-Version"} {
		if len(h.Values(name)) > 1 {
			return invalid("header_twice", "the header %s stands there twice", name)
		}
	}
	typ, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || typ != "application/json" || (charset != "" && charset != "utf-8") {
		return status(http.StatusUnsupportedMediaType, "content_type", "send application/json")
	}
	return nil
}

// authenticate looks for the job's token. What is wrong with another is not
// told.
func (j *Job) authenticate(h http.Header) *denial {
	bad := status(http.StatusUnauthorized, "token", "send this job's token as x-api-key, or as Authorization: Bearer")
	var given []string
	if key := h.Get("X-Api-Key"); key != "" {
		given = append(given, key)
	}
	if auth := h.Get("Authorization"); auth != "" {
		bearer, ok := strings.CutPrefix(auth, "Bearer ")
		if !ok {
			return bad
		}
		given = append(given, bearer)
	}
	if len(given) == 0 {
		return bad
	}
	for _, token := range given {
		c, err := verify(j.g.c.Key, token, j.g.c.Now())
		if err != nil || c.job != j.c.ID || c.model != j.c.Model {
			return bad
		}
	}
	return nil
}

// read takes the body in, within its time.
func (j *Job) read(rc *http.ResponseController, r *http.Request) ([]byte, *denial) {
	if err := rc.SetReadDeadline(time.Now().Add(j.g.c.Timeouts.Body)); err != nil {
		j.alarm("door", err.Error(), false)
		return nil, status(http.StatusInternalServerError, "door", "the body can't be read")
	}
	raw := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, raw); err != nil {
		return nil, status(http.StatusRequestTimeout, "body_short", "the body did not come in whole")
	}
	// From here on the deadline would end the answer, too.
	if err := rc.SetReadDeadline(time.Time{}); err != nil {
		return nil, status(http.StatusInternalServerError, "door", "the body can't be read")
	}
	return raw, nil
}

// betaNames gives the names in anthropic-beta, in however many headers.
func betaNames(h http.Header) []string {
	var names []string
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// call is one call of the agent's on its way.
type call struct {
	j     *Job
	w     http.ResponseWriter
	rc    *http.ResponseController
	req   *policy.Request
	agent context.Context //nolint:containedctx // ends when the agent has gone

	betas     []string
	gone      bool // the agent
	unflushed bool // something was written and not flushed
}

// countTokens asks the provider how many tokens the call has. It costs
// nothing, but it is a request with the agent's data: it is counted.
func (c *call) countTokens() {
	if err := c.j.budget.Count(); err != nil {
		c.j.deny(c.w, unpaid(err))
		return
	}
	ctx, cancel := context.WithTimeout(c.j.ctx, c.j.g.c.Timeouts.Silence)
	defer cancel()
	n, d := c.count(ctx)
	if d != nil {
		c.j.deny(c.w, d)
		return
	}
	body := fmt.Appendf(nil, `{"input_tokens":%d}`, n)
	c.answer(http.StatusOK, body)
}

// answer writes a whole answer of ours.
func (c *call) answer(code int, body []byte) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(code)
	c.write(body)
	c.flush()
}

// write writes to the agent. One that does not take it in time has gone.
func (c *call) write(p []byte) {
	if c.gone {
		return
	}
	if !c.unflushed {
		c.gone = c.rc.SetWriteDeadline(time.Now().Add(c.j.g.c.Timeouts.Write)) != nil
	}
	c.unflushed = true
	if _, err := c.w.Write(p); err != nil {
		c.gone = true
	}
}

// flush sends what was written on its way.
func (c *call) flush() {
	if c.unflushed && !c.gone {
		c.gone = c.rc.Flush() != nil
	}
	c.unflushed = false
}
