package grab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/host/clock"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/h264"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded is for how long anything may take here: a hang is a failure.
const bounded = 2 * time.Minute

// The command line is what ffmpeg does for us; every change of it must be seen.
func TestArgs(t *testing.T) {
	cases := []struct {
		name string
		cfg  capture.Config
		want string
	}{
		{
			"even, no pointer",
			capture.Config{Target: capture.Target{Display: ":7", Width: 1280, Height: 720}, FPS: 30, Encode: []string{"-c:v", "x"}},
			"-hide_banner -nostdin -v error -f x11grab -framerate 30 -video_size 1280x720 -draw_mouse 0" +
				" -probesize 32 -analyzeduration 0 -i :7" +
				" -vf scale=out_color_matrix=bt709:out_range=tv:flags=area,format=yuv420p" +
				" -fps_mode vfr -r 30 -c:v x -flush_packets 1 -flvflags no_duration_filesize -f flv pipe:1",
		},
		{
			"odd, with pointer",
			capture.Config{Target: capture.Target{Display: "host:0.1", Width: 1279, Height: 719}, FPS: 60, Cursor: true},
			"-hide_banner -nostdin -v error -f x11grab -framerate 60 -video_size 1279x719 -draw_mouse 1" +
				" -probesize 32 -analyzeduration 0 -i host:0.1" +
				" -vf pad=1280:720:0:0,fillborders=0:1:0:1:smear,scale=out_color_matrix=bt709:out_range=tv:flags=area,format=yuv420p" +
				" -fps_mode vfr -r 60 -flush_packets 1 -flvflags no_duration_filesize -f flv pipe:1",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(args(c.cfg), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The cookie of the display that is filmed must win over the caller's own.
func TestEnviron(t *testing.T) {
	t.Setenv("XAUTHORITY", "/mine")
	if env := environ(capture.Config{}); !slices.Contains(env, "XAUTHORITY=/mine") {
		t.Error("the caller's cookie is gone")
	}
	env := environ(capture.Config{Target: capture.Target{Xauthority: "/theirs"}})
	if env[len(env)-1] != "XAUTHORITY=/theirs" { // of two, the last counts (os/exec)
		t.Errorf("the last is %q", env[len(env)-1])
	}
}

// A dead display is not started again, a dead encoder is: they must be told
// apart, though ffmpeg's exit status does not.
func TestEnded(t *testing.T) {
	failed := errors.New("exit status 1")
	cases := []struct {
		name string
		err  error
		tail string
		lost bool
	}{
		{"status 0", nil, "", true},
		{"display died", failed, "[x11grab] Cannot get the image data event_error: response_type:0", true},
		{"no display", failed, "[x11grab] Cannot open display :99, error 1.", true},
		{"killed", errors.New("signal: killed"), "", false},
		{"encoder", failed, "Error initializing output stream", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := ended(":9", c.err, c.tail)
			var lost *capture.DisplayLostError
			var enc *capture.EncoderError
			if errors.As(err, &lost) != c.lost || errors.As(err, &enc) == c.lost {
				t.Errorf("%v", err)
			}
			if c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("the cause is lost: %v", err)
			}
		})
	}
}

func need(t *testing.T, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is missing: apt-get install %s", program, pkg)
	}
	return path
}

// screen starts an X server of its own, whose whole screen is red.
func screen(t *testing.T, spawn *proc.Spawner, w, h int) (string, *proc.Child) {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	child, err := spawn.Start(proc.Command{
		Role: "xvfb", Path: need(t, "Xvfb", "xvfb"), Files: []*os.File{wr},
		Args: []string{"-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", w, h), "-nolisten", "tcp", "-noreset"},
	})
	_ = wr.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Kill)
	var number int
	if _, err := fmt.Fscan(r, &number); err != nil {
		t.Fatalf("Xvfb gave no display: %v", err)
	}
	name := fmt.Sprintf(":%d", number)
	out, err := exec.CommandContext(t.Context(), need(t, "xsetroot", "x11-xserver-utils"), "-display", name, "-solid", "#ff0000").CombinedOutput()
	if err != nil {
		t.Fatalf("xsetroot: %v: %s", err, out)
	}
	return name, child
}

