package stage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// way is how pixels come to the host. Each is slower than the one before, and
// is taken when that does not work here.
type way int

const (
	wayMapped way = iota // the ring's file is mapped
	wayRead              // it is read
	wayCalled            // each frame is asked for and comes as text
)

// worker draws frames one after the other, in a worker of the page or, for
// scenes of kind dom, in a page of its own.
type worker struct {
	s       *Stage
	number  int
	born    int // how many realms it has had
	realm   *chromium.Session
	name    string // the realm's, in the address of its script
	scripts *addresses
	ring    *ring // nil: pixels come by call
	layout  layout
	buf     []byte // for pixels that must be turned around
	dom     bool   // the realm is a page of its own: domlane.go
	shots   bool   // its pixels come by screenshot

	sequential bool
	next       int    // the frame that a sequential scene draws next
	runs       uint32 // runs of the realm so far
	used       uint32 // frames of the realm that the host has let go of
}

// startWorkers loads the scene in as many workers as it may have. All load at
// the same time, though what the first tells may make the others needless: it
// is the start that a short film waits for.
func (s *Stage) startWorkers(ctx context.Context, kind scene.Kind) error {
	all := make([]*worker, s.cfg.Workers)
	for i := range all {
		all[i] = &worker{s: s, number: i, dom: kind == scene.KindDOM}
		s.lanes = append(s.lanes, all[i]) // Close ends them, also after an error
	}
	var meta scene.Meta
	if err := together(all, func(w *worker) error {
		m, err := w.begin(ctx)
		if w.number == 0 {
			meta = m
		}
		return err
	}); err != nil {
		return err
	}
	if meta.Kind != kind {
		return &otherKindError{meta.Kind}
	}
	s.mu.Lock()
	s.meta = meta
	s.mu.Unlock()
	n := min(len(all), meta.Frames())
	if meta.Sequential {
		n = 1
	}
	if err := together(all[:n], func(w *worker) error { return w.prepare(ctx) }); err != nil {
		return err
	}
	if all[0].sequential { // known only after setup
		n = 1
	}
	for _, w := range all[n:] {
		w.end()
	}
	s.lanes = s.lanes[:n]
	s.locks = make([]sync.Mutex, n)
	return nil
}

