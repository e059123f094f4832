package chromium

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded is far more than anything here takes on a busy machine.
const bounded = 2 * time.Minute

const origin = "https://page.invalid"

// rig is a browser that may show what pages hold.
type rig struct {
	*Browser
	ctx context.Context
	dir string

	seen []proc.Identity

	mu      sync.Mutex
	blocked []Blocked
}

func launchRig(t *testing.T, pages map[string]string, change func(*Options)) *rig {
	t.Helper()
	r, err := tryRig(t, pages, change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryRig(t *testing.T, pages map[string]string, change func(*Options)) (*rig, error) {
	t.Helper()
	program, err := Find(nil)
	if err != nil {
		t.Fatalf("%v: apt-get install chromium-headless-shell", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	t.Cleanup(cancel)
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	r := &rig{ctx: ctx, dir: t.TempDir()}
	o := Options{
		Program: program, Spawn: spawn, Dir: r.dir, Origin: origin,
		Serve: func(path string) (Response, bool) {
			body, ok := pages[path]
			typ := "text/html"
			if strings.HasSuffix(path, ".js") {
				typ = "text/javascript"
			}
			return Response{Header: map[string]string{"Content-Type": typ}, Body: []byte(body)}, ok
		},
		OnBlocked: func(b Blocked) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.blocked = append(r.blocked, b)
		},
	}
	if change != nil {
		change(&o)
	}
	r.Browser, err = Launch(ctx, o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		r.look()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.checkNothingLeft(t)
	})
	return r, nil
}

func (r *rig) hosts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, b := range r.blocked {
		all = append(all, b.Host)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *rig) page(t *testing.T, path string) *Session {
	t.Helper()
	s, err := r.NewPage(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Navigate(r.ctx, origin+path); err != nil {
		t.Fatal(err)
	}
	return s
}

// look notes the processes that there are. Chromium writes over what /proc
// shows of their environment, so they are found by their parents, and the
// first of them by its profile.
func (r *rig) look() {
	roots := proc.WithArgument("--user-data-dir=" + r.dir)
	r.seen = append(append(r.seen, roots...), proc.Descendants(roots...)...)
}

func (r *rig) checkNothingLeft(t *testing.T) {
	t.Helper()
	seen := len(r.seen)
	r.look()
	if len(r.seen) > seen {
		t.Errorf("there are processes: %v", r.seen[seen:])
	}
	for _, id := range r.seen {
		if id.Alive() {
			t.Errorf("process %d is left", id.PID)
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bounded); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// The everyday: a page of ours is shown, its script answers, what it throws
// comes as an error with its stack, its worker is found, calls may overlap.
func TestPageAndWorker(t *testing.T) {
	r := launchRig(t, map[string]string{
		"/":     `<!doctype html><title>hello</title><script>globalThis.w = new Worker("/w.js?n=7", {type: "module"})</script>`,
		"/w.js": `globalThis.twice = async x => { await null; return x * 2 }`,
	}, nil)
	if strings.Count(r.Version(), ".") != 3 {
		t.Errorf("version %q", r.Version())
	}
	if v, err := r.o.Program.Version(r.ctx); err != nil || v != r.Version() {
		t.Errorf("the program says %q, %v; the browser %q", v, err, r.Version())
	}
	s := r.page(t, "/")
	var title string
	if err := s.Evaluate(r.ctx, "document.title", &title); err != nil || title != "hello" {
		t.Errorf("title %q, %v", title, err)
	}
	w, err := s.Worker(r.ctx, "?n=7")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the worker's script has run", func() bool {
		var typ string
		return w.Evaluate(r.ctx, "typeof twice", &typ) == nil && typ == "function"
	})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			var got int
			if err := w.Evaluate(r.ctx, "twice("+string(rune('0'+i%10))+")", &got); err != nil || got != i%10*2 {
				t.Errorf("twice(%d) = %d, %v", i%10, got, err)
			}
		})
	}
	wg.Wait()
	tests := []struct{ expression, message string }{
		{"(function f() { throw new RangeError('too much') })()", "RangeError: too much"},
		{"Promise.reject(new Error('later'))", "Error: later"},
		{"(() => { throw 'a word' })()", `"a word"`},
		{"(() => { throw NaN })()", "NaN"},
		{"}", "SyntaxError: Unexpected token '}'"},
	}
	for _, tt := range tests {
		var e *ScriptError
		if err := s.Evaluate(r.ctx, tt.expression, nil); !errors.As(err, &e) || e.Message() != tt.message {
			t.Errorf("%s gives %v", tt.expression, err)
		}
	}
	var p *ProtocolError
	if err := s.Call(r.ctx, "No.such", nil, nil); !errors.As(err, &p) {
		t.Errorf("an unknown command gives %v", err)
	}
}

