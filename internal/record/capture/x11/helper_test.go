package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"github.com/proofreel/proofreel/internal/host/clock"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/profile"
	"github.com/proofreel/proofreel/internal/media/segment"
	"github.com/proofreel/proofreel/internal/record/capture"
)

// need finds a program that the tests can't do without.
func need(t testing.TB, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is missing: apt-get install %s", program, pkg)
	}
	return path
}

// xvfb starts an X server of its own and returns its display's name and child.
func xvfb(t testing.TB, spawn *proc.Spawner, w, h, depth int, extra ...string) (string, *proc.Child) {
	t.Helper()
	args := append([]string{"-screen", "0", fmt.Sprintf("%dx%dx%d", w, h, depth)}, extra...)
	return startServer(t, spawn, need(t, "Xvfb", "xvfb"), os.Environ(), args)
}

// startServer starts an X server and waits until it can be used.
func startServer(t testing.TB, spawn *proc.Spawner, path string, env, args []string) (string, *proc.Child) {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	tail := &proc.Tail{}
	child, err := spawn.Start(proc.Command{
		Role: "xserver", Path: path, Env: env, Stderr: tail, Files: []*os.File{wr},
		Args: append([]string{"-displayfd", "3", "-nolisten", "tcp", "-noreset"}, args...),
	})
	_ = wr.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Kill)
	var number int
	if _, err := fmt.Fscan(r, &number); err != nil {
		t.Fatalf("%s gave no display: %v: %s", path, err, tail.String())
	}
	return fmt.Sprintf(":%d", number), child
}

func newSpawner(t testing.TB) *proc.Spawner {
	t.Helper()
	s := proc.NewSpawner()
	t.Cleanup(s.Close)
	return s
}

// lossless is an encoder setting by which pixels can be compared exactly.
func lossless() []string {
	return []string{
		"-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-pix_fmt", "yuv420p", "-g", "100000",
		"-force_key_frames", profile.KeyEvery(0.9),
		"-x264-params", "bframes=0:ref=1:weightp=0:rc-lookahead=0:sync-lookahead=0:scenecut=0:mbtree=0:sliced-threads=1:force-cfr=1",
	}
}

func config(t testing.TB, spawn *proc.Spawner, display string, w, h, fps int) capture.Config {
	t.Helper()
	epoch := clock.Boottime()
	return capture.Config{
		Target: capture.Target{Display: display, Width: w, Height: h},
		FPS:    fps, Now: func() time.Duration { return clock.Boottime() - epoch },
		FFmpeg: need(t, "ffmpeg", "ffmpeg"), Encode: lossless(), Spawn: spawn,
	}
}

// tape is a sink that keeps everything.
type tape struct {
	mu       sync.Mutex
	sps, pps []byte
	headers  int
	frames   []segment.Frame
	holds    []int64
	changes  []capture.Change
	events   []capture.Event
	inputs   []capture.Input
	slow     time.Duration // what each frame takes
	fail     error
	first    chan struct{} // closed with the first frame
}

func newTape() *tape { return &tape{first: make(chan struct{})} }

func (p *tape) Header(sps, pps []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sps, p.pps = sps, pps
	p.headers++
	return nil
}

func (p *tape) Frame(f segment.Frame) error {
	time.Sleep(p.slow)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) == 0 {
		close(p.first)
	}
	p.frames = append(p.frames, f)
	return p.fail
}

func (p *tape) Hold(tick int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = append(p.holds, tick)
	return nil
}

func (p *tape) Change(c capture.Change) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes = append(p.changes, c)
	return nil
}

func (p *tape) Event(ev capture.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, ev)
}

func (p *tape) Input(in capture.Input) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inputs = append(p.inputs, in)
}

// pointers is where the pointer has been by the log, once for each time.
func (p *tape) pointers() []image.Point {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []image.Point
	for _, in := range p.inputs {
		if in.Kind == capture.InputMove {
			all = append(all, image.Pt(in.X, in.Y))
		}
	}
	return all
}

// count is how many frames there are now.
func (p *tape) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.frames)
}

