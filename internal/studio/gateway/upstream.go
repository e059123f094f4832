package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/policy"
	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// Upstream is the provider: any server that speaks the Messages API.
type Upstream struct {
	BaseURL string // as https://api.anthropic.com; paths are added to it
	Key     Secret
	Bearer  bool   // send the key as Authorization: Bearer, not as x-api-key
	Proxy   Secret // URL of an HTTP proxy, which can hold a password; empty: none, whatever the environment says
	// Counts says that it has count_tokens. Then a call that would not fit
	// the budget by the safe bound is measured before it is refused.
	Counts bool
	// Dial reaches the provider by another way than the network; nil: the network.
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	Roots *x509.CertPool // that sign its certificate; nil: the system's
}

// apiVersion is the version of the API that the policy's tables are of.
const apiVersion = "2023-06-01"

type upstream struct {
	c      Upstream
	base   string
	client *http.Client
}

func newUpstream(c Upstream, t Timeouts) (*upstream, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the upstream's address should be http or https with a host, without user, query and fragment")
	}
	tr := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: t.Dial}).DialContext,
		TLSHandshakeTimeout:   t.Dial,
		ResponseHeaderTimeout: t.Call,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,     // a bomb can't be unpacked by accident
		WriteBufferSize:       32 << 10, // pictures in few pieces
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		// An answer's header is small; a larger one is no answer.
		MaxResponseHeaderBytes: 64 << 10,
	}
	if c.Dial != nil {
		tr.DialContext = c.Dial
	}
	if c.Proxy.Reveal() != "" {
		p, err := url.Parse(c.Proxy.Reveal())
		if err != nil || p.Host == "" {
			return nil, errors.New("the proxy's address can't be read")
		}
		tr.Proxy = http.ProxyURL(p)
	}
	return &upstream{c: c, base: strings.TrimSuffix(c.BaseURL, "/"), client: &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// sendError says that a request got no answer.
type sendError struct {
	err  error
	sent bool // the request, or some of it, may have reached the provider
}

func (e *sendError) Error() string { return e.err.Error() }
func (e *sendError) Unwrap() error { return e.err }

// post sends a body of ours. The header is made here from nothing: what the
// agent sent in its own reaches nobody.
func (u *upstream) post(ctx context.Context, path string, body *policy.Body, betas []string, stream bool) (*http.Response, error) {
	var sent atomic.Bool // the transport's goroutines may outlive Do
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaderField: func(string, []string) { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.base+path, nil)
	if err != nil {
		return nil, &sendError{err: fmt.Errorf("make the request: %w", err)}
	}
	req.Body = body
	req.ContentLength = body.Len()
	req.GetBody = func() (io.ReadCloser, error) { return body.Again(), nil }
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	if stream {
		h.Set("Accept", "text/event-stream")
	}
	h.Set("Accept-Encoding", "identity")
	h.Set("User-Agent", "proofreel-gateway")
	h.Set("Anthropic-Version", apiVersion)
	if len(betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	if key := u.c.Key.Reveal(); u.c.Bearer {
		h.Set("Authorization", "Bearer "+key)
	} else if key != "" {
		h.Set("X-Api-Key", key)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return nil, &sendError{err: err, sent: sent.Load()}
	}
	return resp, nil
}

// plain says whether an answer is not packed.
func plain(r *http.Response) bool {
	enc := r.Header.Get("Content-Encoding")
	return !r.Uncompressed && (enc == "" || strings.EqualFold(enc, "identity"))
}

func mediaType(r *http.Response) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// answerLimits bound the provider's JSON.
func answerLimits() strictjson.Limits { return strictjson.Limits{Depth: 128, Values: 500_000} }

// whole reads an answer of at most so many bytes, and its JSON.
func whole(r io.Reader, most int64) ([]byte, strictjson.Value, error) {
	raw, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, strictjson.Value{}, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(raw)) > most {
		return nil, strictjson.Value{}, fmt.Errorf("the answer has more than %d bytes", most)
	}
	v, err := strictjson.Parse(raw, answerLimits())
	if err != nil {
		return nil, strictjson.Value{}, fmt.Errorf("read the answer: %w", err)
	}
	return raw, v, nil
}

// maxError is how much of an error's answer is read.
const maxError = 64 << 10

// errorTypes are the API's words for errors.
func errorTypes() map[string]string {
	return map[string]string{
		"invalid_request_error": "the provider refuses the request",
		"request_too_large":     "the provider finds the request too large",
		"not_found_error":       "the provider does not know the model",
		"rate_limit_error":      "the provider is asked too often; try again later",
		"overloaded_error":      "the provider is overloaded; try again later",
		"timeout_error":         "the provider took too long",
		"api_error":             "the provider failed",
		"authentication_error":  "the provider does not take the gateway's key",
		"permission_error":      "the provider does not permit it to the gateway",
		"billing_error":         "the provider is not paid",
	}
}

// errorType gives the type in an error object of the API; empty: it is none.
func errorType(v strictjson.Value) string {
	e, ok := v.Get("error")
	if !ok || v.Str("type") != "error" {
		return ""
	}
	if t := e.Str("type"); errorTypes()[t] != "" {
		return t
	}
	return ""
}

// translate makes the denial of an error that the provider answered. Its text
// can hold names of the account or pieces of other things: only its type goes
// on, and of an invalid request the place, which the agent needs.
func translate(code int, typ string, v strictjson.Value, h http.Header) *denial {
	d := status(code, "upstream_"+strings.TrimSuffix(typ, "_error"), "%s", errorTypes()[typ])
	d.Type = typ
	d.Retry = 0
	switch typ {
	case "authentication_error", "permission_error", "billing_error":
		// The agent can't mend it, and must not take it for its own token's.
		d.Status, d.Type = http.StatusBadGateway, "api_error"
	case "rate_limit_error", "overloaded_error", "timeout_error", "api_error":
		d.Retry = 5 * time.Second
		if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n > 0 {
			d.Retry = time.Duration(min(n, 600)) * time.Second
		}
	case "invalid_request_error":
		e, _ := v.Get("error")
		d.Place = place(e.Str("message"))
	}
	return d
}

// place gives what a message of the provider's begins with, when it is the
// name of a place in the request as messages.1.content.0: nothing else of the
// message is shown.
func place(message string) string {
	head, _, ok := strings.Cut(message, ":")
	if !ok || len(head) > 100 || head == "" {
		return ""
	}
	names := policy.Names()
	for part := range strings.SplitSeq(head, ".") {
		if _, err := strconv.ParseUint(part, 10, 31); err != nil && !slices.Contains(names, part) {
			return ""
		}
	}
	return head
}

// unsent makes the denial of a request that got no answer.
func unsent(err error) *denial {
	d := status(http.StatusBadGateway, "upstream_unreachable", "the provider can't be reached")
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		d = status(http.StatusGatewayTimeout, "upstream_timeout", "the provider took too long")
	}
	d.Retry = 5 * time.Second
	return d
}

// count asks the provider for the call's tokens.
func (c *call) count(ctx context.Context) (int64, *denial) {
	resp, err := c.j.g.up.post(ctx, pathCount, c.req.EncodeCount(), c.betas, false)
	if err != nil {
		c.j.log.Warn("count tokens", "error", err)
		return 0, unsent(err)
	}
	defer func() { _ = resp.Body.Close() }()
	strange := status(http.StatusBadGateway, "upstream_answer", "the provider's answer can't be understood")
	if !plain(resp) {
		return 0, strange
	}
	_, v, err := whole(resp.Body, maxError)
	if err != nil {
		return 0, strange
	}
	if resp.StatusCode != http.StatusOK {
		if typ := errorType(v); typ != "" && resp.StatusCode >= 400 {
			return 0, translate(resp.StatusCode, typ, v, resp.Header)
		}
		return 0, strange
	}
	m, _ := v.Get("input_tokens")
	n, ok := m.Int()
	if !ok || n < 0 || n > 1e9 {
		return 0, strange
	}
	return n, nil
}
