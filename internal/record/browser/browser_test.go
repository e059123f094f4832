package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/record/display"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded is far more than anything here takes on a busy machine.
const bounded = 2 * time.Minute

const (
	testWidth  = 1024
	testHeight = 768
)

// rig is a display with a page for the browser.
type rig struct {
	ctx     context.Context
	own     *display.Own
	options Options
	page    *httptest.Server
	clicks  atomic.Int64
	loads   atomic.Int64
}

func newRig(t *testing.T, kind Kind) *rig {
	t.Helper()
	for _, tool := range []string{"Xvfb", "openbox", "agent-browser", "ffmpeg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not installed (apt-get install xvfb openbox chromium ffmpeg; npm install -g agent-browser): %v", tool, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	t.Cleanup(cancel)
	r := &rig{ctx: ctx}
	r.page = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/":
			r.loads.Add(1)
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<title>rig</title><style>body{margin:0;background:#00aa00}</style>
<button onclick="fetch('/clicked');document.body.style.background='#0000ff'">press</button>`))
		case "/clicked":
			r.clicks.Add(1)
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(r.page.Close)
	spawn := proc.NewSpawner()
	t.Cleanup(spawn.Close)
	own, err := display.Start(ctx, display.Options{Width: testWidth, Height: testHeight, Dir: t.TempDir(), Spawn: spawn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Stop(context.Background()) })
	r.own = own
	resolved, err := Resolve(string(kind), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.options = Options{
		Resolved: resolved, URL: r.page.URL, Display: own.Name, Xauthority: own.Xauthority,
		Width: testWidth, Height: testHeight, Dir: t.TempDir(), Spawn: spawn,
	}
	return r
}

func (r *rig) start(t *testing.T) *Browser {
	t.Helper()
	began := time.Now()
	b, err := Start(r.ctx, r.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	started := time.Since(began)
	if err := r.own.WaitPainted(r.ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %v, painted after %v", started, time.Since(began))
	return b
}

// shot is the screen as RGB24.
func (r *rig) shot(t *testing.T) []byte {
	t.Helper()
	cmd := exec.CommandContext(r.ctx, "ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0",
		"-video_size", fmt.Sprintf("%dx%d", testWidth, testHeight), "-i", r.own.Name,
		"-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
	cmd.Env = r.own.Env()
	out, err := cmd.Output()
	if err != nil || len(out) != testWidth*testHeight*3 {
		t.Fatalf("screenshot: %d bytes, %v", len(out), err)
	}
	if dir := os.Getenv("PROOFREEL_TEST_SHOTS"); dir != "" {
		png := exec.CommandContext(r.ctx, "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", testWidth, testHeight),
			"-i", "-", "-y", filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+".png"))
		png.Stdin = strings.NewReader(string(out))
		if err := png.Run(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func pixel(shot []byte, x, y int) [3]byte { return [3]byte(shot[3*(y*testWidth+x):]) }

// nothingLeft checks that no process and no file of the browser is left.
func (r *rig) nothingLeft(t *testing.T, l Leftover) {
	t.Helper()
	for _, id := range l.processes() {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		t.Errorf("process %d is left: %.100q", id.PID, raw)
	}
	var left []string
	_ = filepath.WalkDir(r.options.Dir, func(p string, _ fs.DirEntry, _ error) error {
		if p != r.options.Dir {
			left = append(left, p)
		}
		return nil
	})
	if len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
	if _, path := l.namespace(); path != "" {
		if _, err := os.Lstat(path); err == nil {
			t.Error("agent-browser's directory is left")
		}
	}
}

// leftover is what Reap is given: no more than a manifest holds.
func leftover(b *Browser, o Options) Leftover {
	return Leftover{Kind: b.Kind(), Command: b.Command(), Roots: b.Roots(), Dir: o.Dir}
}

var kinds = []Kind{KindAgentBrowser, KindChromium}

func each(t *testing.T, test func(t *testing.T, kind Kind)) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) { test(t, k) })
	}
}

// The page must fill the screen below the browser's own bar, at its full
// width and to the last row: no emulated viewport, no warning bar, no border.
func TestPageFillsScreen(t *testing.T) {
	each(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind)
		b := r.start(t)
		shot := r.shot(t)
		green := [3]byte{0, 0xaa, 0}
		const bar = 110 // tabs and address are 87 pixels high, the button is below them
		for _, p := range [][2]int{{0, testHeight - 1}, {testWidth - 1, testHeight - 1}, {0, bar + 20}, {testWidth - 1, 90}, {testWidth / 2, 90}} {
			if got := pixel(shot, p[0], p[1]); got != green {
				t.Errorf("pixel %v is %v, want the page's %v", p, got, green)
			}
		}
		if r.loads.Load() != 1 {
			t.Errorf("the page was loaded %d times", r.loads.Load())
		}
		if asRoot() && b.Note() != noSandboxRoot || !asRoot() && kind == KindChromium && b.Note() != "" {
			t.Errorf("note %q", b.Note())
		}
		if err := b.Close(r.ctx); err != nil {
			t.Error(err)
		}
		if err := b.Close(r.ctx); err != nil { // a double close is nothing
			t.Error(err)
		}
		r.nothingLeft(t, leftover(b, r.options))
	})
}

func TestAboutBlankSpeed(t *testing.T) {
	each(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind)
		r.options.URL = ""
		r.start(t)
	})
}

// The agent's commands come from another shell, which knows nothing of the
// display, and must act on the browser that is filmed.
func TestCommandActsOnTheFilmedBrowser(t *testing.T) {
	r := newRig(t, KindAgentBrowser)
	r.options.Env = append(os.Environ(), "AGENT_BROWSER_SESSION=other", "AGENT_BROWSER_PROVIDER=none-such", "AGENT_BROWSER_ARGS=--headless")
	b := r.start(t)
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "DISPLAY=") })
	agent := func(args ...string) string { return command(t, r, b, env, args...) }
	agent("click", "button")
	deadline := time.Now().Add(bounded / 2)
	for pixel(r.shot(t), testWidth-1, testHeight-1) != [3]byte{0, 0, 0xff} {
		if time.Now().After(deadline) {
			t.Fatal("the click is not on the screen")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := agent("eval", "[innerWidth, outerHeight, devicePixelRatio].join()"); !strings.Contains(got, fmt.Sprintf("%d,%d,1", testWidth, testHeight)) {
		t.Errorf("the page sees %s", got)
	}
	agent("open", r.page.URL)
	for _, id := range b.Roots() {
		if !id.Alive() {
			t.Error("a command replaced the browser")
		}
	}
	select {
	case <-b.Lost():
		t.Error("lost")
	default:
	}
}

// command does what an agent does, with its own environment.
func command(t *testing.T, r *rig, b *Browser, env []string, args ...string) string {
	t.Helper()
	c := b.Command()
	cmd := exec.CommandContext(r.ctx, c[0], append(c[1:len(c):len(c)], args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v, %s", args, err, out)
	}
	return string(out)
}

// A stopped browser must not hold Close.
func TestCloseStopped(t *testing.T) {
	each(t, func(t *testing.T, kind Kind) {
		r := newRig(t, kind)
		b := r.start(t)
		for _, id := range b.left.processes() {
			_ = id.Signal(unix.SIGSTOP)
		}
		began := time.Now()
		if err := b.Close(r.ctx); err != nil {
			t.Error(err)
		}
		t.Logf("closed in %v", time.Since(began))
		r.nothingLeft(t, leftover(b, r.options))
	})
}

// A page that can't be opened, a start that is called off, a browser that is
// no browser: nothing may be left.
func TestFailedStartLeavesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	_ = l.Close()
	tests := []struct {
		name    string
		kind    Kind
		change  func(*Options)
		timeout time.Duration
		want    string
	}{
		{"nobody listens", KindAgentBrowser, func(o *Options) { o.URL = "http://" + free }, bounded, "ERR_CONNECTION_REFUSED"},
		{"called off", KindAgentBrowser, func(*Options) {}, 300 * time.Millisecond, "deadline"},
		{"called off", KindChromium, func(*Options) {}, 10 * time.Millisecond, "deadline"},
		{"no browser", KindAgentBrowser, func(o *Options) { o.Resolved.Browser = "/bin/false" }, bounded, "agent-browser"},
		{"no browser", KindChromium, func(o *Options) { o.Resolved.Path = "/bin/false" }, bounded, "exit status 1"},
		{"no display", KindChromium, func(o *Options) { o.Display = ":4711" }, bounded, "it ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name+", "+string(tt.kind), func(t *testing.T) {
			r := newRig(t, tt.kind)
			tt.change(&r.options)
			ctx, cancel := context.WithTimeout(r.ctx, tt.timeout)
			defer cancel()
			before := namespaces(t)
			b, err := Start(ctx, r.options)
			if err == nil {
				_ = b.Close(r.ctx)
				t.Fatal("started")
			}
			t.Log(err)
			var start *StartError
			if !errors.As(err, &start) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in a StartError", err, tt.want)
			}
			r.nothingLeft(t, Leftover{Kind: tt.kind, Dir: r.options.Dir})
			if after := namespaces(t); len(after) > len(before) {
				t.Errorf("agent-browser's directories: %v before, %v after", before, after)
			}
		})
	}
}

func namespaces(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.Dir(namespaceDir(os.Environ(), "x")), "pr-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
