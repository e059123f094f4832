package scene_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofreel/proofreel/internal/fault"
	"github.com/proofreel/proofreel/internal/studio/scene"
)

// sample is everything in a realm that differs from run to run, unless it is
// made to stand still.
const sample = `({
	random: [Math.random(), Math.random()],
	values: [...crypto.getRandomValues(new Uint32Array(3))],
	uuid: crypto.randomUUID(),
	now: Date.now(), made: new Date().toISOString(), called: Date(), parts: [new Date(2020, 1, 2).getTime(), Date.UTC(2020, 1, 2)],
	clock: performance.now(), origin: performance.timeOrigin, entries: performance.getEntries().length,
	zone: Intl.DateTimeFormat().resolvedOptions().timeZone, today: new Intl.DateTimeFormat('en', {dateStyle: 'full', timeStyle: 'full'}).format(),
	bits: new Intl.DateTimeFormat('en').formatToParts().map((p) => p.value).join(''),
	temporal: globalThis.Temporal ? [Temporal.Now.instant(), Temporal.Now.plainDateISO(), Temporal.Now.zonedDateTimeISO()].map(String) : '',
	event: new Event('x').timeStamp, cores: navigator.hardwareConcurrency, agent: navigator.userAgent, language: navigator.languages,
	money: (1234.5).toLocaleString(), date: new Date(0).toLocaleString(),
	file: new File([], 'x').lastModified, dated: new File(['a'], 'x', {lastModified: 5}).lastModified, isFile: [new File([], 'x') instanceof File, new File(['ab'], 'x') instanceof Blob, new File(['ab'], 'x').size, new File([], 'x').constructor === File],
	json: JSON.stringify(performance), mark: typeof PerformanceMark === 'function' ? new PerformanceMark('x').startTime : 1000,
	timeline: globalThis.document ? document.timeline.currentTime : 1000, modified: globalThis.document ? document.lastModified : '', memory: String(console.memory) + String(performance.memory),
	rand: env.rand('a', 1), noise: env.noise(1.3, 2.7, 0.2), t: env.t, frame: env.frame,
})`

func TestRuntime(t *testing.T) {
	l := openLab(t)
	for _, kind := range []string{"worker", "page"} {
		t.Run(kind, func(t *testing.T) {
			t.Run("same frame, same realm", func(t *testing.T) { testStill(t, l, kind) })
			t.Run("timers", func(t *testing.T) { testTimers(t, l, kind) })
			t.Run("refused", func(t *testing.T) { testRefused(t, l, kind) })
			t.Run("text", func(t *testing.T) { testText(t, l, kind) })
			t.Run("env", func(t *testing.T) { testEnv(t, l, kind) })
			t.Run("harness", func(t *testing.T) { testHarness(t, l, kind) })
		})
	}
	t.Run("fonts", func(t *testing.T) { testFonts(t, l) })
	t.Run("elements", func(t *testing.T) { testElements(t, l) })
}

