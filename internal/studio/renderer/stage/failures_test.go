package stage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/media/chromium"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

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

// What a scene does to its canvas, in promises and to all objects, ends with
// the frame and the line, where without a check it would be a wrong picture.
func TestSilentMistakes(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2 }\n"
	webgl := strings.Replace(head, "fps", "kind: 'webgl', fps", 1)
	at3 := func(code string) string {
		return "export function draw(ctx, t, frame) {\n  if (frame === 3)\n    " + code + "\n}"
	}
	tests := []struct {
		name, src   string
		code        fault.Code
		frame, line int
		text        string
	}{
		{"smaller", head + at3("ctx.canvas.width = 32"), fault.SceneUnsupported, 3, 4, "64 x 64"},
		{"larger", head + at3("ctx.canvas.height = 128"), fault.SceneUnsupported, 3, 4, "height of 128"},
		{"no number", head + at3("ctx.canvas.width = 'wide'"), fault.SceneUnsupported, 3, 4, "width of wide"},
		{"by the prototype", head + at3("Object.getOwnPropertyDescriptor(OffscreenCanvas.prototype, 'width').set.call(ctx.canvas, 32)"), fault.SceneUnsupported, 3, 0, "no longer 64 x 64"},
		{"webgl", webgl + at3("ctx.canvas.width = 128"), fault.SceneUnsupported, 3, 4, "setPixelRatio"},
		{"three", "import { WebGLRenderer } from 'three'\n" + webgl + "let r\nexport function draw(ctx) {\n  r ??= new WebGLRenderer({ canvas: ctx.canvas, context: ctx.gl })\n  r.setPixelRatio(2)\n}", fault.SceneUnsupported, 0, 6, "setPixelRatio"},
		{"picture", head + at3("(async () => ctx.drawImage(await createImageBitmap(new ImageData(8, 8)), 0, 0))()"), fault.SceneAsync, 3, 4, "createImageBitmap"},
		{"later", head + at3("(async () => {\nawait null\nctx.fillRect(0, 0, 9, 9)\n})()"), fault.SceneAsync, 3, 6, "fillRect"},
		{"later, caught", head + at3("(async () => {\nawait null\ntry { ctx.fillRect(0, 0, 9, 9) } catch {}\n})()"), fault.SceneAsync, 3, 6, "fillRect"},
		{"later, webgl", webgl + at3("(async () => {\nconst gl = ctx.gl\nawait null\ngl.clear(gl.COLOR_BUFFER_BIT)\n})()"), fault.SceneAsync, 3, 7, "clear"},
		{"rejected", head + at3("(async () => {\nnull.foo\n})()"), fault.SceneThrew, 3, 5, "nobody waits"},
		{"callback", head + at3("queueMicrotask(() => {\nnull.foo\n})"), fault.SceneThrew, 3, 5, "callback"},
		{"in the last frame", strings.Replace(head, "duration: 2", "duration: 0.1333", 1) + at3("(async () => {\nnull.foo\n})()"), fault.SceneThrew, 3, 5, "TypeError"},
		{"rejected in setup", head + "export function setup() {\n  Promise.reject(new Error('no'))\n}\nexport function draw() {}", fault.SceneThrew, scene.NoFrame, 3, "setup"},
		{"rejected in the module", head + "Promise.reject(new Error('no'))\nexport function draw() {}", fault.SceneThrew, scene.NoFrame, 2, "module's own code"},
		{"then", head + at3("Object.prototype.then = k => k(1)"), fault.SceneUnsupported, 3, 0, "Object.prototype.then"},
		{"then for ever", head + at3("Object.defineProperty(Object.prototype, 'then', { value: k => k(1) })"), fault.SceneUnsupported, 3, 0, "Object.prototype.then"},
		{"then of lists", head + at3("Array.prototype.then = () => {}"), fault.SceneUnsupported, 3, 0, "Array.prototype.then"},
		{"then in the module", head + "Object.prototype.then = () => {}\nexport function draw() {}", fault.SceneUnsupported, scene.NoFrame, 0, "Object.prototype.then"},
		{"a long message", head + at3("throw new Error('long'.repeat(12 << 20))"), fault.SceneThrew, 3, 4, "longlong"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tryOpen(t, load(t, tt.src, nil), nil)
			n := 0
			if err == nil {
				err = s.Frames(testContext(t), 0, 0, s.Meta().Frames(), func(int, Frame) error { n++; return nil })
			}
			f := wantFailure(t, err, tt.code, tt.frame, tt.line)
			if !strings.Contains(f.Text, tt.text) || len(f.Text) > 1200 {
				t.Errorf("%.2000q does not tell %q", f.Text, tt.text)
			}
			if n != max(tt.frame, 0) {
				t.Errorf("%d frames came before", n)
			}
			if s != nil && len(s.Notes()) > 0 {
				t.Errorf("notes beside the error: %v", s.Notes())
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

// Lists that outgrow the engine, and not the limit for the browser, are the
// scene's fault as well.
func TestMemoryOfObjects(t *testing.T) {
	for _, kind := range []string{"2d", "dom"} {
		t.Run(kind, func(t *testing.T) {
			src := "export const meta = { width: 64, height: 64, fps: 30, duration: 1, kind: '" + kind + "', sequential: true }\n" +
				"export function draw(ctx, t, frame) { if (frame === 2) { const a = []; for (;;) a.push(new Array(3e7).fill(frame)) } }"
			s := open2(t, load(t, src, nil), nil)
			wantFailure(t, s.Frames(testContext(t), 0, 0, 30, drop), fault.SceneMemory, 2, 0)
		})
	}
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
		w := s.lanes[0]
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
