package stage

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// domNumbered shows the frame's number as 16 blocks, over what moves by each
// way that a page has: style, CSS animation, Web Animation, SMIL, chance.
const domNumbered = `
export const meta = { width: 320, height: 180, fps: 30, duration: 4, kind: "dom", seed: 5 }
let blocks, box, rnd, text
export function draw({ root, document }, t, frame, env) {
	if (!blocks) {
		root.innerHTML = '<style>' +
			'@keyframes slide { from { transform: translateX(0) } to { transform: translateX(280px) rotate(90deg) } }' +
			'.css { position: absolute; top: 10px; width: 30px; height: 20px; background: #e33; animation: slide 4s ease-in-out both }' +
			'.waapi { position: absolute; top: 40px; width: 30px; height: 20px; background: #3e3 }' +
			'.block { position: absolute; top: 140px; width: 20px; height: 40px }' +
			'.box { position: absolute; top: 70px; width: 30px; height: 20px; background: linear-gradient(90deg, #33e, #ee3); will-change: transform }' +
			'.rnd { position: absolute; top: 70px; left: 290px; width: 20px; height: 20px }' +
			'p { position: absolute; top: 95px; left: 4px; margin: 0; font: 600 22px Inter }</style>' +
			'<div class="css"></div><div class="waapi"></div><div class="box"></div><div class="rnd"></div><p></p>' +
			'<svg style="position:absolute;top:120px" width="320" height="16"><circle cy="8" r="7" fill="#fff"><animate attributeName="cx" from="0" to="320" dur="4s"/></circle></svg>' +
			Array.from({ length: 16 }, (_, i) => '<i class="block" style="left:' + i * 20 + 'px"></i>').join("")
		root.querySelector(".waapi").animate([{ transform: "none" }, { transform: "translateX(280px)" }], { duration: 4000, fill: "both" })
		blocks = [...root.querySelectorAll(".block")]
		box = root.querySelector(".box")
		rnd = root.querySelector(".rnd")
		text = root.querySelector("p")
	}
	blocks.forEach((b, i) => { b.style.background = frame >> i & 1 ? "#fff" : "#000" })
	box.style.transform = "translateX(" + t * 70 + "px)"
	rnd.style.background = "rgb(" + Math.floor(Math.random() * 256) + "," + Date.now() % 256 + "," + Math.floor(performance.now()) % 256 + ")"
	text.textContent = "frame " + frame
}`

