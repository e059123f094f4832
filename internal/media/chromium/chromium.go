// Package chromium starts a headless Chromium of our own and talks to it: its
// processes, its DevTools pipe, what it may load, how much memory it may take.
//
// The browser is cut off: it resolves no name, has no proxy that answers, and
// every request is either answered by the caller or refused and reported. It
// ends whole: whatever happens, no process of it outlives Close. What runs in
// its pages is not known here.
package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// Options says what to start. Program, Dir and Spawn are needed.
type Options struct {
	Program Program
	Spawn   *proc.Spawner
	// Dir is an existing directory that is the browser's alone: its profile,
	// its home, its temporary files. The caller removes it after Close.
	Dir string
	// Env is added to the browser's environment, which has nothing of the
	// caller's.
	Env []string
	// WebGL has WebGL drawn by SwiftShader, on the processor. Without it there
	// is none, and one process less.
	WebGL bool
	Flags []string // more of the command line; the last of two equal flags wins
	// Memory is the most that all processes of the browser together may take,
	// in bytes; 0 is no limit. See [MemoryError].
	Memory int64
	// Origin is the only place that pages may load from, for instance
	// "https://scene.invalid". No such server is asked: Serve answers.
	Origin string
	// Serve answers the requests to Origin; nil answers none. It may be called
	// from several goroutines.
	Serve func(path string) (Response, bool)
	// OnBlocked is told of every request that was refused. It must not block.
	OnBlocked func(Blocked)
	Log       *slog.Logger // nil: nothing is logged
}

// Response is the answer to a request.
type Response struct {
	Status int // 0: 200
	Header map[string]string
	Body   []byte
}

// Blocked is a request that was refused. It holds no more of the address than
// the host: the rest may hold what the page knows.
type Blocked struct {
	Host string // empty when the address has none
	Type string // what asked, as the protocol names it: Document, Script, Image, Fetch, ...
}

// Browser is a running browser.
type Browser struct {
	o       Options
	child   *proc.Child
	conn    *conn
	tail    *proc.Tail
	version string
	temp    string // for temporary files
	log     *slog.Logger

	mu       sync.Mutex
	sessions map[string]*Session
	end      error // why it ended; set before done is closed

	changed atomic.Bool // there may be other processes

	done   chan struct{} // closed once it is being ended or has ended
	closed sync.Once
	gone   chan struct{} // closed when no process of it is left
	wg     sync.WaitGroup
}

// launchPatience is how long a start may take on a busy machine.
const launchPatience = 60 * time.Second

// Launch starts the browser. It returns when the browser answers. On error
// nothing is left.
func Launch(ctx context.Context, o Options) (*Browser, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	noSandbox := !sandboxWorks()
	b, err := launch(ctx, o, noSandbox)
	var start *StartError
	if err != nil && !noSandbox && errors.As(err, &start) && strings.Contains(start.Error(), "sandbox") {
		o.Log.Info("the browser's own sandbox does not work here", "err", err)
		return launch(ctx, o, true)
	}
	return b, err
}

func launch(ctx context.Context, o Options, noSandbox bool) (*Browser, error) {
	b := &Browser{
		o: o, log: o.Log, tail: &proc.Tail{}, sessions: map[string]*Session{},
		done: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := b.start(noSandbox); err != nil {
		b.removeTemp()
		return nil, &StartError{Program: o.Program.Path, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, launchPatience)
	defer cancel()
	if err := b.greet(ctx); err != nil {
		_ = b.Close()
		start := &StartError{Program: o.Program.Path, Err: err}
		if died := new(DiedError); !errors.As(err, &died) { // which has it
			start.Tail = strings.TrimSpace(b.tail.String())
		}
		return nil, start
	}
	return b, nil
}

// start starts the process and the goroutines that attend to it.
func (b *Browser) start(noSandbox bool) error {
	var err error
	if b.temp, err = tempDir(b.o.Dir); err != nil {
		return err
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make the pipe to the browser: %w", err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		_, _ = theirIn.Close(), ourOut.Close()
		return fmt.Errorf("make the pipe from the browser: %w", err)
	}
	b.child, err = b.o.Spawn.Start(proc.Command{
		Role: "browser", Path: b.o.Program.Path, Args: flags(b.o, noSandbox), Env: environment(b.o, b.temp), Dir: b.o.Dir,
		Stderr: b.tail, Files: []*os.File{theirIn, theirOut}, // 3 and 4, as --remote-debugging-pipe wants them
	})
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = ourIn.Close(), ourOut.Close()
		return err
	}
	b.conn = newConn(ourIn, ourOut)
	b.wg.Go(func() { b.conn.read(b.event) })
	b.wg.Go(b.attend)
	return nil
}

// attend waits for the end, however it comes, and clears up after it.
func (b *Browser) attend() {
	defer close(b.gone)
	watch := newWatch(b.child.Identity, b.o.Memory)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for alive := true; alive; {
		select {
		case <-b.child.Done():
			b.finish(&DiedError{Exit: b.child.Err(), Tail: strings.TrimSpace(b.tail.String())})
			alive = false
		case <-b.conn.lost:
			b.finish(&DiedError{Exit: errors.New("it closed the pipe"), Tail: strings.TrimSpace(b.tail.String())})
			alive = false
		case <-b.done:
			alive = false
		case <-tick.C:
			if err := watch.check(b.changed.Swap(false)); err != nil {
				b.finish(err)
				alive = false
			}
		}
	}
	watch.refresh()
	b.child.Kill()
	if left := proc.KillAll(watch.pids, killPatience); len(left) > 0 {
		b.log.Warn("processes of the browser could not be ended", "left", len(left))
	}
	b.o.Spawn.ReapOrphans()
	b.conn.close()
	b.removeTemp()
}

// tempDir gives the folder for the browser's temporary files: its own, unless
// that has too long a name. The whole Chromium keeps a socket there, in a
// folder with a long name too, and a socket's path has 108 bytes at most
// (unix(7)).
func tempDir(own string) (string, error) {
	const longest = 108 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket") - 1
	if len(own) <= longest {
		return own, nil
	}
	dir, err := os.MkdirTemp("", "proofreel-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the browser's temporary files: %w", err)
	}
	return dir, nil
}

