package stage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/host/proc"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bounded is far more than anything here takes on a busy machine.
const bounded = 3 * time.Minute

var testFonts = sync.OnceValues(func() (scene.FontSet, error) {
	return scene.Fonts(filepath.Join(os.TempDir(), "proofreel-test-fonts"))
})

func load(t testing.TB, source string, files map[string]string) *scene.Bundle {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "scene.js")
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := scene.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bounded)
	t.Cleanup(cancel)
	return ctx
}

// tryOpen opens a scene and sees to it that nothing of it is left in the end.
func tryOpen(t testing.TB, b *scene.Bundle, change func(*Config)) (*Stage, error) {
	t.Helper()
	if _, err := chromium.Find(nil); err != nil {
		t.Fatalf("%v: apt-get install chromium-headless-shell", err)
	}
	fonts, err := testFonts()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Bundle: b, Fonts: fonts, Scratch: t.TempDir(), FrameTimeout: time.Minute, LoadTimeout: time.Minute}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(testContext(t), cfg)
	check := func() {
		left, err := os.ReadDir(cfg.Scratch)
		if err != nil || len(left) > 0 {
			t.Errorf("left in the scratch folder: %v, %v", left, err)
		}
	}
	if err != nil {
		check()
		return nil, err
	}
	t.Cleanup(func() {
		seen := processes(s)
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		for _, id := range append(seen, processes(s)...) {
			if id.Alive() {
				t.Errorf("process %d is left", id.PID)
			}
		}
		check()
	})
	return s, nil
}

// processes lists the browser's. Chromium writes over what /proc shows of
// their environment, so they are found by their parents.
func processes(s *Stage) []proc.Identity {
	roots := proc.WithArgument("--user-data-dir=" + s.dir)
	return append(roots, proc.Descendants(roots...)...)
}

