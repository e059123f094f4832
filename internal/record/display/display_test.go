package display

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
const bounded = time.Minute

func testOptions(t *testing.T, w, h int) Options {
	t.Helper()
	for _, tool := range []string{"Xvfb", "openbox", "xdpyinfo", "xterm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not installed (apt-get install xvfb openbox x11-utils xterm): %v", tool, err)
		}
	}
	s := proc.NewSpawner()
	t.Cleanup(s.Close)
	return Options{Width: w, Height: h, Dir: t.TempDir(), Spawn: s}
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, ctx context.Context, o Options) *Own {
	t.Helper()
	d, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Stop(context.Background()) })
	return d
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if p != dir {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func gone(t *testing.T, d *Own) {
	t.Helper()
	if d.Xvfb.Alive() || d.Openbox.Alive() {
		t.Error("a process is left")
	}
	for _, p := range []string{socketPath(d.Number), fmt.Sprintf("/tmp/.X%d-lock", d.Number)} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s is left", p)
		}
	}
}

// A display must have the size that was asked for, also odd and large ones,
// and leave nothing behind.
func TestStartStop(t *testing.T) {
	for _, size := range [][2]int{{1920, 1080}, {1279, 719}, {16, 16}, {7680, 4320}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			ctx := testContext(t)
			o := testOptions(t, size[0], size[1])
			began := time.Now()
			d := start(t, ctx, o)
			t.Logf("started in %v", time.Since(began))
			info, err := Open(ctx, d.Name, d.Xauthority)
			if err != nil || info.Width != size[0] || info.Height != size[1] || info.Depth != 24 {
				t.Fatalf("Open: %+v, %v", info, err)
			}
			for _, name := range []string{"Xauthority", "Xauthority.server"} {
				if fi, err := os.Stat(filepath.Join(o.Dir, name)); err != nil || fi.Mode().Perm() != 0o600 {
					t.Errorf("cookie file: %v, %v", fi, err)
				}
			}
			if err := d.Stop(ctx); err != nil {
				t.Fatal(err)
			}
			if err := d.Stop(ctx); err != nil { // a double stop is nothing
				t.Fatal(err)
			}
			<-d.Lost()
			gone(t, d)
			if left := files(t, o.Dir); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// Somebody else's program must not get at the screen; xcb's clients, which
// look up the cookie in their own way, must.
func TestCookie(t *testing.T) {
	ctx := testContext(t)
	d := start(t, ctx, testOptions(t, 320, 240))
	var open *OpenError
	if _, err := Open(ctx, d.Name, filepath.Join(t.TempDir(), "none")); !errors.As(err, &open) || open.Reason != Refused {
		t.Errorf("without a cookie: %v", err)
	}
	cmd := exec.CommandContext(ctx, "xdpyinfo")
	cmd.Env = append(os.Environ(), "DISPLAY="+d.Name, "XAUTHORITY=/nonexistent")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("xdpyinfo got in without a cookie: %s", out)
	}
	cmd = exec.CommandContext(ctx, "xdpyinfo")
	cmd.Env = d.Env()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "320x240 pixels") {
		t.Errorf("xdpyinfo with the cookie: %v, %.200s", err, out)
	}
}

// What the recording was given as a secret stays with it.
func TestChildrenGetNoSecret(t *testing.T) {
	ctx, o := testContext(t), testOptions(t, 320, 240)
	o.Env = append(os.Environ(), "UPLOADS_TOKEN=hush", "PROOFREEL_PAGE=http://u:hush@h", "KEEP=this")
	d := start(t, ctx, o)
	for _, c := range []*proc.Child{d.Xvfb, d.Openbox} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.PID))
		if err != nil {
			t.Fatal(err)
		}
		if s := string(raw); strings.Contains(s, "hush") || !strings.Contains(s, "KEEP=this") {
			t.Errorf("the environment of %s: %q", c.Role, s)
		}
	}
}