// A frame that depends on when or in which order it is drawn.
func testStill(t *testing.T, l *lab, kind string) {
	one, two := l.realm(t, kind), l.realm(t, kind)
	at := func(r realm, frame int) string {
		return r.text("(P.begin(%d), %s)", frame, sample)
	}
	first := at(one, 30)
	for _, frame := range []int{77, 3, 30} {
		at(one, frame)
	}
	if again := at(one, 30); again != first {
		t.Error("frame 30 differs when it is drawn again:", cmp.Diff(first, again))
	}
	if other := at(two, 30); other != first {
		t.Error("frame 30 differs in another realm:", cmp.Diff(first, other))
	}
	if next := at(one, 31); next == first {
		t.Error("two frames have the same chance and clock")
	}
	var s map[string]any
	if err := json.Unmarshal([]byte(first), &s); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"made": "2026-01-01T00:00:01.000Z", "clock": 1000.0, "entries": 0.0, "zone": "UTC", "cores": 4.0, "event": 1000.0, "t": 1.0,
		"money": "1,234.5", "date": "1/1/1970, 12:00:00 AM", "bits": "1/1/2026",
		"file": 1767225601000.0, "dated": 5.0, "json": `{"timeOrigin":1767225600000}`, "mark": 1000.0, "timeline": 1000.0, "memory": "undefinedundefined",
	} {
		if d := cmp.Diff(want, s[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	// A library that puts its own generator in place would make frames depend
	// on each other.
	one.run("try { Math.random = () => 0.5 } catch { } try { performance.now = () => 1 } catch { } try { Date.now = () => 1 } catch { }")
	if again := at(one, 30); again != first {
		t.Error("a scene can replace the clock")
	}
	if got := one.text("[new Date() instanceof Date, Object.prototype.toString.call(new Date()), new (class extends Date {})().getTime(), new Date(5).constructor === Date]"); got != `[true,"[object Date]",1767225601000,true]` {
		t.Errorf("Date is broken: %s", got)
	}
}

func testTimers(t *testing.T, l *lab, kind string) {
	r := l.realm(t, kind)
	if r.text("P.sequential()") != "false" {
		t.Error("sequential before any timer")
	}
	r.run(`globalThis.log = [];
		setTimeout((a, b) => log.push(['late', performance.now(), a + b]), 100, 1, 2);
		setTimeout(() => { log.push(['soon', performance.now()]); setTimeout(() => log.push(['nested', performance.now()]), 5) }, 20);
		const every = setInterval(() => { log.push(['every', performance.now()]); if (performance.now() > 70) clearInterval(every) }, 40);
		clearTimeout(setTimeout(() => log.push(['never']), 1));
		requestAnimationFrame(function step(now) { log.push(['frame', now]); if (now < 60) requestAnimationFrame(step) });
		cancelAnimationFrame(requestAnimationFrame(() => log.push(['never'])));`)
	if r.text("P.sequential()") != "true" {
		t.Error("not sequential after a timer")
	}
	r.run("for (let f = 0; f < 4; f++) { P.begin(f); log.push(['draw', f]) }")
	other := l.realm(t, kind)
	other.run("globalThis.signal = AbortSignal.timeout(50); globalThis.order = []; setImmediate(a => order.push(a), 7); clearImmediate(setImmediate(() => order.push(8)))")
	if got := other.text("(P.begin(0), P.begin(1), order.push(signal.aborted), P.begin(2), order.push(signal.aborted, signal.reason.name), order)"); got != `[7,false,true,"TimeoutError"]` {
		t.Errorf("by the scene's clock: %s", got)
	}
	other.run("globalThis.ran = []; let second; requestAnimationFrame(() => { ran.push(1); cancelAnimationFrame(second); requestAnimationFrame(() => ran.push(3)) }); second = requestAnimationFrame(() => ran.push(2))")
	if got := other.text("(P.begin(3), [...ran])"); got != "[1]" {
		t.Errorf("a frame's callback that the one before it cancelled: %s", got)
	}
	// Frames are 33.3 ms apart.
	want := `[["frame",0],["draw",0],["soon",20],["nested",25],["frame",33.333333333333336],["draw",1],["every",40],["frame",66.66666666666667],["draw",2],["every",80],["late",100,3],["draw",3]]`
	if got := r.text("log"); got != want {
		t.Error(cmp.Diff(want, got))
	}
	r.wantThrow("setTimeout('alert(1)', 10)", "scene_unsupported", "a timer of text")
	r.run("globalThis.again = () => setTimeout(again, 0); again()")
	r.wantThrow("P.begin(4)", "scene_unsupported", "never end")
}

// What is refused must fail where it is used, not where a library asks for it,
// and be told even when the scene catches it.
func testRefused(t *testing.T, l *lab, kind string) {
	r := l.realm(t, kind)
	r.run("P.notes(); P.begin(12); try { fetch('https://example.org/') } catch { }")
	var notes []struct {
		Code, Text, Stack string
		Frame             int
	}
	r.get(&notes, "P.notes()")
	if len(notes) != 1 || notes[0].Code != "scene_network" || notes[0].Frame != 12 || !strings.Contains(notes[0].Stack, "at ") {
		t.Errorf("notes %+v", notes)
	}
	var groups map[string]struct{ Calls, Objects, Navigator []string }
	r.get(&groups, "P.refused")
	n := 0
	for code, g := range groups {
		for _, name := range g.Calls {
			if r.text("typeof globalThis[%q]", name) == `"undefined"` {
				continue
			}
			n++
			r.wantThrow("globalThis."+name+"('x')", code, name+" is refused")
			r.wantThrow("new globalThis."+name+"('x')", code, name+" is refused")
		}
		for _, name := range g.Objects {
			if r.text("typeof globalThis[%q]", name) != `"undefined"` {
				n++
				r.wantThrow("globalThis."+name+".open", code, name+" is refused")
			}
		}
		for _, name := range g.Navigator {
			if r.text("%q in navigator", name) == "true" {
				n++
				r.wantThrow("typeof navigator."+name+" === 'function' ? navigator."+name+"() : navigator."+name+".x", code, "navigator."+name+" is refused")
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d of the refused names are there at all", n)
	}
	r.wantThrow("Atomics.wait(new Int32Array(4), 0, 0)", "scene_unsupported", "Atomics.wait is refused")
	r.wantThrow("await crypto.subtle.generateKey({}, true, [])", "scene_unsupported", "generateKey")
	r.wantThrow("await crypto.subtle.sign({name: 'ECDSA', hash: 'SHA-256'}, {}, new Uint8Array(1))", "scene_unsupported", "sign by ECDSA")
	r.wantThrow("await crypto.subtle.encrypt({name: 'RSA-OAEP'}, {}, new Uint8Array(1))", "scene_unsupported", "encrypt by RSA-OAEP")
	r.wantThrow("URL.createObjectURL(new Blob(['x']))", "scene_unsupported", "URL.createObjectURL is refused: its addresses")
	r.wantThrow("performance.measureUserAgentSpecificMemory()", "scene_unsupported", "performance.measureUserAgentSpecificMemory is refused")
	fresh := l.realm(t, kind) // in which no frame is drawn
	if got := fresh.text(`crypto.subtle.importKey('raw', new Uint8Array(8), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then(k => crypto.subtle.sign('HMAC', k, new Uint8Array(1))).then(s => s.byteLength)`); got != "32" {
		t.Errorf("HMAC gives %s", got)
	}
	if got := fresh.text("createImageBitmap(new ImageData(3, 2)).then(b => b.width)"); got != "3" {
		t.Errorf("before the frames a bitmap is %s wide", got)
	}
	fresh.run("P.begin(0)")
	fresh.wantThrow("await createImageBitmap(new ImageData(3, 2))", "scene_async", "createImageBitmap in draw")
	fresh.wantThrow("await new Blob(['x']).text()", "scene_async", "text in draw")
	var subtle []string
	fresh.get(&subtle, "Object.getOwnPropertyNames(SubtleCrypto.prototype).filter((n) => n !== 'constructor')")
	if len(subtle) < 12 {
		t.Errorf("crypto.subtle has only %q", subtle)
	}
	for _, name := range subtle {
		// What is refused altogether says so first.
		if got := fresh.throws("await crypto.subtle." + name + "('HMAC', 'AES-KW', {}, 'AES-KW')"); got.Code != "scene_async" && got.Code != "scene_unsupported" {
			t.Errorf("crypto.subtle.%s in draw: %s: %s", name, got.Code, got.Message)
		}
	}
	fresh.run("P.check()")
	if got := r.text("[typeof fetch, typeof indexedDB, new WeakRef(env).deref() === env, typeof new FinalizationRegistry(() => {}).register({})]"); got != `["function","object",true,"undefined"]` {
		t.Errorf("asking is refused: %s", got)
	}
	// What the realm has that talks to the outside or runs on its own, and that
	// nobody thought of: a new browser version must not open a hole unseen.
	known := []string{}
	for _, g := range groups {
		known = slices.Concat(known, g.Calls, g.Objects)
	}
	var names []string
	r.get(&names, "Object.getOwnPropertyNames(globalThis).filter((n) => /Socket|Worker$|Channel$|Storage$|^RTC|Transport$|Picker$|^fetch|Recorder$|EventSource|XMLHttp/.test(n))")
	harmless := regexp.MustCompile(`^(RTC.*|ServiceWorker|Storage|CacheStorage|XMLHttpRequestUpload|XMLHttpRequestEventTarget|WebTransportBidi.*|.*(Error|Event))$`) // have no constructor, or need one of the refused
	for _, name := range names {
		if !slices.Contains(known, name) && !harmless.MatchString(name) {
			t.Errorf("%s is not refused", name)
		}
	}
}

func testText(t *testing.T, l *lab, kind string) {
	r := l.realm(t, kind)
	r.run("globalThis.ctx = new OffscreenCanvas(400, 400).getContext('2d')")
	for _, c := range []struct{ code, want, message string }{
		{"ctx.font = 'bold Inter 48px'", "scene_font", "can't be parsed"},
		{"ctx.font = '48px NoSuchFont'", "scene_font", "none of the library's; there are Inter"},
		{"ctx.font = '48px Helvetica, Arial'", "scene_font", "none of the library's"},
		{"ctx.fillText('a\U0010fffd', 0, 0)", "scene_glyph", "U+10FFFD"},
		{"ctx.measureText('x\U0001F926'.slice(0, 2))", "scene_glyph", "half of a character"},
		{"ctx.strokeText('\ue5e5', 0, 0)", "scene_glyph", "U+E5E5"},
	} {
		r.wantThrow(c.code, c.want, c.message)
	}
	r.run(`P.notes(); P.begin(0);
		for (const f of ['48px Inter', 'italic 700 12.5px/1.2 "Source Serif 4"', '900 20px sans-serif', '12pt monospace', '2em "JetBrains Mono", monospace']) ctx.font = f;
		for (const s of ['Hello', '你好，世界', 'こんにちは', '안녕', 'مرحبا', 'नमस्ते', 'ไทย', '👩‍🚀🏳️‍🌈1️⃣', 'á', '─█⠿', '∑∫√', '→✓✗', '\u200f\u2066']) { ctx.fillText(s, 0, 0); ctx.measureText(s) }`)
	if got := r.text("P.notes()"); got != "[]" {
		t.Errorf("good text is noted: %s", got)
	}
	r.run("ctx.font = '20px Helvetica, Inter'; ctx.fillText('two\\nlines', 0, 0)")
	if got := r.text("P.notes().map((n) => n.code)"); got != `["font_fallback","text_newline"]` {
		t.Errorf("notes %s", got)
	}
	r.run("P.watch(true); P.begin(9); ctx.reset(); ctx.font = '600 20px Inter'; ctx.fillStyle = '#ff0000'; ctx.translate(100, 50); ctx.scale(2, 2); ctx.fillText('Box', 10, 10); ctx.globalAlpha = 0; ctx.fillText('unseen', 0, 0)")
	var seen []struct {
		Text, Fill string
		Size       float64
		Frame      int
		Box        [4]float64
	}
	r.get(&seen, "P.texts()")
	if len(seen) != 1 || seen[0].Text != "Box" || seen[0].Size != 40 || seen[0].Fill != "#ff0000" || seen[0].Frame != 9 || seen[0].Box[0] < 118 || seen[0].Box[2] < 180 || seen[0].Box[2] > 220 {
		t.Errorf("texts %+v", seen)
	}
}

// Fonts of the machine must not show, and ours must.
func testFonts(t *testing.T, l *lab) {
	r := l.realm(t, "worker")
	r.run(`globalThis.ctx = new OffscreenCanvas(300, 300).getContext('2d', {willReadFrequently: true});
		globalThis.width = (font, s = 'Hamburgefonstiv 0123') => { ctx.font = font; return Math.round(ctx.measureText(s).width * 100) }`)
	seen := map[string]string{}
	for _, f := range scene.Families() {
		for _, w := range f.Weights {
			for _, slant := range []string{"", "italic "} {
				if slant != "" && !slices.Contains(f.Italics, w) || f.Name == "Noto Color Emoji" {
					continue
				}
				font := slant + r.text("%d", w) + " 48px '" + f.Name + "'"
				// Pixels, not widths: monospaced weights are equally wide.
				got := r.text(`(() => { width(%q); ctx.reset(); ctx.font = %q; ctx.fillText('Ragw 0', 10, 100); let h = 0; for (const v of ctx.getImageData(0, 0, 300, 150).data) h = (h * 31 + v) >>> 0; return h })()`, font, font)
				if other, ok := seen[got]; ok {
					t.Errorf("%s is drawn as %s", font, other)
				}
				seen[got] = font
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d faces", len(seen))
	}
	for _, c := range []struct{ a, b string }{
		{"40px 'DejaVu Sans', Inter", "40px Inter"},
		{"40px Arial, Inter", "40px Inter"},
		{"40px sans-serif", "40px Inter"},
		{"40px serif", "40px 'Source Serif 4'"},
		{"40px monospace", "40px 'JetBrains Mono'"},
	} {
		if x, y := r.text("width(%q)", c.a), r.text("width(%q)", c.b); x != y {
			t.Errorf("%s is %s wide, %s is %s", c.a, x, c.b, y)
		}
	}
	// A character that no font had would be as the box that stands for it.
	if got := r.text("width('40px Inter', '漢') === 4000"); got != "true" {
		t.Errorf("an ideograph is %s wide", r.text("width('40px Inter', '漢')"))
	}
	if got := r.text(`(() => { ctx.reset(); ctx.font = '100px Inter'; ctx.fillText('🍊', 10, 150); const d = ctx.getImageData(0, 0, 300, 300).data; let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200 && d[i] > 200 && d[i + 1] > 80 && d[i + 1] < 190 && d[i + 2] < 90) n++; return n > 1000 })()`); got != "true" {
		t.Error("an orange is not orange")
	}
}

func testEnv(t *testing.T, l *lab, kind string) {
	r := l.realm(t, kind)
	r.run("globalThis.ctx = new OffscreenCanvas(400, 400).getContext('2d'); ctx.font = '600 40px Inter'; globalThis.near = (a, b) => Math.abs(a - b) < 1e-6")
	for _, c := range []string{
		"env.rand('a') === env.rand('a') && env.rand('a') !== env.rand('b') && env.rand(1, 2) !== env.rand(2, 1) && env.rand(0) === env.rand(-0)",
		"Array.from({length: 5000}, (_, i) => env.rand(i)).every((x) => x >= 0 && x < 1)",
		"Math.abs(Array.from({length: 20000}, (_, i) => env.rand('m', i)).reduce((a, b) => a + b) / 20000 - 0.5) < 0.01",
		"Math.abs(Array.from({length: 20000}, () => Math.random()).reduce((a, b) => a + b) / 20000 - 0.5) < 0.01",
		"Array.from({length: 3000}, (_, i) => env.noise(i * 0.37, i * 0.11, i * 0.7)).every((x) => x >= -1 && x <= 1)",
		"Math.abs(env.noise(1.5, 2.5) - env.noise(1.5001, 2.5)) < 0.001",
		"Object.entries(env.ease).filter(([n]) => !['of', 'bezier', 'steps'].includes(n)).every(([n, f]) => f(0) === 0 && f(1) === 1)",
		"near(env.ease.bezier(0.25, 0.1, 0.25, 1)(0.5), 0.802403387584) && env.ease.steps(4)(0.5) === 0.5",
		"env.progress(0, 1, 2) === 0 && env.progress(3, 1, 2) === 1 && near(env.progress(2, 1, 2, 'linear'), 0.5) && env.progress(5, 5, 0) === 0 && env.progress(5.1, 5, 0) === 1",
		"env.inOut(1, 1, 3, 0.5) === 0 && env.inOut(2, 1, 3, 0.5) === 1 && env.inOut(3, 1, 3, 0.5) === 0",
		"env.keys(0, [[1, 10], [2, 20]]) === 10 && env.keys(3, [[1, 10], [2, 20]]) === 20 && near(env.keys(1.5, [[1, 10], [2, 20, 'linear']]), 15)",
		"JSON.stringify(env.keys(1.5, [[1, [0, 10]], [2, [10, 20], 'linear']])) === '[5,15]'",
		"env.spring(0) === 0 && Math.abs(env.spring(5) - 1) < 0.001 && Math.abs(env.spring(9, {stiffness: 100, damping: 20}) - 1) < 0.001 && Math.abs(env.spring(9, {stiffness: 100, damping: 60}) - 1) < 0.01",
		"env.stagger(0, 5, 1) === 0 && env.stagger(4, 5, 1) === 1 && env.stagger(4, 5, 1, 'end') === 0 && env.stagger(2, 5, 1, 'center') === 0 && env.stagger(2, 5, 1, 'edges') === 1 && env.stagger(0, 1, 1) === 0",
		"env.color.mix('#000', '#fff', 0) === 'rgb(0, 0, 0)' && env.color.mix('#ff0000', '#0000ff', 1) === 'rgb(0, 0, 255)' && env.color.alpha('#ff000080', 0.5) === 'rgba(255, 0, 0, 0.251)'",
		"Math.round(env.color.contrast('#000', '#ffffff')) === 21 && env.color.on('#ffee00') === '#111111'",
		"env.text.wrap(ctx, 'one two three four five six', 200).every((l) => ctx.measureText(l).width <= 200)",
		"env.text.wrap(ctx, '你好世界你好世界', 130).length >= 2 && env.text.wrap(ctx, 'a\\nb', 500).length === 2",
		"(() => { const l = env.text.balance(ctx, 'a headline of several words that wraps', 420); const w = l.map((x) => ctx.measureText(x).width); return l.length === env.text.wrap(ctx, 'a headline of several words that wraps', 420).length && Math.max(...w) <= 420 })()",
		"(() => { const s = env.text.fit(ctx, 'Fit me', (n) => env.font('Inter', n, 800), {width: 300}); return Math.abs(env.text.measure(ctx, 'Fit me', env.font('Inter', s, 800)).width - 300) < 2 })()",
		"(() => { const c = env.text.split(ctx, 'AVe 👩‍🚀!'); const e = c[c.length - 1]; return c.length === 6 && c[4].char === '👩‍🚀' && near(e.x + e.width, ctx.measureText('AVe 👩‍🚀!').width) && c[4].word === 1 })()",
		"env.text.words(ctx, 'to be or').map((w) => w.word).join() === 'to,be,or'",
		"ctx.font === '600 40px Inter'",
		"env.font('display', 100) === '800 100px \"Inter\"' && env.font('Anton', 20) === '400 20px \"Anton\"' && env.font('Inter', 20, 600, true) === 'italic 600 20px \"Inter\"'",
		"env.style.palette.accent === '#d91e18' && Object.isFrozen(env.style.palette) && Object.isFrozen(env) && env.frames === 120 && env.seed === 5",
		"env.fonts.includes('Caveat')",
	} {
		if got := r.text("%s", c); got != "true" {
			t.Errorf("%s is %s", c, got)
		}
	}
	r.wantThrow("env.progress(1, 0, 2, 'outCubc')", "scene_threw", "there is no easing")
	r.wantThrow("env.color.mix('hsl(0,0%,0%)', '#fff')", "scene_threw", "can't read")
	// Another seed is another world.
	before := r.text("[env.rand('a'), env.noise(0.4, 0.7)]")
	r.run("globalThis.env = P.configure({width: 2, height: 2, fps: 30, duration: 1, seed: 6})")
	if after := r.text("[env.rand('a'), env.noise(0.4, 0.7)]"); after == before {
		t.Error("the seed changes nothing")
	}
}

func testHarness(t *testing.T, l *lab, kind string) {
	r := l.raw(t, kind)
	if got := r.text("typeof globalThis.__proofreel"); got != `"undefined"` {
		t.Errorf("the scene still sees the harness: %s", got)
	}
	r.run("P.install(options)")
	r.wantThrow("P.install(options)", "scene_threw", "called twice")

	_, err := scene.ParseMeta([]byte(r.text("P.describe({meta: {width: 10 / 0, height: 1080, fps: 30, duration: 1}, draw() {}})")))
	wantFault(t, err, fault.SceneMeta, `meta.width is "Infinity", not a number`)
	m, err := scene.ParseMeta([]byte(r.text("P.describe({meta: {width: 640, height: 360, fps: 25, duration: 0.5, title: undefined, assets: {a: 'a.json'}}, draw() {}, setup: async () => {}})")))
	if err != nil || m.FPS != 25 || m.Frames() != 13 {
		t.Errorf("meta %+v, %v", m, err)
	}
	_, err = scene.ParseMeta([]byte(r.text("P.describe({default: {}})")))
	wantFault(t, err, fault.SceneMeta, "only a default")

	r.run("globalThis.env = P.configure({width: 640, height: 360, fps: 25, duration: 1})")
	r.get(&struct{}{}, `(async () => {
		const bytes = (s) => new TextEncoder().encode(s).buffer;
		const png = new OffscreenCanvas(7, 5); png.getContext('2d').fillRect(0, 0, 7, 5);
		await P.addAsset('data', 'data.json', bytes('{"a": [1]}'), 'application/json');
		await P.addAsset('rows', 'rows.csv', bytes('a,b'), 'text/csv');
		await P.addAsset('logo', 'logo.png', await (await png.convertToBlob()).arrayBuffer(), 'image/png');
		P.ready();
		return {};
	})()`)
	if got := r.text("[env.assets.data.a[0], env.assets.rows, env.assets.logo.width, Object.isFrozen(env.assets), Object.isFrozen(env.assets.data)]"); got != `[1,"a,b",7,true,true]` {
		t.Errorf("assets %s", got)
	}
	r.wantThrow("await P.addAsset('x', 'x.json', new TextEncoder().encode('{').buffer)", "scene_asset", "x.json is not JSON")
	r.wantThrow("await P.addAsset('x', 'x.png', new ArrayBuffer(9), 'image/png')", "scene_asset", "x.png can't be decoded")
	r.wantThrow("P.check(Promise.resolve())", "scene_async", "draw returned a Promise")
	r.run("P.check(undefined)")
	r.wantThrow("throw 5", "scene_threw", "threw 5")
	r.wantThrow("null.x", "scene_threw", "TypeError: ")
	r.wantThrow("throw {get message() { return 'odd' }}", "scene_threw", "threw [object Object]")
}

func testElements(t *testing.T, l *lab) {
	r := l.realm(t, "page")
	for _, c := range []string{"document.createElement('VIDEO')", "document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe')"} {
		r.wantThrow(c, "scene_unsupported", "is refused")
	}
	r.wantThrow("document.write('x')", "scene_unsupported", "document.write is refused")
	r.wantThrow("document.body.innerHTML = '<p><audio></audio></p>'; P.checkElements(document.body)", "scene_unsupported", "<audio> is refused")
	r.run("document.body.innerHTML = '<p><svg></svg></p>'; P.checkElements(document.body); document.createElement('div')")
	r.wantThrow("P.checkText('\ue5e5')", "scene_glyph", "U+E5E5")
	r.wantThrow("P.checkFamilies(['Papyrus'], 'Papyrus')", "scene_font", "none of the library's")
}