func config(t *testing.T, display string, w, h int, spawn *proc.Spawner) capture.Config {
	t.Helper()
	epoch := clock.Boottime()
	return capture.Config{
		Target: capture.Target{Display: display, Width: w, Height: h}, FPS: 20,
		Now:    func() time.Duration { return clock.Boottime() - epoch },
		FFmpeg: need(t, "ffmpeg", "ffmpeg"), Encode: profile.Recording().Args(), Spawn: spawn,
	}
}

func newSpawner(t *testing.T) *proc.Spawner {
	t.Helper()
	s := proc.NewSpawner()
	t.Cleanup(s.Close)
	return s
}

// tape is a sink that keeps everything and calls at with the number of frames.
type tape struct {
	mu       sync.Mutex
	sps, pps []byte
	headers  int
	frames   []segment.Frame
	at       func(n int) error
}

func (p *tape) Header(sps, pps []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sps, p.pps = sps, pps
	p.headers++
	return nil
}

func (p *tape) Frame(f segment.Frame) error {
	p.mu.Lock()
	p.frames = append(p.frames, f)
	n := len(p.frames)
	p.mu.Unlock()
	if p.at == nil {
		return nil
	}
	return p.at(n)
}

func (*tape) Hold(int64) error            { return errors.New("x11grab knows no still screen") }
func (*tape) Change(capture.Change) error { return errors.New("x11grab knows no damage") }
func (*tape) Event(capture.Event)         {}

// check holds what every run promises, whatever ended it.
func (p *tape) check(t *testing.T) {
	t.Helper()
	if p.headers != 1 || len(p.frames) == 0 || !p.frames[0].Key {
		t.Fatalf("%d headers, %d frames", p.headers, len(p.frames))
	}
	for i := 1; i < len(p.frames); i++ {
		if p.frames[i].Tick <= p.frames[i-1].Tick {
			t.Errorf("tick %d after %d", p.frames[i].Tick, p.frames[i-1].Tick)
		}
	}
}

// decode gives the pictures as I420.
func (p *tape) decode(t *testing.T) []byte {
	t.Helper()
	raw := h264.AppendAnnexB(h264.AppendAnnexB(nil, p.sps), p.pps)
	for _, f := range p.frames {
		var err error
		if raw, err = h264.AVCCToAnnexB(raw, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "in.h264")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), need(t, "ffmpeg", "ffmpeg"), "-v", "error", "-err_detect", "explode",
		"-f", "h264", "-i", file, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("decode: %v: %s", err, errs.String())
	}
	return out
}

// A real run, of an odd size: every frame that was counted reaches the sink,
// decodes, and shows the screen in its colours up to the padded edge.
func TestRunFilmsAScreen(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), bounded)
	defer cancel()
	spawn := newSpawner(t)
	const w, h, enough = 161, 99, 25
	display, _ := screen(t, spawn, w, h)
	stop, done := context.WithCancel(ctx)
	defer done()
	p := &tape{at: func(n int) error {
		if n == enough {
			done()
		}
		return nil
	}}
	var e Engine
	if err := e.Run(stop, config(t, display, w, h, spawn), p); err != nil {
		t.Fatal(err)
	}
	p.check(t)
	if len(p.frames) < enough {
		t.Errorf("%d frames", len(p.frames))
	}
	if st := e.Stats(); st.Captured != int64(len(p.frames)) || st.Distinct != 0 {
		t.Errorf("%+v of %d frames", st, len(p.frames))
	}
	if left := spawn.Live(); len(left) != 1 { // the X server
		t.Errorf("%d processes are left", len(left)-1)
	}
	const size = (w + 1) * (h + 1)
	out := p.decode(t)
	if len(out) != len(p.frames)*size*3/2 {
		t.Fatalf("%d bytes for %d pictures", len(out), len(p.frames))
	}
	last := out[len(out)-size*3/2:]
	for i, want := range []int{63, 102, 240} { // red in BT.709
		plane := [][]byte{last[:size], last[size : size*5/4], last[size*5/4:]}[i]
		for _, v := range plane {
			if d := int(v) - want; d < -2 || d > 2 {
				t.Fatalf("plane %d holds %d, want %d", i, v, want)
			}
		}
	}
}