// Frames of a page come in order, none twice and none left out, also when two
// pages draw at a time.
func TestDOMOrder(t *testing.T) {
	s := open2(t, load(t, domNumbered, nil), func(c *Config) { c.Workers = 2 })
	if s.Workers() != 2 || len(s.Notes()) != 0 {
		t.Fatalf("%d workers, notes %v", s.Workers(), s.Notes())
	}
	seen := map[[32]byte]int{}
	for i, from := range []int{0, 40, 20, 60} {
		err := s.Frames(testContext(t), i%2, from, from+20, func(frame int, f Frame) error {
			if got := number(f); got != frame {
				t.Errorf("frame %d shows %d", frame, got)
			}
			h := hash(f)
			if other, ok := seen[h]; ok {
				t.Errorf("frames %d and %d are the same", other, frame)
			}
			seen[h] = frame
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 80 {
		t.Errorf("%d distinct frames", len(seen))
	}
}

// The same frame is the same bytes: in sequence or alone, in another page, in
// another browser, and by each way that pixels come.
func TestDOMSameBytes(t *testing.T) {
	b := load(t, domNumbered, nil)
	s := open2(t, b, func(c *Config) { c.Workers = 2 })
	want := hashes(t, s, 0, 0, 100)
	for _, at := range []int{99, 3, 50, 0} {
		if got := hashes(t, s, 1, at, at+1); got[0] != want[at] {
			t.Errorf("frame %d alone is another than in sequence", at)
		}
	}
	for name, w := range map[string]way{"read": wayRead, "called": wayCalled} {
		t.Run(name, func(t *testing.T) {
			s := open2(t, b, func(c *Config) { c.way = w })
			if got := hashes(t, s, 0, 10, 20); !slices.Equal(got, want[10:20]) {
				t.Error("other bytes")
			}
		})
	}
}

func pixelAt(f Frame, x, y int) [3]byte {
	at := y*f.Stride + x*4
	return [3]byte{f.Pix[at+2], f.Pix[at+1], f.Pix[at]}
}

// Colours must come as they were set.
func TestDOMColours(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, kind: "dom", background: "#0a141e" }
export function setup(env, { root }) {
	["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#010203", "#7f8081"].forEach((c, i) => {
		const d = root.appendChild(document.createElement("div"))
		d.style.cssText = "position:absolute;width:8px;height:16px;left:" + i * 8 + "px;background:" + c
	})
}
export function draw() {}`
	s := open2(t, load(t, src, nil), nil)
	want := [][3]byte{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}, {1, 2, 3}, {0x7f, 0x80, 0x81}}
	err := s.Frames(testContext(t), 0, 0, 10, func(frame int, f Frame) error {
		for i, w := range want {
			if got := pixelAt(f, i*8+3, 8); got != w {
				t.Errorf("frame %d, colour %d: %v, want %v", frame, i, got, w)
			}
		}
		if got := pixelAt(f, 60, 30); got != [3]byte{0x0a, 0x14, 0x1e} {
			t.Errorf("the background is %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A change by nothing but an animation, a transform of a layer of its own or an
// opacity must not be taken for no change, and no change must give the frame.
func TestDOMChanges(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 2, kind: "dom" }
let a, b, c
export function setup(env, { root }) {
	root.innerHTML = '<style>@keyframes k { from { transform: none } to { transform: translateX(20px) } } div { position: absolute; width: 4px; height: 4px; background: #fff }' +
		'#k { top: 24px; animation: k 2s steps(20, end) both }</style><div id="a" style="will-change:transform"></div><div id="b" style="top:8px"></div><div id="c" style="top:16px;will-change:opacity"></div><div id="k"></div>'
	a = document.getElementById("a"); b = document.getElementById("b"); c = document.getElementById("c")
}
export function draw(ctx, t, frame) { // the first frames set what is there already
	a.style.transform = frame >= 5 ? "translateX(10px)" : ""
	b.style.transform = frame >= 6 ? "translateX(10px)" : ""
	c.style.opacity = frame >= 7 ? "0" : ""
}`
	for _, hold := range []bool{false, true} {
		text := src
		if hold { // without the animation frames repeat
			text = strings.Replace(src, "animation: k", "x-animation: k", 1)
		}
		s := open2(t, load(t, text, nil), nil)
		err := s.Frames(testContext(t), 0, 0, 20, func(frame int, f Frame) error {
			lit := func(x, y int) bool { return pixelAt(f, x, y)[0] > 200 }
			got := []bool{lit(2, 2), lit(12, 2), lit(2, 10), lit(12, 10), lit(2, 18), lit(frame+2, 26)}
			want := []bool{frame < 5, frame >= 5, frame < 6, frame >= 6, frame < 7, !hold || frame < 2}
			if !slices.Equal(got, want) {
				t.Errorf("hold %v, frame %d: %v, want %v", hold, frame, got, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What the browser painted of a change while nobody recorded, as it may while
// the page waits for a picture, is in the frame: here it paints before each.
func TestDOMPaintBetween(t *testing.T) {
	whole := domJS
	t.Cleanup(func() { domJS = whole })
	const record = "const image = await record()"
	domJS = bytes.ReplaceAll(domJS, []byte(record), []byte("const { requestAnimationFrame: next } = shim.native; await new Promise(k => next(() => next(k))); "+record))
	if bytes.Equal(domJS, whole) {
		t.Fatal("dom.js is written otherwise")
	}
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, kind: "dom" }
export function draw({ root }, t, frame) { root.style.background = frame < 4 ? "#000" : "#fff" }`
	s := open2(t, load(t, src, nil), nil)
	err := s.Frames(testContext(t), 0, 2, 7, func(frame int, f Frame) error {
		if lit := pixelAt(f, 60, 30)[0] > 200; lit != (frame >= 4) {
			t.Errorf("frame %d: lit is %v", frame, lit)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// dotPNG is one pixel of #336699.
const dotPNG = "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\xda\x63\x30\x4e\x9b\x09\x00\x02\x02\x01\x33\x68\x7a\x31\xf8\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"

// A picture is there in the first frame that shows it, however it is named.
func TestDOMPictures(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 1, kind: "dom", assets: { dot: "art/dot.png", mark: "mark.svg" } }
export function draw({ root }, t, frame, env) {
	const at = (x, s) => '<div style="position:absolute;left:' + x + 'px;width:8px;height:8px;line-height:0;' + s + '">'
	root.innerHTML = frame < 4 ? "" : at(0, "") + '<img src="art/dot.png" width="8" height="8"></div>' + at(8, "background:url(assets/dot) 0 0/8px") + "</div>" +
		at(16, "") + '<svg width="8" height="8"><image href="assets/dot" width="8" height="8"/></svg></div>' +
		at(24, "") + '<img src="mark.svg" width="8" height="8"></div>' + at(32, "background:url(mark.svg)") + "</div>" +
		at(40, "") + '<img width="8" height="8" src="data:image/svg+xml,' + encodeURIComponent(env.assets.mark) + '"></div>'
}`
	b := load(t, src, map[string]string{"mark.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="#336699"/></svg>`})
	if err := os.Mkdir(b.Dir+"/art", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Dir+"/art/dot.png", []byte(dotPNG), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{4, 0} {
		s := open2(t, b, nil)
		err := s.Frames(testContext(t), 0, from, 8, func(frame int, f Frame) error {
			for i := range 6 {
				want := uint32(0x336699)
				if frame < 4 {
					want = 0
				}
				if got := binary.LittleEndian.Uint32(f.Pix[4*f.Stride+(i*8+4)*4:]) & 0xffffff; got != want {
					t.Errorf("frame %d, picture %d: %06x", frame, i, got)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What goes wrong in a page is told with its frame and, where the scene's code
// is to blame, its line.
func TestDOMFailures(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2, kind: 'dom' }\n"
	const at4 = "export function draw({ root }, t, frame) {\n  if (frame === 4)\n    %s\n}"
	tests := []struct {
		name, src   string
		code        fault.Code
		frame, line int
		text        string
	}{
		{"throws", head + fmt.Sprintf(at4, "null.x"), fault.SceneThrew, 4, 4, "TypeError"},
		{"promise", head + "export async function draw() {}", fault.SceneAsync, 0, 0, "Promise"},
		{"network", head + fmt.Sprintf(at4, "fetch('https://elsewhere.example/x')"), fault.SceneNetwork, 4, 4, "fetch"},
		{"video", head + fmt.Sprintf(at4, "root.innerHTML = '<p><video></video></p>'"), fault.SceneUnsupported, 4, 0, "<video>"},
		{"iframe", head + fmt.Sprintf(at4, "document.createElement('iframe')"), fault.SceneUnsupported, 4, 4, "<iframe>"},
		{"marquee", head + fmt.Sprintf(at4, "root.innerHTML = '<marquee>x</marquee>'"), fault.SceneUnsupported, 4, 0, "<marquee>"},
		{"progress", head + fmt.Sprintf(at4, "root.innerHTML = '<progress></progress>'"), fault.SceneUnsupported, 4, 0, "<progress>"},
		{"picture", head + fmt.Sprintf(at4, "root.innerHTML = '<img class=big src=none.png>'"), fault.SceneAsset, 4, 0, "none.png"},
		{"background", head + fmt.Sprintf(at4, "root.innerHTML = '<b style=\"background:url(none.png)\">x</b>'"), fault.SceneAsset, 4, 0, "none.png"},
		{"outside", head + fmt.Sprintf(at4, "document.body.append(document.createElement('p'))"), fault.SceneUnsupported, 4, 0, "document.body"},
		{"font", head + fmt.Sprintf(at4, "root.innerHTML = '<b style=\"font-family:NoSuchFont\">x</b>'"), fault.SceneFont, 4, 0, "NoSuchFont"},
		{"glyph", head + fmt.Sprintf(at4, "root.textContent = 'a\\u{10FFFD}'"), fault.SceneGlyph, 4, 0, "10FFFD"},
		{"late animation", head + fmt.Sprintf(at4, "root.animate([{ opacity: 0 }, { opacity: 1 }], 1000)"), fault.SceneImpure, 4, 0, "sequential"},
		{"late transition", head + "export function draw({ root }, t, frame) {\n  root.style.transition = 'opacity 1s'\n  root.style.opacity = frame > 3 && frame < 6 ? 0.5 : 1\n}", fault.SceneImpure, 4, 0, "transition"},
		{"late canvas", head + "export function draw({ root }, t, frame) {\n  root.innerHTML = frame === 4 ? '<canvas></canvas>' : ''\n}", fault.SceneUnsupported, 4, 0, "<canvas>"},
		{"setup", head + "export function setup() {\n  throw new Error('no')\n}\nexport function draw() {}", fault.SceneThrew, scene.NoFrame, 3, "setup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tryOpen(t, load(t, tt.src, nil), nil)
			n := 0
			if err == nil {
				err = s.Frames(testContext(t), 0, 0, 60, func(int, Frame) error { n++; return nil })
			}
			f := wantFailure(t, err, tt.code, tt.frame, tt.line)
			if !strings.Contains(f.Text, tt.text) || n != max(tt.frame, 0) {
				t.Errorf("after %d frames: %q does not tell %q", n, f.Text, tt.text)
			}
		})
	}
}

// animatedGIF has two pictures.
func animatedGIF() string {
	var b strings.Builder
	g := &gif.GIF{}
	for i := range 2 {
		p := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black, color.White})
		p.SetColorIndex(i, i, 1)
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 10)
	}
	if err := gif.EncodeAll(&b, g); err != nil {
		panic(err) // the picture is a constant
	}
	return b.String()
}

// What a page must not show is an error in the frame that has it, wherever it
// stands, with nothing of it kept for the next.
func TestDOMContents(t *testing.T) {
	moving := "data:image/gif;base64," + base64.StdEncoding.EncodeToString([]byte(animatedGIF()))
	tests := []struct {
		name, html string
		code       fault.Code
		text       string
	}{
		{"marquee", "<marquee>x</marquee>", fault.SceneUnsupported, "<marquee>"},
		{"progress", "<progress></progress>", fault.SceneUnsupported, "<progress>"},
		{"video", "<video></video>", fault.SceneUnsupported, "<video>"},
		{"picture", "<img src=none.png>", fault.SceneAsset, "none.png"},
		{"background", "<b style='background:url(none.png)'>x</b>", fault.SceneAsset, "none.png"},
		{"before", "<style>b::before { content: url(none.png) }</style><b>x</b>", fault.SceneAsset, "none.png"},
		{"svg image", "<svg><image href=none.png /></svg>", fault.SceneAsset, "none.png"},
		{"font", "<b style='font-family:NoSuchFont'>x</b>", fault.SceneFont, "NoSuchFont"},
		{"glyph", "<b>\U0010FFFD</b>", fault.SceneGlyph, "10FFFD"},
		{"glyph before", "<style>b::before { content: '\U0010FFFD' }</style><b>x</b>", fault.SceneGlyph, "10FFFD"},
		{"far picture", "<img src=https://elsewhere.example/a.png>", fault.SceneNetwork, "elsewhere.example"},
		{"far set", "<img srcset='https://elsewhere.example/a.png 1x'>", fault.SceneNetwork, "elsewhere.example"},
		{"far background", "<style>b { background: url(//elsewhere.example/a.png) }</style><b>x</b>", fault.SceneNetwork, "elsewhere.example"},
		{"far svg image", "<svg><image href=https://elsewhere.example/a.png /></svg>", fault.SceneNetwork, "elsewhere.example"},
		{"far use", "<svg><use href=https://elsewhere.example/a.svg#x /></svg>", fault.SceneNetwork, "elsewhere.example"},
		{"far import", "<style>@import url(https://elsewhere.example/a.css);</style>", fault.SceneNetwork, "elsewhere.example"},
		{"import", "<style>@import 'a.css';</style>", fault.SceneUnsupported, "a.css"},
		{"far link", "<link rel=stylesheet href=https://elsewhere.example/a.css>", fault.SceneNetwork, "elsewhere.example"},
		{"link", "<link rel=stylesheet href=a.css>", fault.SceneUnsupported, "<link>"},
		{"font face", "<style>@font-face { font-family: X; src: url(https://elsewhere.example/a.woff2) }</style>", fault.SceneFont, "@font-face"},
		{"moving picture", "<img src='" + moving + "'>", fault.SceneUnsupported, "animated"},
		{"moving background", "<style>b { background: url(" + moving + ") }</style><b>x</b>", fault.SceneUnsupported, "animated"},
	}
	all := make([]string, 0, len(tests))
	for _, tt := range tests {
		all = append(all, tt.html)
	}
	list, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	src := fmt.Sprintf("export const meta = { width: 64, height: 64, fps: 10, duration: %d, kind: 'dom' }\nconst all = %s\n", len(tests), list) +
		`export function draw({ root }, t, frame) {
	const n = Math.floor(frame / 2), html = frame % 2 ? "<b>a</b>" + all[n % all.length] : ""
	root.innerHTML = ""
	if (n < all.length) root.innerHTML = html
	else root.appendChild(document.createElement("div")).attachShadow({ mode: "closed" }).innerHTML = html
}`
	s := open2(t, load(t, strings.Replace(src, fmt.Sprintf("duration: %d", len(tests)), fmt.Sprintf("duration: %g", float64(len(tests)*4)/10), 1), nil), nil)
	for i := range 2 * len(tests) {
		tt, where := tests[i%len(tests)], "root"
		if i >= len(tests) {
			where = "shadow"
		}
		t.Run(where+"/"+tt.name, func(t *testing.T) {
			// What the browser tells late of the last is told here.
			_ = s.Frames(testContext(t), 0, 2*i, 2*i+1, drop)
			f := wantFailure(t, s.Frames(testContext(t), 0, 2*i+1, 2*i+2, drop), tt.code, 2*i+1, 0)
			if !strings.Contains(f.Text, tt.text) {
				t.Errorf("%q does not tell %q", f.Text, tt.text)
			}
		})
	}
}

// A page that is built once, which the look before the first frame has seen
// already, is not taken for good in the frames.
func TestDOMBuiltOnce(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2, kind: 'dom' }\n"
	for _, tt := range []struct {
		html string
		code fault.Code
	}{
		{"<marquee>x</marquee>", fault.SceneUnsupported},
		{"<img src=none.png>", fault.SceneAsset},
		{"<b>\\u{10FFFD}</b>", fault.SceneGlyph},
		{"<link rel=stylesheet href=https://elsewhere.example/a.css>", fault.SceneNetwork},
	} {
		html := "const html = '<p>a</p>" + tt.html + "'\n"
		s := open2(t, load(t, head+html+"let p\nexport function draw({ root }) {\n  if (!p) { root.innerHTML = html; p = root.firstChild }\n}", nil), nil)
		for _, frame := range []int{7, 8} {
			wantFailure(t, s.Frames(testContext(t), 0, frame, frame+1, drop), tt.code, frame, 0)
		}
		_, err := tryOpen(t, load(t, head+html+"export function setup(env, { root }) { root.innerHTML = html }\nexport function draw() {}", nil), nil)
		wantFailure(t, err, tt.code, scene.NoFrame, 0)
	}
}

// A page that would go away, or throws once, blames the scene and not the
// browser; what the author never wrote is not noted.
func TestDOMStays(t *testing.T) {
	const head = "export const meta = { width: 64, height: 64, fps: 30, duration: 2, kind: 'dom' }\nlet done\n"
	at := "export function draw({ root }, t, frame) {\n  if (frame === 4)\n    %s\n}"
	tests := []struct {
		name, src   string
		code        fault.Code
		frame, line int
		text        string
	}{
		{"address", head + fmt.Sprintf(at, "location.href = 'https://elsewhere.example/'"), fault.SceneUnsupported, 4, 5, "elsewhere.example"},
		{"own address", head + fmt.Sprintf(at, "location.assign('/page.html?again')"), fault.SceneUnsupported, 4, 5, "page.html?again"},
		{"reload", head + fmt.Sprintf(at, "location.reload()"), fault.SceneUnsupported, 4, 5, "itself again"},
		{"link", head + fmt.Sprintf(at, "{ const a = root.appendChild(document.createElement('a')); a.href = '/elsewhere'; a.click() }"), fault.SceneUnsupported, 4, 5, "elsewhere"},
		{"back", head + fmt.Sprintf(at, "history.back()"), fault.SceneUnsupported, 4, 5, "history.back"},
		{"state", head + fmt.Sprintf(at, "history.pushState(1, '', '/elsewhere/')"), fault.SceneUnsupported, 4, 5, "pushState"},
		{"open", head + fmt.Sprintf(at, "document.open()"), fault.SceneUnsupported, 4, 5, "document.open"},
		{"form", head + fmt.Sprintf(at, "{ root.innerHTML = '<form action=/elsewhere></form>'; root.firstChild.submit() }"), fault.SceneUnsupported, 4, 0, "elsewhere"},
		{"rejected", head + fmt.Sprintf(at, "(async () => null.foo)()"), fault.SceneThrew, 4, 5, "nobody waits"},
		{"once", head + "export function draw({ root }) {\n  if (done) return\n  done = true\n  document.createElement('iframe')\n}", fault.SceneUnsupported, 0, 6, "<iframe>"},
		{"then", head + fmt.Sprintf(at, "Object.prototype.then = k => k(1)"), fault.SceneUnsupported, 4, 0, "Object.prototype.then"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			s, err := tryOpen(t, load(t, tt.src, nil), nil)
			if err == nil {
				err = s.Frames(testContext(t), 0, 0, 60, func(int, Frame) error { n++; return nil })
			}
			f := wantFailure(t, err, tt.code, tt.frame, tt.line)
			if !strings.Contains(f.Text, tt.text) || n != tt.frame {
				t.Errorf("after %d frames: %q does not tell %q", n, f.Text, tt.text)
			}
		})
	}
	t.Run("animated asset", func(t *testing.T) {
		src := strings.Replace(head, "fps", "assets: { a: 'a.gif' }, fps", 1) + "export function draw({ root }) {\n  root.innerHTML = '<img src=assets/a>'\n}"
		_, err := tryOpen(t, load(t, src, map[string]string{"a.gif": animatedGIF()}), nil)
		if f := wantFailure(t, err, fault.SceneUnsupported, scene.NoFrame, 0); !strings.Contains(f.Text, "asset a is an animated picture") {
			t.Errorf("%q", f.Text)
		}
	})
	t.Run("shadow animation", func(t *testing.T) {
		src := head + "export function setup(env, { root }) {\n" +
			"  root.appendChild(document.createElement('div')).attachShadow({ mode: 'open' }).innerHTML = '<style>@keyframes k { from { transform: none } to { transform: translateX(60px) } } i { position: absolute; top: 0; left: 0; width: 4px; height: 4px; background: #fff; animation: k 2s linear both }</style><i></i>'\n}\n" +
			"export function draw() {}"
		s := open2(t, load(t, src, nil), nil)
		for _, at := range []int{50, 10} { // a pixel a frame
			err := s.Frames(testContext(t), 0, at, at+1, func(_ int, f Frame) error {
				if pixelAt(f, at+2, 2)[0] < 200 || pixelAt(f, at-4, 2)[0] > 50 {
					t.Errorf("frame %d: the box is elsewhere", at)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("what stays", func(t *testing.T) {
		src := head + fmt.Sprintf(at, "{ location.hash = 'x'; root.innerHTML = '<input value=a><button>b</button><select><option>c</select><textarea>d</textarea>' }")
		s := open2(t, load(t, src, nil), nil)
		if err := s.Frames(testContext(t), 0, 0, 8, drop); err != nil || len(s.Notes()) > 0 {
			t.Errorf("%v, notes %v", err, s.Notes())
		}
	})
}

// A page that loops is ended, and the line told.
func TestDOMHangs(t *testing.T) {
	const src = "export const meta = { width: 64, height: 64, fps: 30, duration: 2, kind: 'dom' }\n" +
		"export function draw({ root }, t, frame) {\n  if (frame === 6)\n    for (;;) root.title += 1\n}"
	s := open2(t, load(t, src, nil), func(c *Config) { c.FrameTimeout = 2 * time.Second })
	wantFailure(t, s.Frames(testContext(t), 0, 0, 60, drop), fault.SceneHung, 6, 4)
}

// A scene whose animations begin in the middle is drawn in order when it says
// so, from its beginning also after a jump back.
func TestDOMSequential(t *testing.T) {
	const src = `
export const meta = { width: 64, height: 32, fps: 10, duration: 4, kind: "dom", sequential: true }
let box
export function setup(env, { root }) {
	root.innerHTML = '<style>div { position: absolute; width: 4px; height: 4px; background: #fff; transition: transform 1s linear } .on { transform: translateX(40px) }</style><div></div>'
	box = root.querySelector("div")
}
export function draw(ctx, t, frame) { box.className = frame >= 5 ? "on" : "" }`
	s := open2(t, load(t, src, nil), func(c *Config) { c.Workers = 2 })
	if s.Workers() != 1 {
		t.Fatalf("%d workers", s.Workers())
	}
	for _, r := range [][2]int{{0, 20}, {8, 12}, {10, 11}} {
		err := s.Frames(testContext(t), 0, r[0], r[1], func(frame int, f Frame) error {
			x := min(max(frame-5, 0), 10) * 4
			if pixelAt(f, x+2, 2)[0] < 200 || pixelAt(f, x+6, 2)[0] > 50 {
				t.Errorf("frame %d: the box is not at %d", frame, x)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What can't be painted from a record comes by screenshot, is right, and the
// author is told.
func TestDOMScreenshots(t *testing.T) {
	const src = `
export const meta = { width: 320, height: 180, fps: 30, duration: 1, kind: "dom" }
let card, c, blocks
export function draw({ root }, t, frame) {
	if (!card) {
		root.innerHTML = '<div style="perspective:300px;position:absolute;width:100px;height:60px"><div id="card" style="transform-style:preserve-3d;width:100px;height:60px">' +
			'<b style="position:absolute;inset:0;background:#f00;backface-visibility:hidden"></b><b style="position:absolute;inset:0;background:#00f;backface-visibility:hidden;transform:rotateY(180deg)"></b></div></div>' +
			'<canvas width="50" height="50" style="position:absolute;left:200px"></canvas>' + Array.from({ length: 16 }, (_, i) => '<i style="position:absolute;top:140px;height:40px;width:20px;left:' + i * 20 + 'px"></i>').join("")
		card = root.querySelector("#card")
		c = root.querySelector("canvas").getContext("2d")
		blocks = [...root.querySelectorAll("i")]
	}
	card.style.transform = "rotateY(" + frame * 20 + "deg)"
	c.fillStyle = "rgb(" + frame + ",99,7)"
	c.fillRect(0, 0, 50, 50)
	blocks.forEach((b, i) => { b.style.background = frame >> i & 1 ? "#fff" : "#000" })
}`
	b := load(t, src, nil)
	s := open2(t, b, func(c *Config) { c.Workers = 2 })
	if n := s.Notes(); len(n) != 1 || n[0].Code != "slow_pixels" {
		t.Errorf("notes: %v", n)
	}
	check := func(frame int, f Frame) error {
		face := [3]byte{255, 0, 0}
		if a := frame * 20 % 360; a > 90 && a < 270 {
			face = [3]byte{0, 0, 255}
		}
		if got := pixelAt(f, 50, 30); got != face && frame*20%180 != 90 {
			t.Errorf("frame %d: the card shows %v", frame, got)
		}
		if got := pixelAt(f, 220, 20); got != [3]byte{byte(frame), 99, 7} {
			t.Errorf("frame %d: the canvas shows %v", frame, got)
		}
		if got := number(f); got != frame {
			t.Errorf("frame %d shows %d", frame, got)
		}
		return nil
	}
	if err := errors.Join(s.Frames(testContext(t), 0, 0, 12, check), s.Frames(testContext(t), 1, 10, 14, check)); err != nil {
		t.Error(err)
	}
	if got, want := hashes(t, s, 1, 7, 8), hashes(t, s, 0, 7, 8); got[0] != want[0] {
		t.Error("two pages give two pictures")
	}
}
