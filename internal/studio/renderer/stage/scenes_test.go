package stage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
