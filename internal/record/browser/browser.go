// Package browser runs the browser on a display that is filmed: through
// agent-browser, so that an agent can drive it from any shell, or plain
// Chromium.
//
// It starts the browser, says by which command it is driven, ends it with all
// its processes, and finds what a dead recording left. Nothing here touches
// the page: no script, no emulated viewport, no flag that a page can see
// beyond those that agent-browser always gives. Where the display comes from
// is not known here.
package browser

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/proofreel/proofreel/internal/host/proc"
)

// Options says what to start, and where.
type Options struct {
	Resolved Resolved
	URL      string // empty: about:blank
	// Display and Xauthority name the screen; Width and Height are its pixels.
	Display, Xauthority string
	Width, Height       int
	Dir                 string        // existing directory of mode 0700; the profile is kept in it
	Env                 []string      // environment of the caller; nil: the process's
	Spawn               *proc.Spawner // starts the children
	Log                 *slog.Logger  // nil: nothing is logged
}

// Browser is a running browser.
type Browser struct {
	kind    Kind
	command []string
	note    string
	left    Leftover // what is to be ended
	env     []string
	spawn   *proc.Spawner
	log     *slog.Logger

	child *proc.Child // plain Chromium
	path  string      // of agent-browser

	lost     chan struct{}
	lostWhat string             // written before lost is closed
	stop     context.CancelFunc // ends the watch
	watched  chan struct{}

	mu sync.Mutex // one Close at a time
}

// StartError says why a browser did not start.
type StartError struct {
	Kind Kind
	Hint string // how to mend it; may be empty
	Tail string // what the browser had to say
	Err  error
}

func (e *StartError) Error() string {
	s := fmt.Sprintf("start %s: %v", e.Kind, e.Err)
	if e.Tail != "" {
		s += ": " + e.Tail
	}
	return s
}

func (e *StartError) Unwrap() error { return e.Err }

// Start starts the browser. agent-browser's page has loaded when it returns;
// plain Chromium is on its way to the page, on its display. On error (a *StartError, or the
// context's cause) nothing is left.
func Start(ctx context.Context, o Options) (*Browser, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.URL == "" {
		o.URL = "about:blank"
	}
	profile := profileDir(o.Dir)
	if err := os.MkdirAll(profile, 0o700); err != nil {
		return nil, &StartError{Kind: o.Resolved.Kind, Err: fmt.Errorf("make the browser's profile: %w", err)}
	}
	b := &Browser{
		kind: o.Resolved.Kind, env: environment(o, profile), spawn: o.Spawn, log: o.Log, path: o.Resolved.Path,
		left: Leftover{Kind: o.Resolved.Kind, Dir: o.Dir},
		lost: make(chan struct{}), watched: make(chan struct{}),
	}
	var err error
	switch b.kind {
	case KindAgentBrowser:
		err = b.startAgentBrowser(ctx, o)
	case KindChromium:
		err = b.startChromium(ctx, o)
	default:
		err = fmt.Errorf("%q is no browser to start", b.kind)
	}
	if err != nil {
		close(b.watched) // there is no watch yet
		_ = b.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return nil, err
	}
	var watch context.Context
	watch, b.stop = context.WithCancel(context.Background())
	go b.watch(watch)
	return b, nil
}

// Kind is the kind of the browser.
func (b *Browser) Kind() Kind { return b.kind }

// Command is the exact argument list to put before every browser action; nil
// when the browser is not driven by commands. It works from any shell of this
// user: the display is not needed there.
func (b *Browser) Command() []string { return b.command }

// Note is what a user should know of this browser; empty: nothing.
func (b *Browser) Note() string { return b.note }

// Roots are the processes by which a later one can find all the others.
func (b *Browser) Roots() []proc.Identity { return b.left.Roots }

// Profile is the browser's profile directory.
func (b *Browser) Profile() string { return profileDir(b.left.Dir) }

// Lost is closed when the browser or agent-browser's daemon has ended, unless
// by Close.
func (b *Browser) Lost() <-chan struct{} { return b.lost }

// LostWhat says in words what has ended, once Lost is closed: the browser,
// agent-browser's daemon, or both. It is empty before.
func (b *Browser) LostWhat() string {
	select {
	case <-b.lost:
		return b.lostWhat
	default:
		return ""
	}
}

// Close ends the browser, in good order when that is possible within a few
// seconds, else by force, and removes its profile and sockets. A stopped
// browser is woken. It may be called again.
func (b *Browser) Close(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		b.stop()
	}
	<-b.watched
	proc.Wake(b.left.processes())
	switch {
	case ctx.Err() != nil:
	case b.child != nil:
		b.closeChromium(ctx)
	case b.command != nil:
		b.closeAgentBrowser(ctx)
	}
	err := Reap(b.left)
	if b.child != nil {
		b.child.Kill() // reaped already: returns when Wait has seen it
	}
	b.spawn.ReapOrphans()
	return err
}

func profileDir(dir string) string { return filepath.Join(dir, "browser-profile") }

// randomName is unguessable, so that no other session can be hit by mistake.
func randomName() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return "pr-" + hex.EncodeToString(raw)
}

var errNotFound = errors.New("not found on PATH")