func open2(t testing.TB, b *scene.Bundle, change func(*Config)) *Stage {
	t.Helper()
	s, err := tryOpen(t, b, change)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantFailure checks a fault's code, frame and place; line 0: no place.
func wantFailure(t *testing.T, err error, code fault.Code, frame, line int) *scene.Failure {
	t.Helper()
	var f *scene.Failure
	if !errors.As(err, &f) {
		t.Fatalf("no failure of the scene: %v", err)
	}
	if f.Code != code || f.Frame != frame || f.Place.Line != line {
		t.Errorf("got %s at frame %d, line %d, want %s at %d, line %d: %v", f.Code, f.Frame, f.Place.Line, code, frame, line, err)
	}
	if line > 0 && f.Place.File != "scene.js" {
		t.Errorf("it is in %q", f.Place.File)
	}
	return f
}

func drop(int, Frame) error { return nil }

// numbered draws the frame's number as 16 blocks, white for 1, over something
// that changes in every frame.
const numbered = `
export const meta = { width: 320, height: 180, fps: 30, duration: 4 }
export function draw(ctx, t, frame, env) {
	const g = ctx.createLinearGradient(0, 0, 320, 180)
	g.addColorStop(0, "hsl(" + frame * 7 % 360 + " 80% 50%)")
	g.addColorStop(1, "#123")
	ctx.fillStyle = g
	ctx.fillRect(0, 0, 320, 180)
	ctx.fillStyle = "rgba(255,255,255,0.5)"
	ctx.arc(160 + 100 * Math.cos(t), 60, 30, 0, 7)
	ctx.fill()
	for (let bit = 0; bit < 16; bit++) {
		ctx.fillStyle = frame >> bit & 1 ? "#fff" : "#000"
		ctx.fillRect(bit * 20, 140, 20, 40)
	}
}`

func number(f Frame) int {
	n := 0
	for bit := range 16 {
		if f.Pix[160*f.Stride+(bit*20+10)*4] > 127 {
			n |= 1 << bit
		}
	}
	return n
}

// hash is of the three channels that mean something.
func hash(f Frame) [32]byte {
	h := sha256.New()
	row := make([]byte, 0, f.Width*3)
	for y := range f.Height {
		row = row[:0]
		for x := range f.Width {
			at := y*f.Stride + x*4
			row = append(row, f.Pix[at:at+3]...)
		}
		h.Write(row)
	}
	return [32]byte(h.Sum(nil))
}

func hashes(t *testing.T, s *Stage, worker, from, to int) [][32]byte {
	t.Helper()
	var all [][32]byte
	err := s.Frames(testContext(t), worker, from, to, func(frame int, f Frame) error {
		if want := from + len(all); frame != want {
			t.Errorf("frame %d came as %d", want, frame)
		}
		all = append(all, hash(f))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A frame that is missing, doubled or at another's place is the worst that can
// happen to a film, and also the easiest: slots are used again and again.
func TestOrder(t *testing.T) {
	s := open2(t, load(t, numbered, nil), func(c *Config) { c.Workers = 2 })
	if s.Workers() != 2 || s.Meta().Frames() != 120 {
		t.Fatalf("%d workers, %d frames", s.Workers(), s.Meta().Frames())
	}
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for from := w * 7; from < 120; from += 14 {
				want, to := from, min(from+7, 120)
				err := s.Frames(testContext(t), w, from, to, func(frame int, f Frame) error {
					if got := number(f); frame != want || got != want {
						t.Errorf("frame %d came as %d and shows %d", want, frame, got)
					}
					want++
					return nil
				})
				if err != nil || want != to {
					t.Errorf("frames up to %d of %d: %v", want, to, err)
				}
			}
		})
	}
	wg.Wait()
}

// The same frame is the same bytes: from another worker, after another frame,
// in another browser, and by each way that pixels can come.
func TestSameBytes(t *testing.T) {
	b := load(t, numbered, nil)
	s := open2(t, b, func(c *Config) { c.Workers = 2 })
	want := hashes(t, s, 0, 0, 40)
	if got := slices.Concat(hashes(t, s, 1, 20, 40), hashes(t, s, 1, 0, 20)); !slices.Equal(got[:20], want[20:]) || !slices.Equal(got[20:], want[:20]) {
		t.Error("the second worker, backwards, draws something else")
	}
	for i := range want {
		for j := range i {
			if want[i] == want[j] {
				t.Errorf("frames %d and %d are the same", j, i)
			}
		}
	}
	for name, w := range map[string]way{"mapped": wayMapped, "read": wayRead, "called": wayCalled} {
		t.Run(name, func(t *testing.T) {
			s := open2(t, b, func(c *Config) { c.way = w })
			if got := hashes(t, s, 0, 10, 20); !slices.Equal(got, want[10:20]) {
				t.Error("other bytes")
			}
		})
	}
}

// Colours must come as they were set: no profile, no alpha, no neighbour's.
func TestColours(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, background: "#0a141e" }
export function draw(ctx) {
	const all = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#010203", "#7f8081"]
	all.forEach((c, i) => { ctx.fillStyle = c; ctx.fillRect(i * 8, 0, 8, 16) })
	ctx.fillStyle = "rgba(255, 255, 255, 0.5)"
	ctx.fillRect(48, 0, 8, 16)
	ctx.translate(99, 99) // must be forgotten before the next frame
	ctx.globalAlpha = 0.1
}`
	s := open2(t, load(t, src, nil), nil)
	want := [][3]byte{{0, 0, 255}, {0, 255, 0}, {255, 0, 0}, {255, 255, 255}, {3, 2, 1}, {0x81, 0x80, 0x7f}, {142, 137, 132}, {0x1e, 0x14, 0x0a}}
	err := s.Frames(testContext(t), 0, 0, 3, func(frame int, f Frame) error {
		if f.Width != 64 || f.Height != 32 || f.Stride != 256 || len(f.Pix) != 256*32 {
			t.Errorf("a frame of %dx%d, stride %d, %d bytes", f.Width, f.Height, f.Stride, len(f.Pix))
		}
		for i, w := range want {
			for _, y := range []int{0, 15} {
				at := y*f.Stride + (i*8+3)*4
				for c := range 3 {
					if d := int(f.Pix[at+c]) - int(w[c]); d < -1 || d > 1 || (d != 0 && i != 6) {
						t.Errorf("frame %d, colour %d: %v, want %v", frame, i, f.Pix[at:at+3], w)
					}
				}
			}
		}
		if got := f.Pix[31*f.Stride : 31*f.Stride+3]; !slices.Equal(got, want[7][:]) {
			t.Errorf("the background is %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// WebGL has its rows from the bottom and its colours the other way round, and
// a scene's own buffers are bound when its frame is read.
func TestWebGL(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, kind: "webgl" }
export function draw({ canvas, gl }, t, frame) {
	if (canvas.width !== 64) throw new Error("the canvas is not there")
	const box = (x, y, w, h, r, g, b) => { gl.enable(gl.SCISSOR_TEST); gl.scissor(x, y, w, h); gl.clearColor(r / 255, g / 255, b / 255, 1); gl.clear(gl.COLOR_BUFFER_BIT) }
	gl.bindFramebuffer(gl.FRAMEBUFFER, null)
	box(0, 0, 64, 32, 0, 0, 0)
	box(0, 16, 32, 16, 255, 0, 0)   // upper left
	box(32, 0, 32, 16, 1, 2, frame) // lower right
	const target = gl.createFramebuffer(), texture = gl.createTexture()
	gl.bindTexture(gl.TEXTURE_2D, texture)
	gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 64, 32)
	gl.bindFramebuffer(gl.FRAMEBUFFER, target)
	gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0)
	box(0, 0, 64, 32, 9, 9, 9)
	gl.bindBuffer(gl.PIXEL_PACK_BUFFER, gl.createBuffer())
	gl.pixelStorei(gl.PACK_SKIP_ROWS, 3)
}`
	s := open2(t, load(t, src, nil), func(c *Config) { c.Workers = 2 })
	for w := range s.Workers() {
		err := s.Frames(testContext(t), w, 2, 5, func(frame int, f Frame) error {
			for _, p := range []struct {
				x, y int
				want [3]byte
			}{{3, 3, [3]byte{0, 0, 255}}, {60, 3, [3]byte{}}, {3, 30, [3]byte{}}, {60, 30, [3]byte{byte(frame), 2, 1}}} {
				if got := [3]byte(f.Pix[p.y*f.Stride+p.x*4:]); got != p.want {
					t.Errorf("frame %d at %d,%d: %v, want %v", frame, p.x, p.y, got, p.want)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What goes wrong in a scene is told with its frame and the author's line.
func TestFailures(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2 }\n"
	tests := []struct {
		name, src   string
		code        fault.Code
		frame, line int
		text        string
		frames      int // how many come before
	}{
		{"throws", head + "export function draw(ctx, t, frame) {\n  if (frame === 37)\n    null.x\n}", fault.SceneThrew, 37, 4, "TypeError", 37},
		{"throws a word", head + "export function draw() { throw 'word' }", fault.SceneThrew, 0, 0, "word", 0},
		{"throws a trap", head + "export function draw() { throw new Proxy({}, { get() { throw 1 } }) }", fault.SceneThrew, 0, 0, "can't be read", 0},
		{"promise", head + "export async function draw(ctx, t, frame) {}", fault.SceneAsync, 0, 0, "Promise", 0},
		{"network", head + "export function draw(ctx, t, frame) {\n  if (frame > 1) fetch('https://elsewhere.example/x')\n}", fault.SceneNetwork, 2, 3, "fetch", 2},
		{"late timer", head + "export function draw(ctx, t, frame) {\n  if (frame == 4) setTimeout(() => {}, 5)\n}", fault.SceneImpure, 4, 0, "sequential", 4},
		{"import", "const x = 1\nx.y.z\n" + head + "export function draw() {}", fault.SceneThrew, scene.NoFrame, 2, "module's own code", -1},
		{"setup", head + "export function setup() {\n  throw new Error('no')\n}\nexport function draw() {}", fault.SceneThrew, scene.NoFrame, 3, "setup", -1},
		{"late setup", head + "export async function setup() {\n  await null\n  throw new Error('no')\n}\nexport function draw() {}", fault.SceneThrew, scene.NoFrame, 4, "setup", -1},
		{"asset", strings.Replace(head, "fps", "assets: { a: 'none.png' }, fps", 1) + "export function draw() {}", fault.SceneAsset, scene.NoFrame, 0, "none.png", -1},
		{"meta", strings.Replace(head, "fps: 30", "fps: 0", 1) + "export function draw() {}", fault.SceneMeta, scene.NoFrame, 0, "fps", -1},
		{"no draw", head, fault.SceneMeta, scene.NoFrame, 0, "draw", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tryOpen(t, load(t, tt.src, nil), nil)
			if tt.frames < 0 {
				f := wantFailure(t, err, tt.code, tt.frame, tt.line)
				if !strings.Contains(f.Text, tt.text) {
					t.Errorf("%q does not tell %q", f.Text, tt.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = s.Frames(testContext(t), 0, 0, 60, func(int, Frame) error { n++; return nil })
			f := wantFailure(t, err, tt.code, tt.frame, tt.line)
			if !strings.Contains(f.Text, tt.text) {
				t.Errorf("%q does not tell %q", f.Text, tt.text)
			}
			if n != tt.frames {
				t.Errorf("%d frames came before, want %d", n, tt.frames)
			}
			if tt.frames > 0 && tt.code != fault.SceneImpure { // the worker can go on
				if err := s.Frames(testContext(t), 0, 0, 1, drop); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}

// What never ends is ended, and the frame and line told.
func TestHangs(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2 }\n"
	tests := []struct {
		name, src   string
		frame, line int
		text        string
	}{
		{"loop", head + "export function draw(ctx, t, frame) {\n  if (frame === 5)\n    for (;;) ctx.fillRect(0, 0, 1, 1)\n}", 5, 4, "the frame"},
		{"loop in the module", head + "for (;;) ;\nexport function draw() {}", scene.NoFrame, 2, "the loading"},
		{"loop in setup", head + "export function setup() {\n  while (true) ;\n}\nexport function draw() {}", scene.NoFrame, 3, "the loading"},
		{"promise in setup", head + "export const setup = () => new Promise(() => {})\nexport function draw() {}", scene.NoFrame, 0, "setup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A short limit, but not one that an honest frame misses on a busy machine.
			s, err := tryOpen(t, load(t, tt.src, nil), func(c *Config) { c.FrameTimeout, c.LoadTimeout = 2*time.Second, 4*time.Second })
			if err == nil {
				err = s.Frames(testContext(t), 0, 0, 60, drop)
				if again := s.Frames(testContext(t), 0, 0, 1, drop); again == nil || again.Error() != err.Error() {
					t.Errorf("a later call gives %v", again)
				}
			}
			f := wantFailure(t, err, fault.SceneHung, tt.frame, tt.line)
			if !strings.Contains(f.Text, tt.text) {
				t.Errorf("%q does not tell %q", f.Text, tt.text)
			}
		})
	}
}

// A scene that eats memory is ended before the machine is.
func TestMemory(t *testing.T) {
	const src = `export const meta = { width: 64, height: 64, fps: 30, duration: 1 }
const all = []
export function draw() { for (let i = 0; i < 400; i++) all.push(new Uint8Array(20 << 20).fill(i)) }`
	s := open2(t, load(t, src, nil), func(c *Config) { c.Memory = 700 << 20 })
	wantFailure(t, s.Frames(testContext(t), 0, 0, 30, drop), fault.SceneMemory, 0, 0)
}

// The browser's death, at any moment, is one clear error and leaves nothing;
// so does the caller's change of mind.
func TestEnds(t *testing.T) {
	b := load(t, numbered, nil)
	t.Run("killed", func(t *testing.T) {
		s := open2(t, b, nil)
		victims := processes(s)
		if len(victims) < 2 {
			t.Fatalf("the browser has %d processes", len(victims))
		}
		err := s.Frames(testContext(t), 0, 0, 120, func(frame int, _ Frame) error {
			if frame == 20 {
				for _, id := range victims {
					_ = id.Signal(unix.SIGKILL)
				}
			}
			return nil
		})
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.BrowserFailed {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		s := open2(t, b, nil)
		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(testContext(t))
		n := 0
		err := s.Frames(ctx, 0, 0, 120, func(frame int, _ Frame) error {
			if n++; n == 5 {
				cancel(why)
			}
			return nil
		})
		if !errors.Is(err, why) || n > 5+slots {
			t.Errorf("got %v after %d frames", err, n)
		}
		if got := hashes(t, s, 0, 3, 5); len(got) != 2 {
			t.Error("the worker can't go on")
		}
	})
	t.Run("used wrongly", func(t *testing.T) {
		s := open2(t, b, nil)
		why := errors.New("full")
		if err := s.Frames(testContext(t), 0, 3, 100, func(frame int, _ Frame) error {
			if frame == 7 {
				return why
			}
			return nil
		}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		for _, bad := range [][3]int{{1, 0, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 0, 121}, {0, 5, 4}} {
			if err := s.Frames(testContext(t), bad[0], bad[1], bad[2], drop); err == nil {
				t.Errorf("%v is taken", bad)
			}
		}
		if err := s.Frames(testContext(t), 0, 4, 4, nil); err != nil {
			t.Errorf("no frames: %v", err)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		s := open2(t, b, nil)
		w := s.lanes[0].(*worker)
		err := s.Frames(testContext(t), 0, 0, 120, func(frame int, f Frame) error {
			if frame == 3 {
				if err := w.ring.file.Truncate(ringSlots); err != nil {
					t.Error(err)
				}
				_ = hash(f)
			}
			return nil
		})
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.BrowserFailed {
			t.Errorf("got %v", err)
		}
		if again := s.Frames(testContext(t), 0, 0, 1, drop); again == nil {
			t.Error("it goes on")
		}
	})
	t.Run("closed", func(t *testing.T) {
		s := open2(t, b, nil)
		closed := make(chan error, 1)
		err := s.Frames(testContext(t), 0, 0, 120, func(frame int, f Frame) error {
			if frame == 3 {
				go func() { closed <- s.Close() }()
				<-s.browser.Done()
			}
			_ = hash(f) // the mapping must still be there
			return nil
		})
		if !errors.Is(err, chromium.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// A scene that lives by timers is drawn in order by one worker, and begins anew
// when it must go back.
func TestSequential(t *testing.T) {
	const src = `
export const meta = { width: 320, height: 180, fps: 30, duration: 2 }
let n = 0
export function setup() {
	setInterval(() => { n++ }, 33)
	const step = () => { n += 100; requestAnimationFrame(step) }
	requestAnimationFrame(step)
}
export function draw(ctx) {
	for (let bit = 0; bit < 16; bit++) {
		ctx.fillStyle = n >> bit & 1 ? "#fff" : "#000"
		ctx.fillRect(bit * 20, 140, 20, 40)
	}
}`
	for _, w := range []way{wayMapped, wayCalled} {
		s := open2(t, load(t, src, nil), func(c *Config) { c.Workers, c.way = 2, w })
		if s.Workers() != 1 {
			t.Fatalf("%d workers", s.Workers())
		}
		var seen []int
		for _, r := range [][2]int{{0, 4}, {4, 6}, {20, 22}, {2, 3}} {
			err := s.Frames(testContext(t), 0, r[0], r[1], func(_ int, f Frame) error {
				seen = append(seen, number(f)/100, number(f)%100)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		// Frame i has had i+1 animation frames, and i ticks of the interval.
		want := []int{1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 21, 20, 22, 21, 3, 2}
		if !slices.Equal(seen, want) {
			t.Errorf("way %d: got %v, want %v", w, seen, want)
		}
	}
}

// Assets are there before the first frame, as what their names say.
func TestAssets(t *testing.T) {
	const src = `
export const meta = { width: 16, height: 16, fps: 10, duration: 1, assets: { dot: "dot.png", data: "data.json", words: "words.txt" } }
export function draw(ctx, t, frame, env) {
	ctx.drawImage(env.assets.dot, 0, 0, 16, 16)
	if (env.assets.data.list[1] !== 2 || env.assets.words !== "héllo") throw new Error(JSON.stringify(env.assets))
}`
	// One pixel of #336699.
	const dot = "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\xda\x63\x30\x4e\x9b\x09\x00\x02\x02\x01\x33\x68\x7a\x31\xf8\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"
	s := open2(t, load(t, src, map[string]string{"dot.png": dot, "data.json": `{"list":[1,2]}`, "words.txt": "héllo"}), nil)
	err := s.Frames(testContext(t), 0, 0, 1, func(_ int, f Frame) error {
		if got := binary.LittleEndian.Uint32(f.Pix[8*f.Stride+32:]) & 0xffffff; got != 0x336699 {
			t.Errorf("the picture's pixel is %06x", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What a scene says on the console reaches its author, once, with the line.
func TestNotes(t *testing.T) {
	const src = `export const meta = { width: 16, height: 16, fps: 10, duration: 2 }
export function draw(ctx, t, frame) {
  console.log("hello", { a: 1 })
}`
	s := open2(t, load(t, src, nil), nil)
	if err := s.Frames(testContext(t), 0, 0, 20, drop); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, n := range s.Notes() {
		lines = append(lines, fmt.Sprint(n.Text, " ", n.Place))
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "hello") || !strings.Contains(lines[0], "scene.js:3:") {
		t.Errorf("notes: %q", lines)
	}
}

// Texts are told where they are seen, whatever moved them there, and with
// their line.
func TestTexts(t *testing.T) {
	const src = `export const meta = { width: 400, height: 200, fps: 10, duration: 1 }
export function draw(ctx, t, frame) {
	ctx.font = "20px Inter"
	ctx.fillStyle = "#ff0000"
	ctx.translate(100, 100)
	ctx.scale(2, 2)
	ctx.fillText("moved", frame, 0)
}`
	s := open2(t, load(t, src, nil), nil)
	got, err := s.Texts(testContext(t), 3)
	if err != nil || len(got) != 1 {
		t.Fatalf("texts: %v, %v", got, err)
	}
	text := got[0]
	if text.Text != "moved" || text.Size != 40 || text.Fill != "#ff0000" || text.Alpha != 1 || text.Place.Line != 7 {
		t.Errorf("got %+v", text)
	}
	if b := text.Box; b.Min.X < 104 || b.Min.X > 112 || b.Max.Y < 99 || b.Max.Y > 103 || b.Dx() < 90 || b.Dx() > 150 {
		t.Errorf("it is at %v", b)
	}
	if again := hashes(t, s, 0, 3, 4); len(again) != 1 {
		t.Error("no frame afterwards")
	}
}

// A scene may choose its own WebGL2 context, as three.js does, and one that
// asks for none at all has a black frame.
func TestOwnContext(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, kind: "webgl" }
export function draw({ canvas }, t, frame) {
	if (frame === 0) return
	const gl = canvas.getContext("webgl2", { antialias: false, alpha: true })
	gl.clearColor(0, 0.5, 0, 0.5)
	gl.clear(gl.COLOR_BUFFER_BIT)
}`
	for _, first := range []int{0, 1} {
		s := open2(t, load(t, src, nil), nil)
		err := s.Frames(testContext(t), 0, first, first+1, func(frame int, f Frame) error {
			if want := byte(128 * first); f.Pix[0] != 0 || f.Pix[1] != want || f.Pix[2] != 0 {
				t.Errorf("frame %d is %v", frame, f.Pix[:4])
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
