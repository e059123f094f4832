package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrGone says that a page or worker is there no more.
var ErrGone = errors.New("the page or worker has ended")

// Session talks to one page or worker.
type Session struct {
	b    *Browser
	id   string
	url  string        // as it was when we attached
	gone chan struct{} // closed when it has ended, but not by the end of the whole browser

	mu       sync.Mutex
	handlers []*handler
	children []*Session
	waiting  []waiter
}

type handler struct {
	method string
	f      func(json.RawMessage)
}

// waiter waits for a worker by the end of its address.
type waiter struct {
	suffix string
	ch     chan *Session
}

// NewPage opens an empty page, in a window of its own: a full browser does not
// lay out a page that lies behind another in one window. Its workers are found by [Session.Worker].
func (b *Browser) NewPage(ctx context.Context) (*Session, error) {
	var made struct {
		ID string `json:"targetId"`
	}
	if err := b.Call(ctx, "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made); err != nil {
		return nil, fmt.Errorf("open a page: %w", err)
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.Call(ctx, "Target.attachToTarget", map[string]any{"targetId": made.ID, "flatten": true}, &attached); err != nil {
		return nil, fmt.Errorf("attach to the page: %w", err)
	}
	// The event that makes the session comes before the answer.
	b.mu.Lock()
	s := b.sessions[attached.Session]
	b.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("attach to the page: %w", ErrGone)
	}
	workers := map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}
	if err := s.Call(ctx, "Target.setAutoAttach", workers, nil); err != nil {
		return nil, fmt.Errorf("attach to the page's workers: %w", err)
	}
	if err := s.Call(ctx, "Page.enable", nil, nil); err != nil {
		return nil, fmt.Errorf("follow the page: %w", err)
	}
	return s, nil
}

// Navigate opens an address in the page and waits until it has loaded.
func (s *Session) Navigate(ctx context.Context, url string) error {
	loaded := make(chan struct{}, 1)
	stop := s.Subscribe("Page.loadEventFired", func(json.RawMessage) {
		select {
		case loaded <- struct{}{}:
		default:
		}
	})
	defer stop()
	var res struct {
		Error string `json:"errorText"`
	}
	if err := s.Call(ctx, "Page.navigate", map[string]any{"url": url}, &res); err != nil {
		return err
	}
	if res.Error != "" {
		return fmt.Errorf("open the page: %s", res.Error)
	}
	select {
	case <-loaded:
		return nil
	case <-s.gone:
		return ErrGone
	case <-s.b.done:
		return s.b.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Worker waits for a worker of this page whose address ends in suffix.
func (s *Session) Worker(ctx context.Context, suffix string) (*Session, error) {
	ch := make(chan *Session, 1)
	s.mu.Lock()
	for _, c := range s.children {
		if strings.HasSuffix(c.url, suffix) {
			ch <- c
			break
		}
	}
	s.waiting = append(s.waiting, waiter{suffix, ch})
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.ch == ch })
	}()
	select {
	case c := <-ch:
		return c, nil
	case <-s.gone:
		return nil, ErrGone
	case <-s.b.done:
		return nil, s.b.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// adopt takes in a new worker of the page. It runs on the reading goroutine.
func (s *Session) adopt(c *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children = append(s.children, c)
	for _, w := range s.waiting {
		if strings.HasSuffix(c.url, w.suffix) {
			select {
			case w.ch <- c:
			default:
			}
		}
	}
}

// Call sends a command to the page or worker; see [Browser.Call]. The error is
// [ErrGone] when the page or worker ends meanwhile.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	return s.b.call(ctx, s, method, params, result)
}

// Subscribe has f called for every event of that name, on the goroutine that
// reads from the browser: f must neither block nor call the browser. The
// events of a domain come once it was enabled. After stop f is not called by
// events that come then.
func (s *Session) Subscribe(method string, f func(params json.RawMessage)) (stop func()) {
	h := &handler{method, f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = append(slices.Clone(s.handlers), h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handlers = slices.DeleteFunc(slices.Clone(s.handlers), func(o *handler) bool { return o == h })
	}
}

func (s *Session) event(method string, params json.RawMessage) {
	s.mu.Lock()
	handlers := s.handlers // never changed in place
	s.mu.Unlock()
	for _, h := range handlers {
		if h.method == method {
			h.f(params)
		}
	}
}

// evaluated is the answer to Runtime.evaluate.
type evaluated struct {
	Result    remoteObject `json:"result"`
	Exception *struct {
		Text      string        `json:"text"`
		Exception *remoteObject `json:"exception"`
	} `json:"exceptionDetails"`
}

type remoteObject struct {
	Value       json.RawMessage `json:"value"`
	Description string          `json:"description"`
	Raw         string          `json:"unserializableValue"` // NaN, Infinity, -0, 1n
}

// Evaluate runs an expression in the page or worker, waits for it when it is a
// promise, and decodes its value, as JSON, into result, which may be nil. What
// it throws is a *ScriptError.
func (s *Session) Evaluate(ctx context.Context, expression string, result any) error {
	var got evaluated
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := s.Call(ctx, "Runtime.evaluate", params, &got); err != nil {
		return err
	}
	if e := got.Exception; e != nil {
		if e.Exception == nil {
			return &ScriptError{Text: e.Text}
		}
		return &ScriptError{Text: e.Exception.text()}
	}
	if result == nil || len(got.Result.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(got.Result.Value, result); err != nil {
		return fmt.Errorf("read the value of the expression: %w", err)
	}
	return nil
}

func (o remoteObject) text() string {
	switch {
	case o.Description != "":
		return o.Description
	case o.Raw != "":
		return o.Raw
	default:
		return string(o.Value)
	}
}