// Starts at the same time must not take each other's number.
func TestTenAtOnce(t *testing.T) {
	ctx := testContext(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]bool{}
	for range 10 {
		o := testOptions(t, 320, 240)
		wg.Go(func() {
			d, err := Start(ctx, o)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = d.Stop(context.Background()) })
			mu.Lock()
			if seen[d.Number] {
				t.Errorf("display %s twice", d.Name)
			}
			seen[d.Number] = true
			mu.Unlock()
			if _, err := Open(ctx, d.Name, d.Xauthority); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(seen) != 10 {
		t.Errorf("%d displays", len(seen))
	}
}

// A server that was killed leaves its socket; it must go, also when a later
// process cleans up and only knows the identity.
func TestCleanStale(t *testing.T) {
	ctx := testContext(t)
	o := testOptions(t, 320, 240)
	d := start(t, ctx, o)
	CleanStale(d.Name, d.Xvfb.Identity)
	if _, err := Open(ctx, d.Name, d.Xauthority); err != nil {
		t.Fatalf("a live server was cleaned away: %v", err)
	}
	_ = d.Xvfb.Signal(unix.SIGKILL)
	<-d.Lost()
	if _, err := os.Lstat(socketPath(d.Number)); err != nil {
		t.Fatalf("a killed server leaves its socket: %v", err)
	}
	CleanStale(d.Name, d.Xvfb.Identity)
	if _, err := os.Lstat(socketPath(d.Number)); err == nil {
		t.Error("the socket is left")
	}
	if err := d.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	gone(t, d)
}

// Locks and sockets of others must stay, whatever the number.
func TestCleanStaleLeavesOthers(t *testing.T) {
	dead := deadProcess(t)
	tests := []struct {
		name     string
		lock     string // content; empty: no lock
		guard    bool
		wantLeft bool
	}{
		{"own lock", fmt.Sprintf("%10d\n", dead.PID), false, false},
		{"no lock", "", false, false},
		{"foreign live lock", fmt.Sprintf("%10d\n", os.Getpid()), false, true},
		{"foreign dead lock", fmt.Sprintf("%10d\n", dead.PID+1), false, true},
		{"unreadable lock", "garbage", false, true},
		{"huge lock", strings.Repeat("9", 100), false, true},
		{"server starting", fmt.Sprintf("%10d\n", dead.PID), true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmp := t.TempDir()
			lock, socket, guard := filepath.Join(tmp, ".X9-lock"), filepath.Join(tmp, ".X11-unix", "X9"), filepath.Join(tmp, ".tX9-lock")
			if err := os.Mkdir(filepath.Dir(socket), 0o755); err != nil {
				t.Fatal(err)
			}
			deadSocket(t, socket)
			if tt.lock != "" {
				if err := os.WriteFile(lock, []byte(tt.lock), 0o444); err != nil {
					t.Fatal(err)
				}
			}
			if tt.guard {
				if err := os.WriteFile(guard, nil, 0o444); err != nil {
					t.Fatal(err)
				}
			}
			cleanStale(tmp, 9, dead)
			_, err := os.Lstat(socket)
			if left := err == nil; left != tt.wantLeft {
				t.Errorf("socket left: %v, want %v", left, tt.wantLeft)
			}
			_, err = os.Lstat(lock)
			if left := err == nil; left != (tt.wantLeft && tt.lock != "") {
				t.Errorf("lock left: %v", left)
			}
			if _, err = os.Lstat(guard); (err == nil) != tt.guard {
				t.Errorf("guard: %v", err)
			}
		})
	}
}

