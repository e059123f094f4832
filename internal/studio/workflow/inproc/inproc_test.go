package inproc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/proofreel/proofreel/internal/studio/workflow/inproc"
)

// A server of Go's and a client of Go's must take the connections for real
// ones, also many at once.
func TestHTTP(t *testing.T) {
	l := inproc.Listen()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		_, _ = w.Write(all)
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := &http.Client{Transport: &http.Transport{DialContext: l.Dial}}
	ended := make(chan error)
	for range 20 {
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://anywhere", io.LimitReader(zeros{}, 1<<20))
			if err != nil {
				ended <- err
				return
			}
			resp, err := c.Do(req)
			if err != nil {
				ended <- err
				return
			}
			n, err := io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if n != 1<<20 {
				err = errors.Join(err, errors.New("not all came back"))
			}
			ended <- err
		}()
	}
	for range 20 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := l.Dial(t.Context(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener: %v", err)
	}
}

// Whoever waits for a listener that nobody accepts on must be able to give up.
func TestDialGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := inproc.Listen().Dial(ctx, "", ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
