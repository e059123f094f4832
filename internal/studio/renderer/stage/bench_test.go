package stage

import (
	"fmt"
	"image"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proofreel/proofreel/internal/media/pixel"
)

// gradients is the scene by which renderers were compared: a moving gradient,
// 200 rotating shapes of which 50 have radial gradients, two lines of text.
const gradients = `
export const meta = { width: 1920, height: 1080, fps: 30, duration: 5 }
export function draw(ctx, t) {
	const w = 1920, h = 1080
	const g = ctx.createLinearGradient(0, 0, w * (0.5 + 0.5 * Math.sin(t)), h)
	g.addColorStop(0, "#12203a"); g.addColorStop(0.5, "#3a1c4a"); g.addColorStop(1, "#0b3d3a")
	ctx.fillStyle = g
	ctx.fillRect(0, 0, w, h)
	for (let i = 0; i < 200; i++) {
		const x = (i * 397 + t * (40 + i % 60)) % w, y = (i * 211 + 120 * Math.sin(t + i)) % h, r = 20 + i % 50
		ctx.save()
		ctx.translate(x, y)
		ctx.rotate(t + i)
		if (i % 4 === 0) {
			const rg = ctx.createRadialGradient(0, 0, 0, 0, 0, r)
			rg.addColorStop(0, "hsl(" + i * 7 % 360 + " 80% 70%)"); rg.addColorStop(1, "hsl(" + (i * 7 + 60) % 360 + " 80% 30% / 0.2)")
			ctx.fillStyle = rg
			ctx.beginPath(); ctx.arc(0, 0, r, 0, 7); ctx.fill()
		} else {
			ctx.fillStyle = "hsl(" + i * 7 % 360 + " 70% 55% / 0.8)"
			ctx.fillRect(-r / 2, -r / 2, r, r)
		}
		ctx.restore()
	}
	ctx.fillStyle = "#fff"
	ctx.font = "700 96px Inter"
	ctx.fillText("Rendering without screenshots", 120, 520)
	ctx.font = "400 40px Inter"
	ctx.fillText("t = " + t.toFixed(3), 120, 600)
}`

// shader is a full-screen fragment shader, and geometry over it.
const shader = `
export const meta = { width: 1920, height: 1080, fps: 30, duration: 5, kind: "webgl" }
let program, at
export function setup() {}
export function draw({ gl }, t) {
	if (!program) {
		const make = (type, src) => { const s = gl.createShader(type); gl.shaderSource(s, src); gl.compileShader(s); return s }
		program = gl.createProgram()
		gl.attachShader(program, make(gl.VERTEX_SHADER, "#version 300 es\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }"))
		gl.attachShader(program, make(gl.FRAGMENT_SHADER, "#version 300 es\nprecision highp float; uniform float t; out vec4 c; void main() { vec2 p = gl_FragCoord.xy / 1080.0; float v = sin(p.x * 9.0 + t) + sin(p.y * 7.0 - t) + sin((p.x + p.y) * 5.0 + t); c = vec4(0.5 + 0.5 * sin(v * vec3(1.0, 1.3, 1.7) + t), 1); }"))
		gl.linkProgram(program)
		at = gl.getUniformLocation(program, "t")
	}
	gl.useProgram(program)
	gl.uniform1f(at, t)
	gl.drawArrays(gl.TRIANGLES, 0, 3)
}`

// Frames at 1080p, by kind and number of workers: drawn and handed over, and
// with the conversion that an encoder needs.
func BenchmarkFrames(b *testing.B) {
	for _, kind := range []struct{ name, src string }{{"2D", gradients}, {"WebGL", shader}} {
		for _, workers := range []int{1, 2} {
			for _, convert := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/workers=%d/convert=%v", kind.name, workers, convert), func(b *testing.B) {
					s := open2(b, load(b, kind.src, nil), func(c *Config) { c.Workers, c.Scratch = workers, memoryDir(b) })
					benchFrames(b, s, convert)
				})
			}
		}
	}
}

func benchFrames(b *testing.B, s *Stage, convert bool) {
	const stretch = 15
	uses := make([]func(int, Frame) error, s.Workers())
	for w := range uses {
		uses[w] = drop
		if convert {
			uses[w] = converter(b, s)
		}
		if err := s.Frames(b.Context(), w, 0, 5, uses[w]); err != nil { // warm
			b.Fatal(err)
		}
	}
	var mu sync.Mutex
	done := 0
	claim := func() (from, n int) {
		mu.Lock()
		defer mu.Unlock()
		from, n = done, min(stretch, b.N-done)
		done += n
		return from % (s.Meta().Frames() - stretch), n
	}
	before := cpu(b, s)
	b.ResetTimer()
	var wg sync.WaitGroup
	for w, use := range uses {
		wg.Go(func() {
			for from, n := claim(); n > 0; from, n = claim() {
				if err := s.Frames(b.Context(), w, from, from+n, use); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(float64((cpu(b, s)-before).Milliseconds())/float64(b.N), "cpu-ms/frame")
}

// cpu is the processor time of the browser and of this process so far: on a
// busy machine it says more than the wall clock.
func cpu(b *testing.B, s *Stage) time.Duration {
	b.Helper()
	var ticks uint64
	for _, id := range processes(s) {
		if st, err := id.Stat(); err == nil {
			ticks += st.CPU
		}
	}
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ticks)*10*time.Millisecond + time.Duration(own.Utime.Nano()+own.Stime.Nano())
}

func memoryDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp(scratch(""), "proofreel-bench-*")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func converter(b *testing.B, s *Stage) func(int, Frame) error {
	b.Helper()
	m := s.Meta()
	dst, err := pixel.NewFrame(m.Width, m.Height)
	if err != nil {
		b.Fatal(err)
	}
	return func(_ int, f Frame) error {
		_, err := pixel.Convert(dst, image.Rect(0, 0, f.Width, f.Height), f.Pix, f.Stride, pixel.BGRX)
		return err
	}
}
