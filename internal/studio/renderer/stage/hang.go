package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// pausePatience is how long a worker may take to say where it is.
const pausePatience = 3 * time.Second

// hung finds out where the worker is, ends the browser, since a thread that
// loops can't be had back, and says what did not end.
func (w *worker) hung(ctx context.Context, frame int, limit time.Duration) error {
	h := &hungError{what: "the frame", limit: limit, frame: frame}
	asking, cancel := context.WithTimeout(ctx, pausePatience)
	defer cancel()
	var phase string
	// A worker that answers waits for a promise; one that does not, loops.
	answering, stop := context.WithTimeout(asking, pausePatience/3)
	idle := w.realm.Evaluate(answering, "__stage.phase()", &phase) == nil
	stop()
	if !idle {
		h.place = w.whereabouts(asking)
	}
	if frame == scene.NoFrame {
		h.what = "the loading of the scene"
		if idle {
			h.what = phaseName(phase)
		}
	}
	err := w.s.explain(h, frame)
	w.s.browser.Kill(err)
	return err
}

// whereabouts stops the worker's script by the debugger and reads its stack.
func (w *worker) whereabouts(ctx context.Context) scene.Place {
	paused := make(chan string, 1)
	stop := w.realm.Subscribe("Debugger.paused", func(params json.RawMessage) {
		select {
		case paused <- w.scripts.stack(params):
		default:
		}
	})
	defer stop()
	if w.realm.Call(ctx, "Debugger.pause", nil, nil) != nil {
		return scene.Place{}
	}
	select {
	case stack := <-paused:
		place, _ := w.s.cfg.Bundle.Position(stack)
		return place
	case <-ctx.Done():
		return scene.Place{}
	}
}

// addresses knows the addresses of a realm's scripts by their numbers: where a
// paused realm stands is told by number only.
type addresses struct {
	mu   sync.Mutex
	byID map[string]string
}

// follow turns the debugger on, which tells of every script. It costs nothing
// that can be measured; once a thread loops it would be too late, for then the
// thread takes no command but pause.
func follow(ctx context.Context, realm *chromium.Session) (*addresses, error) {
	k := &addresses{byID: map[string]string{}}
	realm.Subscribe("Debugger.scriptParsed", func(params json.RawMessage) {
		var p struct {
			ID  string `json:"scriptId"`
			URL string `json:"url"`
		}
		if json.Unmarshal(params, &p) == nil && p.URL != "" {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.byID[p.ID] = p.URL
		}
	})
	if err := realm.Call(ctx, "Debugger.enable", nil, nil); err != nil {
		return nil, fmt.Errorf("turn on the debugger: %w", err)
	}
	return k, nil
}

// stack writes the frames of a Debugger.paused event as an error's stack has
// them.
func (k *addresses) stack(params json.RawMessage) string {
	var p struct {
		Frames []struct {
			Location struct {
				Script string `json:"scriptId"`
				Line   int    `json:"lineNumber"`   // from 0
				Column int    `json:"columnNumber"` // from 0
			} `json:"location"`
		} `json:"callFrames"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	for _, f := range p.Frames {
		fmt.Fprintf(&b, "    at %s:%d:%d\n", k.byID[f.Location.Script], f.Location.Line+1, f.Location.Column+1)
	}
	return b.String()
}
