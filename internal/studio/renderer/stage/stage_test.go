package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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
