package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/proofreel/proofreel/web/rig"
)

// remote serves the rig's page with a script that does what it is told: the page
// asks for the next command and the answer waits until there is one, so nothing
// moves in between.
type remote struct {
	commands chan string
	answers  chan pageState
	over     chan struct{}
}

// pageState is what the page says of itself.
type pageState struct {
	Painted uint32  `json:"painted"` // number of the last painted frame
	Now     float64 `json:"now"`     // performance.now(), ms
}

const script = `<script>
(async () => {
  const two = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (;;) {
    const mode = await (await fetch("/bench/command")).text();
    if (mode) { rig.setMode(mode); await two(); }
    await fetch("/bench/answer", {method: "POST", body: JSON.stringify({painted: rig.painted, now: performance.now()})});
  }
})();
</script></body>`

func newRemote() *remote {
	return &remote{commands: make(chan string), answers: make(chan pageState), over: make(chan struct{})}
}

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/bench/command":
		select {
		case c := <-r.commands:
			_, _ = w.Write([]byte(c))
		case <-r.over:
		case <-req.Context().Done():
		}
	case "/bench/answer":
		var s pageState
		if err := json.NewDecoder(req.Body).Decode(&s); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case r.answers <- s:
		case <-r.over:
		}
	case "/":
		page := httptest.NewRecorder()
		rig.Handler().ServeHTTP(page, req)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.Replace(page.Body.Bytes(), []byte("</body>"), []byte(script), 1))
	default:
		rig.Handler().ServeHTTP(w, req)
	}
}

// ask sets the page's mode, unless it is empty, and returns the page's state.
func (r *remote) ask(ctx context.Context, mode string) (pageState, error) {
	timeout := time.After(30 * time.Second)
	select {
	case r.commands <- mode:
	case <-timeout:
		return pageState{}, errors.New("the page does not ask for commands")
	case <-ctx.Done():
		return pageState{}, fmt.Errorf("command the page: %w", ctx.Err())
	}
	select {
	case s := <-r.answers:
		return s, nil
	case <-timeout:
		return pageState{}, errors.New("the page does not answer")
	case <-ctx.Done():
		return pageState{}, fmt.Errorf("command the page: %w", ctx.Err())
	}
}

// end lets the page's open request go.
func (r *remote) end() { close(r.over) }