// together calls f for all workers at the same time, and gives the error of
// the first of them that has one.
func together(all []*worker, f func(w *worker) error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, w := range all {
		wg.Go(func() { errs[i] = f(w) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// begin starts a realm and evaluates the scene's module in it.
func (w *worker) begin(ctx context.Context) (scene.Meta, error) {
	if err := w.spawn(ctx); err != nil {
		return scene.Meta{}, err
	}
	return w.load(ctx)
}

// again starts the scene anew, in a realm that has seen no frame.
func (w *worker) again(ctx context.Context) error {
	if _, err := w.begin(ctx); err != nil {
		return err
	}
	return w.prepare(ctx)
}

// spawn starts a new realm.
func (w *worker) spawn(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, browserPatience, errSlowBrowser)
	defer cancel()
	w.born++
	w.name = fmt.Sprintf("w%d-%d", w.number, w.born)
	if w.dom {
		return w.spawnPage(ctx)
	}
	address, err := json.Marshal("/run/worker.js?" + w.name)
	if err != nil {
		return fmt.Errorf("name a worker: %w", err)
	}
	err = w.s.page.Evaluate(ctx, fmt.Sprintf(`new Promise((ready, failed) => {
		const w = new Worker(%s, { type: "module" })
		w.onmessage = () => ready()
		w.onerror = e => failed(new Error(e.message || "the worker's script did not load"));
		(globalThis.workers ??= {})[%s] = w
	})`, address, address), nil)
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	if w.realm, err = w.s.page.Worker(ctx, "/run/worker.js?"+w.name); err != nil {
		return fmt.Errorf("find the worker: %w", err)
	}
	w.runs, w.used, w.next = 0, 0, 0
	w.scripts, err = follow(ctx, w.realm)
	return err
}

// loaded is the answer of the harness's load and prepare.
type loaded struct {
	Report     json.RawMessage `json:"report"`
	Wrong      []string        `json:"wrong"`
	Layout     layout          `json:"layout"`
	Sequential bool            `json:"sequential"`
	Slow       string          `json:"slow"` // why a page's pixels must come by screenshot
	Error      *thrown         `json:"error"`
	Notes      []said          `json:"notes"`
}

// load evaluates the scene's module and reads its meta.
func (w *worker) load(ctx context.Context) (scene.Meta, error) {
	install, err := w.s.cfg.Fonts.Install()
	if err != nil {
		return scene.Meta{}, fmt.Errorf("describe the fonts: %w", err)
	}
	got, err := w.call(ctx, "load", map[string]any{"install": install, "module": origin + "/" + scene.ModuleName})
	if err != nil {
		return scene.Meta{}, err
	}
	for _, what := range got.Wrong {
		w.s.log.Warn("the browser is not as it should be", "what", what)
	}
	meta, err := scene.ParseMeta(got.Report)
	if w.s.cfg.Style != "" {
		meta.Style = w.s.cfg.Style
	}
	return meta, err
}

// prepare makes the canvas and the ring, and runs the scene's setup.
func (w *worker) prepare(ctx context.Context) error {
	meta := w.s.meta
	bytes := meta.Width * meta.Height * 4
	params := map[string]any{"meta": meta}
	id := newID()
	if w.s.cfg.way != wayCalled {
		params["ring"] = map[string]any{"name": w.name, "id": id, "slots": slots, "bytes": bytes}
	}
	if w.dom {
		if err := w.setViewport(ctx); err != nil {
			return err
		}
	}
	got, err := w.call(ctx, "prepare", params)
	if err != nil {
		return err
	}
	w.layout, w.sequential = got.Layout, got.Sequential
	if got.Slow != "" {
		w.useShots(got.Slow)
		return nil
	}
	if w.layout != layoutBGR && w.buf == nil {
		w.buf = make([]byte, bytes)
	}
	if w.s.cfg.way == wayCalled {
		return nil
	}
	w.ring, err = openRing(w.s.dir, id, bytes, w.s.cfg.way == wayMapped)
	if errors.Is(err, errNoRing) {
		w.s.note(scene.Note{Code: "slow_pixels", Frame: scene.NoFrame, Text: "This browser keeps its files where they can't be read: frames come as messages, which is many times slower."})
		return nil
	}
	return err
}

func newID() string {
	raw := make([]byte, ringIDLen/2)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return hex.EncodeToString(raw)
}

// call calls load or prepare within the time for loading.
func (w *worker) call(ctx context.Context, function string, params any) (loaded, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return loaded{}, fmt.Errorf("write the parameters of %s: %w", function, err)
	}
	timed, cancel := context.WithTimeoutCause(ctx, w.s.cfg.LoadTimeout, errTimeout)
	defer cancel()
	var got loaded
	err = w.realm.Evaluate(timed, fmt.Sprintf("__stage.%s(%s)", function, raw), &got)
	w.s.takeNotes(got.Notes)
	switch {
	case errors.Is(err, errTimeout):
		return got, w.hung(ctx, scene.NoFrame, w.s.cfg.LoadTimeout)
	case err != nil:
		return got, err
	case got.Error != nil:
		return got, w.s.threw(*got.Error)
	}
	return got, nil
}

// errTimeout is the cause of our own deadlines.
var errTimeout = errors.New("out of time")

// frames draws from..to-1 and gives them in order: through the ring, or by
// calls where there is none. It is not called from two goroutines at once.
func (w *worker) frames(ctx context.Context, from, to int, use func(int, Frame) error) error {
	if err := w.ready(ctx, from); err != nil {
		return err
	}
	switch {
	case w.shots:
		return w.shotFrames(ctx, from, to, use)
	case w.ring == nil:
		return w.callFrames(ctx, from, to, use)
	default:
		return w.ringFrames(ctx, from, to, use)
	}
}

// ready gives a sequential scene that is past the frame a new realm.
func (w *worker) ready(ctx context.Context, from int) error {
	if !w.sequential || w.next <= from {
		return nil
	}
	w.end()
	if err := w.again(ctx); err != nil {
		return w.explain(ctx, err, scene.NoFrame)
	}
	return nil
}

// first is the first frame to be drawn so that from can be.
func (w *worker) first(from int) int {
	if w.sequential {
		return w.next
	}
	return from
}

// explain makes a fault of an error, but for the context's end.
func (w *worker) explain(ctx context.Context, err error, frame int) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.s.explain(err, frame)
}

// end ends the realm.
func (w *worker) end() {
	w.close()
	if w.dom {
		return // with the next page that is opened in its place
	}
	// Without an answer the browser is gone, and the realm with it.
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	_ = w.s.page.Evaluate(ctx, fmt.Sprintf(`globalThis.workers["/run/worker.js?%s"]?.terminate()`, w.name), nil)
}

// endPatience is how long the page may take to end a worker.
const endPatience = 5 * time.Second

// close lets go of the ring. The realm ends with the browser.
func (w *worker) close() {
	if w.ring != nil {
		w.ring.close()
		w.ring = nil
	}
}