func deadProcess(t *testing.T) proc.Identity {
	t.Helper()
	s := proc.NewSpawner()
	defer s.Close()
	c, err := s.Start(proc.Command{Role: "sleep", Path: "/bin/sleep", Args: []string{"60"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Kill()
	return c.Identity
}

// deadSocket makes a socket file that nobody listens on.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
}

// A start that is called off, at whatever moment, must leave no process and no
// file.
func TestCancelLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			o := testOptions(t, 640, 480)
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			d, err := Start(ctx, o)
			if err == nil {
				_ = d.Stop(context.Background())
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v does not say that the time was up", err)
			}
			if live := o.Spawn.Live(); len(live) > 0 {
				t.Errorf("%d processes left", len(live))
			}
			if left := files(t, o.Dir); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// The error must name the part that failed, and what to install.
func TestStartErrors(t *testing.T) {
	bin := func(t *testing.T, scripts map[string]string) {
		dir := t.TempDir()
		for name, text := range scripts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
	}
	xvfb, err := exec.LookPath("Xvfb")
	if err != nil {
		t.Fatal(err)
	}
	realXvfb := "#!/bin/sh\nexec " + xvfb + " \"$@\"\n"
	broken := "#!/bin/sh\necho no such luck >&2\nexit 3\n"
	tests := []struct {
		name    string
		scripts map[string]string
		part    Part
		words   string
	}{
		{"no Xvfb", nil, PartXvfb, "Install Xvfb"},
		{"Xvfb dies", map[string]string{"Xvfb": broken}, PartXvfb, "no such luck"},
		{"no openbox", map[string]string{"Xvfb": realXvfb}, PartOpenbox, "Install openbox"},
		{"openbox dies", map[string]string{"Xvfb": realXvfb, "openbox": broken}, PartOpenbox, "no such luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t, 320, 240)
			o.Env = os.Environ()
			bin(t, tt.scripts)
			_, err := Start(testContext(t), o)
			var se *StartError
			if !errors.As(err, &se) || se.Part != tt.part || !strings.Contains(se.Error()+se.Hint, tt.words) {
				t.Errorf("error %v, want part %s and %q", err, tt.part, tt.words)
			}
			if left := files(t, o.Dir); len(left) > 0 || len(o.Spawn.Live()) > 0 {
				t.Errorf("left: %v, %d processes", left, len(o.Spawn.Live()))
			}
		})
	}
}

// A stopped server must not hold Open or Stop.
func TestStoppedServer(t *testing.T) {
	ctx := testContext(t)
	d := start(t, ctx, testOptions(t, 320, 240))
	if err := d.Xvfb.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	var open *OpenError
	if _, err := Open(short, d.Name, d.Xauthority); !errors.As(err, &open) || open.Reason != Unanswered {
		t.Errorf("Open of a stopped server: %v", err)
	}
	if err := d.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	gone(t, d)
}

func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name string
		want OpenReason
	}{
		{":4711", NoDisplay}, {"nonsense", NoDisplay}, {":x", NoDisplay}, {":-1", NoDisplay}, {"", NoDisplay}, {"otherhost:0", NotLocal},
	}
	for _, tt := range tests {
		var open *OpenError
		if _, err := Open(testContext(t), tt.name, ""); !errors.As(err, &open) || open.Reason != tt.want || open.Hint == "" {
			t.Errorf("Open(%q) = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestOpenDepth(t *testing.T) {
	o := testOptions(t, 320, 240)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	path, _ := exec.LookPath("Xvfb")
	x, err := o.Spawn.Start(proc.Command{Role: RoleXvfb, Path: path, Files: []*os.File{w}, Args: []string{"-displayfd", "3", "-screen", "0", "320x240x16"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Stop(context.Background(), unix.SIGTERM, time.Second, nil)
	_ = w.Close()
	var n int
	if _, err := fmt.Fscan(r, &n); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	var open *OpenError
	if _, err := Open(testContext(t), fmt.Sprintf(":%d", n), "/nonexistent"); !errors.As(err, &open) || open.Reason != Depth {
		t.Errorf("16 bits: %v", err)
	}
}

func TestCurrent(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
		why  OpenReason
	}{
		{map[string]string{"DISPLAY": ":3", "WAYLAND_DISPLAY": "wayland-1"}, ":3", ""},
		{map[string]string{"WAYLAND_DISPLAY": "wayland-1"}, "", WaylandOnly},
		{nil, "", Unset},
	}
	for _, tt := range tests {
		got, err := Current(func(k string) string { return tt.env[k] })
		var open *OpenError
		if got != tt.want || (tt.why != "") != errors.As(err, &open) || open != nil && open.Reason != tt.why {
			t.Errorf("Current(%v) = %q, %v", tt.env, got, err)
		}
	}
}

// The film must not begin on an empty screen: nothing is painted until a
// window covers it, and then it is.
func TestWaitPainted(t *testing.T) {
	ctx := testContext(t)
	o := testOptions(t, 320, 240)
	d := start(t, ctx, o)
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := d.WaitPainted(short); err == nil || !strings.Contains(err.Error(), "no window covers") {
		t.Errorf("empty screen: %v", err)
	}
	path, _ := exec.LookPath("xterm")
	x, err := o.Spawn.Start(proc.Command{Role: "xterm", Path: path, Env: d.Env(), Args: []string{"-geometry", "120x60+0+0", "-bg", "navy", "-fg", "white", "-e", "sh", "-c", "echo hello; sleep 600"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Kill()
	if err := d.WaitPainted(ctx); err != nil {
		t.Error(err)
	}
}