// The page's zone, language and screen must not be the machine's.
func TestSurroundings(t *testing.T) {
	r := launchRig(t, map[string]string{"/": "<!doctype html>"}, nil)
	s := r.page(t, "/")
	var got []any
	if err := s.Evaluate(r.ctx, `[Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language, devicePixelRatio,
		new Date(0).getTimezoneOffset(), isSecureContext]`, &got); err != nil {
		t.Fatal(err)
	}
	want := []any{"UTC", "en-US", 1.0, 0.0, true}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a page tries to reach is refused and told, from wherever it tries; only
// the host is told.
func TestNothingLeaves(t *testing.T) {
	r := launchRig(t, map[string]string{
		"/":     `<!doctype html><script>globalThis.w = new Worker("/w.js")</script>`,
		"/w.js": `globalThis.result = Promise.allSettled([fetch("https://worker.example/secret?x=1"), import("https://module.example/x.js")]).then(r => r.map(x => x.status))`,
	}, nil)
	s := r.page(t, "/")
	var got []string
	if err := s.Evaluate(r.ctx, `(async () => {
		const image = new Image(); image.src = "http://image.example/a.png";
		const frame = document.createElement("iframe"); frame.src = "https://frame.example/"; document.documentElement.append(frame);
		const script = document.createElement("script"); script.src = "https://script.example/"; document.documentElement.append(script);
		navigator.sendBeacon("https://beacon.example/", "x");
		const popup = window.open("https://popup.example/"); // null: the browser blocks popups itself
		const socket = new Promise((yes, no) => { const s = new WebSocket("wss://socket.example/"); s.onopen = yes; s.onerror = () => no(1) });
		return (await Promise.allSettled([
			fetch("https://fetch.example/secret?token=x"), fetch("http://127.0.0.1:9/"), fetch("/nothing", {method: "POST"}),
			image.decode(), socket, fetch("data:text/plain,local"),
		])).map(x => x.status).concat(popup ? "popup" : "no popup")
	})()`, &got); err != nil {
		t.Fatal(err)
	}
	if want := []string{"rejected", "rejected", "rejected", "rejected", "rejected", "fulfilled"}; len(got) != 7 || !slices.Equal(got[:6], want) {
		t.Fatalf("the page's attempts: %v", got)
	}
	w, err := s.Worker(r.ctx, "/w.js")
	if err != nil {
		t.Fatal(err)
	}
	var inWorker []string
	eventually(t, "the worker has tried", func() bool { return w.Evaluate(r.ctx, "result", &inWorker) == nil && inWorker != nil })
	if !slices.Equal(inWorker, []string{"rejected", "rejected"}) {
		t.Errorf("the worker's attempts: %v", inWorker)
	}
	hosts := []string{"worker.example", "module.example", "image.example", "frame.example", "script.example", "fetch.example", "127.0.0.1:9"}
	if got[6] == "popup" {
		hosts = append(hosts, "popup.example")
	}
	for _, host := range hosts {
		eventually(t, host+" is reported", func() bool { return slices.Contains(r.hosts(), host) })
	}
	if all := strings.Join(r.hosts(), " "); strings.Contains(all, "token") || strings.Contains(all, "secret") {
		t.Errorf("too much is told: %s", all)
	}
	var status int
	if err := s.Evaluate(r.ctx, `fetch("/not/there").then(r => r.status)`, &status); err != nil || status != 404 {
		t.Errorf("what is not served: %d, %v", status, err)
	}
}

// A page that eats memory must end by our hand, with the figures, and not take
// the machine with it.
func TestMemoryLimit(t *testing.T) {
	const limit = 600 << 20
	r := launchRig(t, map[string]string{"/": "<!doctype html>"}, func(o *Options) { o.Memory = limit })
	s := r.page(t, "/")
	r.look()
	err := s.Evaluate(r.ctx, `(() => { const all = []; for (let i = 0; i < 400; i++) all.push(new Uint8Array(20 << 20).fill(i)); return all.length })()`, nil)
	var m *MemoryError
	if !errors.As(err, &m) || m.Used <= limit || m.Limit != limit {
		t.Fatalf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r.checkNothingLeft(t)
}

// Death by another's hand, of the browser or of the page's process, is an
// error at once: nobody waits for an answer that can't come.
func TestDeath(t *testing.T) {
	victims := map[string]func(*rig) []proc.Identity{
		"browser": func(r *rig) []proc.Identity { return []proc.Identity{r.child.Identity} },
		"page":    renderers,
	}
	for name, find := range victims {
		t.Run(name, func(t *testing.T) {
			r := launchRig(t, map[string]string{"/": "<!doctype html>"}, nil)
			s := r.page(t, "/")
			errs := make(chan error, 1)
			go func() { errs <- s.Evaluate(r.ctx, "new Promise(() => {})", nil) }()
			r.look()
			if len(r.seen) < 2 {
				t.Errorf("only %d processes", len(r.seen))
			}
			for _, id := range find(r) {
				if err := id.Signal(unix.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			var died *DiedError
			if err := <-errs; !errors.As(err, &died) {
				t.Errorf("the waiting call gives %v", err)
			}
			if err := s.Evaluate(r.ctx, "1", nil); !errors.As(err, &died) {
				t.Errorf("a later call gives %v", err)
			}
			if err := errors.Join(r.Close(), r.Close()); err != nil {
				t.Error(err)
			}
			r.checkNothingLeft(t)
		})
	}
}

func renderers(r *rig) []proc.Identity {
	var out []proc.Identity
	for _, id := range proc.Descendants(r.child.Identity) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		if err == nil && bytes.Contains(raw, []byte("--type=renderer")) {
			out = append(out, id)
		}
	}
	return out
}

// A script that never ends must not keep Close from ending it, and the
// caller's context ends the wait before that.
func TestHungPage(t *testing.T) {
	r := launchRig(t, map[string]string{"/": "<!doctype html>"}, nil)
	s := r.page(t, "/")
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(r.ctx)
	errs := make(chan error, 1)
	go func() { errs <- s.Evaluate(ctx, "for(;;);", nil) }()
	cancel(why)
	if err := <-errs; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	go func() { errs <- s.Evaluate(r.ctx, "1", nil) }()
	r.Kill(why)
	if err := <-errs; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil || !errors.Is(r.Err(), why) {
		t.Errorf("closed: %v, %v", err, r.Err())
	}
}

// A folder with a long name must not keep a browser from starting, and what is
// made instead must not stay.
func TestLongFolder(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var long string
	r := launchRig(t, map[string]string{"/": "<!doctype html>"}, func(o *Options) {
		long = filepath.Join(o.Dir, strings.Repeat("long", 20))
		if err := os.Mkdir(long, 0o700); err != nil {
			t.Fatal(err)
		}
		o.Dir = long
	})
	r.page(t, "/")
	if r.temp == long {
		t.Errorf("temporary files are in %s", r.temp)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// What does not start leaves nothing, and says why.
func TestLaunchFails(t *testing.T) {
	tests := map[string]func(*Options){
		"no program":     func(o *Options) { o.Program.Path = "/nonexistent" },
		"another":        func(o *Options) { o.Program.Path = "/bin/false" },
		"one that waits": func(o *Options) { o.Program.Path = "/bin/cat" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			var start *StartError
			if _, err := tryRig(t, nil, change); !errors.As(err, &start) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		program, err := Find(nil)
		if err != nil {
			t.Fatal(err)
		}
		spawn := proc.NewSpawner()
		defer spawn.Close()
		dir := t.TempDir()
		if _, err := Launch(ctx, Options{Program: program, Spawn: spawn, Dir: dir}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if left := proc.WithArgument("--user-data-dir=" + dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}