// eventually waits until ok, for a time that no busy machine should need.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// decode returns the film's pictures as I420 in the order of the frames.
func (p *tape) decode(t testing.TB, w, h int) [][]byte {
	t.Helper()
	start := []byte{0, 0, 0, 1}
	stream := bytes.Join([][]byte{nil, p.sps, p.pps}, start)
	for _, f := range p.frames {
		for d := f.Data; len(d) > 4; {
			n := binary.BigEndian.Uint32(d)
			stream = append(append(stream, start...), d[4:4+n]...)
			d = d[4+n:]
		}
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "film.h264"), filepath.Join(dir, "film.yuv")
	if err := os.WriteFile(in, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(need(t, "ffmpeg", "ffmpeg"), "-v", "error", "-f", "h264", "-i", in, "-fps_mode", "passthrough",
		"-f", "rawvideo", "-pix_fmt", "yuv420p", out)
	if msg, err := cmd.CombinedOutput(); err != nil || len(msg) > 0 {
		t.Fatalf("decode: %v: %s", err, msg)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	size := (w + w&1) * (h + h&1) * 3 / 2
	if len(raw) != size*len(p.frames) {
		t.Fatalf("%d bytes decoded, want %d frames of %d", len(raw), len(p.frames), size)
	}
	var out2 [][]byte
	for ; len(raw) > 0; raw = raw[size:] {
		out2 = append(out2, raw[:size])
	}
	return out2
}

// film runs an engine until stop is called, which returns how it ended. The
// first frame is on the tape when film returns.
func film(t testing.TB, cfg capture.Config, sink capture.Sink) (e *Engine, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e = New()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx, cfg, sink) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() {
			cancel()
			err = <-ended
		})
		return err
	}
	t.Cleanup(func() { _ = stop() })
	tp, ok := sink.(*tape)
	if !ok {
		return e, stop
	}
	select {
	case <-tp.first:
	case err := <-ended:
		ended <- err // for stop
		t.Fatalf("the engine ended before its first frame: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("no first frame in 30 s")
	}
	return e, stop
}

// painter is a client that paints on the root window.
type painter struct {
	t    testing.TB
	conn *xgb.Conn
	root xproto.Window
	gc   xproto.Gcontext
	mark uint32 // colour of the last mark
}

func newPainter(t testing.TB, display string) *painter {
	t.Helper()
	conn, raw, _, err := dial(context.Background(), display, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &painter{t: t, conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, mark: 0xffffff}
	t.Cleanup(func() { _ = raw.Close() })
	if p.gc, err = xproto.NewGcontextId(conn); err != nil {
		t.Fatal(err)
	}
	if err := xproto.CreateGCChecked(conn, p.gc, xproto.Drawable(p.root), 0, nil).Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// fill paints rectangles in one colour and waits until the server has done so.
func (p *painter) fill(colour uint32, rects ...image.Rectangle) {
	p.t.Helper()
	xproto.ChangeGC(p.conn, p.gc, xproto.GcForeground, []uint32{colour})
	var xr []xproto.Rectangle
	for _, r := range rects {
		xr = append(xr, xproto.Rectangle{X: int16(r.Min.X), Y: int16(r.Min.Y), Width: uint16(r.Dx()), Height: uint16(r.Dy())})
	}
	if err := xproto.PolyFillRectangleChecked(p.conn, xproto.Drawable(p.root), p.gc, xr).Check(); err != nil {
		p.t.Fatal(err)
	}
}

// pixels reads the whole screen through the socket.
func (p *painter) pixels(w, h int) []byte {
	p.t.Helper()
	r, err := xproto.GetImage(p.conn, xproto.ImageFormatZPixmap, xproto.Drawable(p.root), 0, 0, uint16(w), uint16(h), allPlanes).Reply()
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Data
}

func eventsOf(p *tape, kind capture.EventKind) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, ev := range p.events {
		if ev.Kind == kind {
			out = append(out, ev.Detail)
		}
	}
	return strings.Join(out, "\n")
}

// mark is how far from the screen's last pixel other paint must stay for settle.
const mark = 40

// settle paints the pixel x, y and waits until the film has it, and with it all
// that was painted before. Nothing else may be painted near it.
func (p *painter) settle(e *Engine, tp *tape, x, y int) {
	p.t.Helper()
	tp.mu.Lock()
	before := len(tp.changes)
	tp.mu.Unlock()
	p.mark ^= 0xffffff
	p.fill(p.mark|0xf, image.Rect(x, y, x+1, y+1))
	eventually(p.t, "the mark is in the film", func() bool {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		for _, c := range tp.changes[before:] {
			for _, r := range c.Rects {
				if image.Pt(x, y).In(image.Rect(r.X, r.Y, r.X+r.W, r.Y+r.H)) {
					return int64(len(tp.frames)) == e.Stats().Captured
				}
			}
		}
		return false
	})
}
