package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/proofreel/proofreel/internal/studio/gateway/strictjson"
)

// Model is the name by which the author is called where a model's name stands.
const Model = "proofreel-template"

// Name is what a film's author is called when it was this one.
const Name = "template"

// Options of an author.
type Options struct {
	// Covers says whether scenes can draw a character. nil: of the scripts that
	// the library's fonts are there for, all can be.
	Covers func(r rune) bool
}

// Author answers requests to the Messages API.
type Author struct {
	covers func(r rune) bool
}

// New makes an author.
func New(o Options) *Author {
	a := &Author{covers: o.Covers}
	if a.covers == nil {
		a.covers = coveredScript
	}
	return a
}

// Serve answers on a listener until ctx ends, and waits for what runs.
func (a *Author) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: a, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.Shutdown(end) != nil {
			_ = s.Close()
		}
	})
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the template author: %w", err)
	}
	return nil
}

const mostBody = 16 << 20 // bytes; the gateway's own cap

// ServeHTTP implements http.Handler.
func (a *Author) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	count := r.URL.Path == "/v1/messages/count_tokens"
	if r.Method != http.MethodPost || !count && r.URL.Path != "/v1/messages" {
		fail(w, http.StatusNotFound, "not_found_error", "there is no such call")
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "request_too_large", "the body is too large")
		return
	}
	v, err := strictjson.Parse(raw, strictjson.Limits{Depth: 64, Values: 200_000})
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "the body is no JSON that can be read in one way only")
		return
	}
	c, err := parseConversation(v)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if count {
		reply(w, fmt.Appendf(nil, `{"input_tokens":%d}`, tokens(len(raw))))
		return
	}
	answer := a.answer(c)
	answer.model, answer.read = c.model, tokens(len(raw))
	if c.stream {
		answer.stream(w)
		return
	}
	reply(w, answer.json())
}

// tokens is a guess, as good as any: nothing costs anything here.
func tokens(n int) int { return n/4 + 1 }

func reply(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func fail(w http.ResponseWriter, status int, typ, message string) {
	b := strictjson.AppendString([]byte(`{"type":"error","error":{"type":`), typ)
	b = strictjson.AppendString(append(b, `,"message":`...), message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, "}}"...))
}
