// Package gatewaytest is a provider for tests: it records what arrives, plays
// any answer, and misbehaves on demand. No product imports it.
package gatewaytest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Request is one request as it arrived.
type Request struct {
	Method, URI string // URI as it was sent
	Header      http.Header
	Body        string
}

// Reply says how a request is answered.
type Reply struct {
	Status int         // 0: 200
	Header http.Header // beside the content type that Body or Events have
	Body   string
	Events []Event // an event stream, when there are any
	Wait   time.Duration
	Hang   bool // no answer, until the caller goes away
	Cut    bool // after what is above the connection ends, in the middle
}

// Event is one event of a stream.
type Event struct {
	Name, Data string
	Wait       time.Duration   // before it is sent
	Until      <-chan struct{} // it is sent when this is closed
	Raw        string          // sent as it is, instead
	Sent       func()          // called when it was sent
}

// Upstream is a running provider.
type Upstream struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	seen   []Request
	play   func(Request) Reply
}

// New starts a provider that answers with what play says. Close ends it.
func New(play func(Request) Reply) *Upstream {
	u := &Upstream{play: play}
	u.server = httptest.NewServer(u)
	u.URL = u.server.URL
	return u
}

// Close ends the provider. Answers that hang are cut off.
func (u *Upstream) Close() {
	u.server.CloseClientConnections()
	u.server.Close()
}

// Play changes the answer to the requests from now on.
func (u *Upstream) Play(play func(Request) Reply) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.play = play
}

// Seen gives the requests that arrived, in their order.
func (u *Upstream) Seen() []Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Request(nil), u.seen...)
}

// Messages counts the requests that would cost money.
func (u *Upstream) Messages() int {
	n := 0
	for _, r := range u.Seen() {
		if r.URI == "/v1/messages" {
			n++
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := Request{r.Method, r.RequestURI, r.Header.Clone(), string(body)}
	u.mu.Lock()
	u.seen = append(u.seen, req)
	play := u.play
	u.mu.Unlock()
	play(req).write(r.Context(), w)
}

func (p Reply) write(ctx context.Context, w http.ResponseWriter) {
	sleep(ctx, p.Wait)
	for name, values := range p.Header {
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
		if len(p.Events) > 0 {
			w.Header().Set("Content-Type", "text/event-stream")
		}
	}
	if p.Hang && p.Body == "" && len(p.Events) == 0 {
		<-ctx.Done()
		return
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = io.WriteString(w, p.Body)
	for _, e := range p.Events {
		if !e.send(ctx, w) {
			return
		}
	}
	_ = http.NewResponseController(w).Flush()
	if p.Hang {
		<-ctx.Done()
	}
	if p.Cut {
		panic(http.ErrAbortHandler)
	}
}

func (e Event) send(ctx context.Context, w http.ResponseWriter) bool {
	sleep(ctx, e.Wait)
	if e.Until != nil {
		select {
		case <-e.Until:
		case <-ctx.Done():
			return false
		}
	}
	text := e.Raw
	if text == "" {
		text = "event: " + e.Name + "\ndata: " + e.Data + "\n\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return false
	}
	_ = http.NewResponseController(w).Flush()
	if e.Sent != nil {
		e.Sent()
	}
	return ctx.Err() == nil
}

func sleep(ctx context.Context, d time.Duration) {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
}

// Usage makes a usage object of plain tokens.
func Usage(input, output int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":%d,"service_tier":"standard"}`, input, output)
}

// Message answers in one piece.
func Message(text, usage string) Reply {
	return Reply{Body: fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","stop_sequence":null,"usage":%s}`, text, usage)}
}

// Stream answers with an event stream: one delta for each text.
func Stream(startUsage, endUsage string, texts ...string) Reply {
	e := []Event{
		{Name: "message_start", Data: `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":` + startUsage + `}}`},
		{Name: "content_block_start", Data: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
	}
	for _, t := range texts {
		e = append(e, Event{Name: "content_block_delta", Data: fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, t)})
	}
	e = append(e,
		Event{Name: "content_block_stop", Data: `{"type":"content_block_stop","index":0}`},
		Event{Name: "message_delta", Data: `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":` + endUsage + `}`},
		Event{Name: "message_stop", Data: `{"type":"message_stop"}`},
	)
	return Reply{Events: e}
}

// Error answers with an error of the API.
func Error(status int, typ, message string) Reply {
	return Reply{Status: status, Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, typ, message)}
}

// Streaming says whether a request asks for an event stream.
func (r Request) Streaming() bool { return strings.Contains(r.Body, `"stream":true`) }

// Socket listens on a unix socket, as a job's door does.
func Socket(path string) (net.Listener, error) {
	var c net.ListenConfig
	l, err := c.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// Client makes an HTTP client whose every connection goes to a unix socket.
func Client(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 256,
	}}
}