func (b *Browser) removeTemp() {
	if b.temp == "" || b.temp == b.o.Dir {
		return
	}
	if err := os.RemoveAll(b.temp); err != nil {
		b.log.Warn("the browser's temporary files could not be removed", "err", err)
	}
}

// killPatience bounds the wait for processes in uninterruptible sleep.
const killPatience = 10 * time.Second

// finish notes why the browser ended; the first reason stays.
func (b *Browser) finish(err error) {
	b.closed.Do(func() {
		b.mu.Lock()
		b.end = err
		b.mu.Unlock()
		close(b.done)
	})
}

// greet asks for the version and shuts everything that is not asked for.
func (b *Browser) greet(ctx context.Context) error {
	var version struct {
		Product string `json:"product"`
	}
	if err := b.Call(ctx, "Browser.getVersion", nil, &version); err != nil {
		return fmt.Errorf("ask the browser for its version: %w", err)
	}
	_, b.version, _ = strings.Cut(version.Product, "/")
	// Downloads are refused by interception too; this is for what needs no request.
	if err := b.Call(ctx, "Browser.setDownloadBehavior", map[string]any{"behavior": "deny"}, nil); err != nil {
		return fmt.Errorf("refuse downloads: %w", err)
	}
	if err := b.Call(ctx, "Target.setDiscoverTargets", map[string]any{"discover": true}, nil); err != nil {
		return fmt.Errorf("watch for pages that crash: %w", err)
	}
	all := map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}}
	if err := b.Call(ctx, "Fetch.enable", all, nil); err != nil {
		return fmt.Errorf("intercept requests: %w", err)
	}
	return nil
}

// Version is the browser's, for instance "156.0.8078.114".
func (b *Browser) Version() string { return b.version }

// Done is closed when the browser has ended or is being ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err is why the browser ended, once Done is closed: a *DiedError, a
// *MemoryError, [ErrClosed], or what Kill was given. It is nil before.
func (b *Browser) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end
}

// Kill ends the browser at once, for a reason that every call then gives. It
// does not wait: Close does.
func (b *Browser) Kill(reason error) { b.finish(reason) }

// Close ends the browser with all its processes and waits for their end. It
// may be called again.
func (b *Browser) Close() error {
	b.finish(ErrClosed)
	<-b.gone
	b.wg.Wait()
	return nil
}

// Call sends a command to the browser itself (not to a page) and decodes the
// answer into result, which may be nil. The error is the browser's end, the
// context's, or a *ProtocolError.
func (b *Browser) Call(ctx context.Context, method string, params, result any) error {
	return b.call(ctx, nil, method, params, result)
}

// call sends a command to a session, or to the browser when there is none.
func (b *Browser) call(ctx context.Context, s *Session, method string, params, result any) error {
	var id string
	var gone chan struct{}
	if s != nil {
		id, gone = s.id, s.gone
	}
	answer, forget, err := b.conn.send(id, method, params)
	if errors.Is(err, errPipe) {
		<-b.done // attend says why
		return b.Err()
	}
	if err != nil {
		return err
	}
	defer forget()
	select {
	case m := <-answer:
		return m.into(method, result)
	case <-b.done:
		return b.Err()
	case <-b.conn.lost:
		<-b.done // attend says why
		return b.Err()
	case <-gone:
		return ErrGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// event hands an event to whom it concerns. It runs on the reading goroutine.
func (b *Browser) event(m message) {
	if strings.HasPrefix(m.Method, "Target.") {
		b.changed.Store(true)
	}
	switch m.Method {
	case "Fetch.requestPaused":
		b.wg.Go(func() { b.answer(m) })
		return
	case "Target.targetCrashed":
		// A browser is for one job: what is left of it is of no use.
		b.finish(&DiedError{Exit: errors.New("the process of its page ended"), Tail: strings.TrimSpace(b.tail.String())})
		return
	case "Target.attachedToTarget":
		b.attached(m)
		return
	case "Target.detachedFromTarget":
		b.detached(m)
		return
	}
	b.mu.Lock()
	s := b.sessions[m.Session]
	b.mu.Unlock()
	if s != nil {
		s.event(m.Method, m.Params)
	}
}

func (b *Browser) attached(m message) {
	var p struct {
		Session string `json:"sessionId"`
		Target  struct {
			URL string `json:"url"`
		} `json:"targetInfo"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s := &Session{b: b, id: p.Session, url: p.Target.URL, gone: make(chan struct{})}
	b.mu.Lock()
	b.sessions[p.Session] = s
	parent := b.sessions[m.Session]
	b.mu.Unlock()
	if parent != nil {
		parent.adopt(s)
	}
}

func (b *Browser) detached(m message) {
	var p struct {
		Session string `json:"sessionId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	b.mu.Lock()
	s := b.sessions[p.Session]
	delete(b.sessions, p.Session)
	b.mu.Unlock()
	if s != nil {
		close(s.gone)
	}
}