// However a run ends early, it ends by the error that the recorder decides by,
// with the frames before it, and leaves no process.
func TestRunEndsEarly(t *testing.T) {
	full := errors.New("disk full")
	lost := func(err error) bool { return errors.As(err, new(*capture.DisplayLostError)) }
	kill := func(_ *proc.Spawner, xvfb *proc.Child) error { return xvfb.Signal(unix.SIGKILL) }
	cases := []struct {
		name  string
		fault func(spawn *proc.Spawner, xvfb *proc.Child) error // at the fifth frame
		check func(error) bool
	}{
		{"the display dies", kill, lost}, // which x11grab alone does not notice
		{"the display dies under its pointer", kill, lost},
		{"ffmpeg is killed", func(spawn *proc.Spawner, _ *proc.Child) error {
			return encoder(spawn).Signal(unix.SIGKILL)
		}, func(err error) bool { return errors.As(err, new(*capture.EncoderError)) }},
		{"the sink refuses", func(*proc.Spawner, *proc.Child) error {
			return full
		}, func(err error) bool { return errors.Is(err, full) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), bounded)
			defer cancel()
			spawn := newSpawner(t)
			display, xvfb := screen(t, spawn, 160, 100)
			p := &tape{}
			p.at = func(n int) error {
				if n != 5 {
					return nil
				}
				return c.fault(spawn, xvfb)
			}
			cfg := config(t, display, 160, 100, spawn)
			cfg.Cursor = strings.Contains(c.name, "pointer")
			var e Engine
			err := e.Run(ctx, cfg, p)
			if !c.check(err) {
				t.Errorf("error %v", err)
			}
			p.check(t)
			if child := encoder(spawn); child != nil {
				t.Error("ffmpeg still runs")
			}
		})
	}
}

func encoder(spawn *proc.Spawner) *proc.Child {
	for _, c := range spawn.Live() {
		if c.Role == "encoder" {
			return c
		}
	}
	return nil
}

// A stopped ffmpeg must not hold up the end of the film: it is woken and its
// frames are drained.
func TestStopOfAStoppedEncoder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), bounded)
	defer cancel()
	spawn := newSpawner(t)
	display, _ := screen(t, spawn, 160, 100)
	stop, done := context.WithCancel(ctx)
	defer done()
	p := &tape{}
	p.at = func(n int) error {
		if n != 5 {
			return nil
		}
		defer done()
		return encoder(spawn).Signal(unix.SIGSTOP)
	}
	var e Engine
	if err := e.Run(stop, config(t, display, 160, 100, spawn), p); err != nil {
		t.Fatal(err)
	}
	p.check(t)
	p.decode(t)
}

// What can't begin must say why, for the next engine's reason to be told.
func TestRunThatCannotBegin(t *testing.T) {
	spawn := newSpawner(t)
	display, _ := screen(t, spawn, 160, 100)
	cases := []struct {
		name   string
		change func(*capture.Config)
		check  func(error) bool
	}{
		{"no such display", func(c *capture.Config) { c.Display = ":2147" }, func(err error) bool { return errors.As(err, new(*capture.DisplayLostError)) }},
		{"no ffmpeg", func(c *capture.Config) { c.FFmpeg = "/none" }, func(err error) bool { return errors.As(err, new(*capture.EncoderError)) }},
		{"no such encoder", func(c *capture.Config) { c.Encode = []string{"-c:v", "none"} }, func(err error) bool { return errors.As(err, new(*capture.EncoderError)) }},
		{"larger than the screen", func(c *capture.Config) { c.Width = 1000 }, func(err error) bool { return err != nil }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), bounded)
			defer cancel()
			cfg := config(t, display, 160, 100, spawn)
			c.change(&cfg)
			p := &tape{}
			var e Engine
			if err := e.Run(ctx, cfg, p); !c.check(err) {
				t.Errorf("error %v", err)
			}
			if len(p.frames) > 0 {
				t.Errorf("%d frames", len(p.frames))
			}
		})
	}
}
