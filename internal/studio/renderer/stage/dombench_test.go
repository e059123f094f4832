package stage

import (
	"fmt"
	"strings"
	"testing"
)

// domCards is a busy page: a gradient that turns, 12 cards with wide shadows
// that move and rotate, numbers, a chart.
const domCards = `
export const meta = { width: 1920, height: 1080, fps: 30, duration: 5, kind: "dom" }
let els
export function setup(env, { root }) {
	root.innerHTML = '<style>' +
		'.bg { position: absolute; inset: 0 } .t { position: absolute; left: 96px; top: 72px; font: 800 72px Inter; color: #fff; letter-spacing: -.03em }' +
		'.s { position: absolute; left: 100px; top: 170px; font: 400 28px Inter; color: #d9d4f2 }' +
		'.card { position: absolute; width: 360px; height: 190px; border-radius: 24px; background: rgba(255,255,255,.94); box-shadow: 0 18px 40px rgba(10,8,40,.35); padding: 24px 28px; box-sizing: border-box; font: 600 24px Inter; color: #1b1640 }' +
		'.card b { display: block; font-size: 44px; margin-top: 12px } .bar { height: 10px; border-radius: 5px; background: #e6e3f5; margin-top: 18px; overflow: hidden }' +
		'.bar i { display: block; height: 100%; background: linear-gradient(90deg,#6a4df5,#ff6d8d) } svg { position: absolute; left: 96px; top: 880px }</style>' +
		'<div class="bg"></div><div class="t">Every frame, exactly once</div><div class="s"></div>' +
		Array.from({ length: 12 }, (_, i) => '<div class="card"><span>Metric ' + (i + 1) + '</span><b></b><div class="bar"><i></i></div></div>').join("") +
		'<svg width="1728" height="160" fill="none" stroke="#fff" stroke-width="4"><path/></svg>'
	els = { cards: [...root.querySelectorAll(".card")], s: root.querySelector(".s"), bg: root.querySelector(".bg"), p: root.querySelector("path") }
}
export function draw(ctx, t, frame) {
	els.s.textContent = "frame " + frame + " at " + t.toFixed(3) + " s"
	els.bg.style.background = "linear-gradient(" + (135 + t * 20) + "deg,#0b1026,#3b1d6e 60%,#e0567a)"
	els.cards.forEach((c, i) => {
		const x = 96 + i % 4 * 432 + 30 * Math.sin(t * 2 + i), y = 250 + (i / 4 | 0) * 205 + 8 * Math.cos(t * 3 + i * 2)
		c.style.transform = "translate(" + x + "px," + y + "px) rotate(" + 3 * Math.sin(t * 1.5 + i) + "deg)"
		c.children[1].textContent = String(1000 * i + frame * (i + 3))
		c.children[2].firstChild.style.width = 50 + 50 * Math.sin(t + i) + "%"
	})
	let d = ""
	for (let i = 0; i <= 60; i++) d += (i ? "L" : "M") + (i * 28.8).toFixed(1) + " " + (80 + 60 * Math.sin(i * .3 + t * 3) * Math.cos(i * .11)).toFixed(2)
	els.p.setAttribute("d", d)
}`

// domStill is a page of text on which a number and a bar change.
const domStill = `
export const meta = { width: 1920, height: 1080, fps: 30, duration: 5, kind: "dom" }
let n, bar
export function setup(env, { root }) {
	root.innerHTML = '<style>.w { position: absolute; inset: 0; background: #faf9f7; color: #222; font: 22px/1.5 Inter; padding: 80px; columns: 3; column-gap: 60px; box-sizing: border-box } h1 { font-size: 64px; line-height: 1.05; margin: 0 0 24px }' +
		'.pan { break-inside: avoid; border-radius: 16px; background: #fff; box-shadow: 0 6px 24px #0002; padding: 24px; margin: 0 0 24px } .n { font: 700 96px JetBrains Mono } .bar { height: 14px; background: #6a4df5; border-radius: 7px; width: 0 }</style>' +
		'<div class="w"><h1>Release 4.2</h1>' + Array.from({ length: 9 }, (_, i) => '<div class="pan"><b>Section ' + i + '</b><p>The quick brown fox jumps over the lazy dog and keeps on running through paragraphs of steady text that never changes.</p></div>').join("") + '<div class="pan"><div class="n"></div><div class="bar"></div></div></div>'
	n = root.querySelector(".n")
	bar = root.querySelector(".bar")
}
export function draw(ctx, t, frame) {
	n.textContent = String(frame).padStart(4, "0")
	bar.style.width = t / 5 * 100 + "%"
}`

// Frames of pages at 1080p, painted from records and, where a canvas among the
// elements asks for it, by screenshot.
func BenchmarkFramesDOM(b *testing.B) {
	shots := func(src string) string {
		return strings.Replace(src, "root.innerHTML = ", `root.innerHTML = '<canvas width="1" height="1" style="position:absolute"></canvas>' + `, 1)
	}
	for _, page := range []struct{ name, src string }{
		{"cards", domCards}, {"still", domStill}, {"cards-shots", shots(domCards)}, {"still-shots", shots(domStill)},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", page.name, workers), func(b *testing.B) {
				s := open2(b, load(b, page.src, nil), func(c *Config) { c.Workers, c.Scratch = workers, memoryDir(b) })
				benchFrames(b, s, true)
			})
		}
	}
}
