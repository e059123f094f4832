package browser

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whatever is killed, a later process must find and end all the rest, and it
// is said what has ended.
func TestReapAfterKill(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		kill []int // of the roots
		what string
	}{
		{KindChromium, []int{0}, "the browser"},
		{KindAgentBrowser, []int{1}, "the browser"},
		{KindAgentBrowser, []int{0}, "agent-browser's daemon"},
		{KindAgentBrowser, []int{0, 1}, "agent-browser's daemon and the browser"},
	} {
		t.Run(string(tt.kind)+", "+tt.what, func(t *testing.T) { reapAfterKill(t, tt.kind, tt.kill, tt.what) })
	}
}

func reapAfterKill(t *testing.T, kind Kind, kill []int, what string) {
	r := newRig(t, kind)
	b := r.start(t)
	socket := singletonDir(t, b)
	if got := b.LostWhat(); got != "" {
		t.Errorf("lost before it was: %s", got)
	}
	for _, i := range kill {
		_ = b.Roots()[i].Signal(unix.SIGKILL)
	}
	select {
	case <-b.Lost():
	case <-r.ctx.Done():
		t.Fatal("the loss was not seen")
	}
	if got := b.LostWhat(); got != what {
		t.Errorf("lost %q, want %q", got, what)
	}
	l := leftover(b, r.options)
	if err := Reap(l); err != nil {
		t.Error(err)
	}
	r.nothingLeft(t, l)
	if _, err := os.Lstat(socket); err == nil {
		t.Errorf("%s is left", socket)
	}
	if err := Reap(l); err != nil {
		t.Error(err)
	}
}

// singletonDir is the directory in which Chromium has its profile's socket.
func singletonDir(t *testing.T, b *Browser) string {
	t.Helper()
	link, err := os.Readlink(filepath.Join(b.Profile(), "SingletonSocket"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(link)
}

// A recording that was killed as a whole has told nobody of its browser, which
// runs on: the recording's directory alone must do.
func TestReapByDirectory(t *testing.T) {
	each(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind)
		b := r.start(t)
		l := Leftover{Dir: r.options.Dir}
		_, sockets := l.namespace()
		if len(l.processes()) < 4 {
			t.Errorf("only %d processes found", len(l.processes()))
		}
		if err := Reap(l); err != nil {
			t.Error(err)
		}
		r.nothingLeft(t, leftover(b, r.options))
		if _, err := os.Lstat(sockets); err == nil || (sockets != "") != (kind == KindAgentBrowser) {
			t.Errorf("sockets in %q: %v", sockets, err)
		}
	})
}

// A start that is killed at any time leaves nothing that Reap can't find by
// the directory alone.
func TestReapAmidStart(t *testing.T) {
	before := namespaces(t)
	for _, after := range []time.Duration{20 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		r := newRig(t, KindAgentBrowser)
		done := make(chan *Browser)
		go func() {
			b, err := Start(r.ctx, r.options)
			t.Logf("killed after %v: %v", after, err)
			done <- b
		}()
		for len((Leftover{Kind: KindAgentBrowser, Dir: r.options.Dir}).processes()) == 0 && r.ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(after)
		// Start ends by itself when what it waits for is killed; a supervisor
		// that was killed would not even clean up.
		if err := Reap(Leftover{Dir: r.options.Dir}); err != nil {
			t.Error(err)
		}
		if b := <-done; b != nil {
			_ = b.Close(r.ctx)
		}
		r.nothingLeft(t, Leftover{Kind: KindAgentBrowser, Dir: r.options.Dir})
	}
	if got := namespaces(t); len(got) > len(before) {
		t.Errorf("agent-browser's directories: %v before, %v after", before, got)
	}
}
