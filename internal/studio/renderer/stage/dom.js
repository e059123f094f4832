// A page that draws a scene of kind dom. The scene's elements are children of a
// canvas that may be drawn onto it ("HTML in canvas"): the browser lays them out
// and records them, and a worker of ours paints the record (dompaint.js), so
// that no screenshot is taken. What can't be painted so is left to screenshots.
// The host calls what stands in globalThis.__stage, as in worker.js.
import { listen } from "./console.js"
import { settle } from "./settle.js"
import { stay } from "./domstay.js"
import { refuseMoving, watchFor } from "./domwatch.js"

const shim = globalThis.__proofreel
delete globalThis.__proofreel
const { now, fetch, setTimeout, clearTimeout } = shim.native
const { SceneError } = shim
const heard = listen(shim.frame)
const notes = () => [...shim.notes(), ...heard()]
const { freeze, entries } = Object
const { round, max, min } = Math
const method = (type, name) => Function.prototype.call.bind(type.prototype[name])
const getter = (type, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(type.prototype, name).get)
const setter = (type, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(type.prototype, name).set)
const fast = "captureElementImage" in HTMLCanvasElement.prototype && "content" in HTMLCanvasElement.prototype

// The painter is started before the shim takes workers away.
const painter = (() => {
  const worker = new Worker("/run/dompaint.js", { type: "module" })
  const post = method(Worker, "postMessage")
  const waiting = new Map()
  let last = 0
  worker.onmessage = ({ data }) => {
    const { keep, fail } = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.error === undefined) keep(data)
    else fail(new SceneError(data.code ?? "browser_failed", data.error))
  }
  worker.onerror = e => {
    for (const { fail } of waiting.values()) fail(new SceneError("browser_failed", e.message || "the painter's script did not load"))
  }
  return (what, params, transfer = []) => new Promise((keep, fail) => {
    waiting.set(++last, { keep, fail })
    post(worker, { ...params, what, id: last }, transfer)
  })
})()

let phase = "start"
let module, meta, env, root, paper, context, watch
let owed // what draw threw for a frame that was not wanted yet
let shots = false // the host takes screenshots

// explain makes what was thrown, whatever it is, into plain data.
function explain(e) {
  try {
    return { ...shim.failure(e), phase }
  } catch {
    return { code: "scene_threw", message: "something was thrown that can't be read", stack: "", frame: shim.frame(), phase }
  }
}

async function load({ install, module: address }) {
  try {
    phase = "import"
    const wrong = shim.install({ ...install, kind: "dom" })
    stay(shim)
    module = await import(address)
    await settle()
    shim.late()
    return { __proto__: null, report: shim.describe(module), wrong, notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), notes: notes() }
  }
}

// build makes the root, which is to its content what a page of the frame's
// size is.
function build() {
  root = document.createElement("div")
  root.id = "root"
  root.style.cssText = `position: absolute; left: 0; top: 0; width: ${meta.width}px; height: ${meta.height}px; overflow: hidden; ` +
    `background: ${meta.background || "#000; color: #fff"}; font: 16px Inter`
  if (!fast) {
    document.body.append(root)
    return
  }
  paper = document.createElement("canvas")
  paper.id = "paper"
  paper.width = meta.width
  paper.height = meta.height
  paper.setAttribute("content", "drawable")
  root.setAttribute("drawable", "")
  paper.onpaint = onPaint
  paper.append(root)
  document.body.append(paper)
}

async function prepare(o) {
  try {
    meta = o.meta
    env = shim.configure(meta)
    phase = "assets"
    const assets = entries(meta.assets ?? {})
    await Promise.all(assets.map(async ([name, file]) => {
      const answer = await fetch(`/assets/${encodeURIComponent(name)}`)
      if (!answer.ok) throw new SceneError("scene_asset", await answer.text())
      const bytes = await answer.arrayBuffer(), type = answer.headers.get("Content-Type")
      await refuseMoving(`asset ${name}`, bytes.slice(0), type, SceneError)
      await shim.addAsset(name, file, bytes, type)
    }))
    shim.ready()
    build()
    watch = watchFor(root, shim)
    await watch.keep(assets)
    let layout = "bgr"
    if (fast) {
      const canvas = paper.transferControlToOffscreen()
      layout = (await painter("open", { width: meta.width, height: meta.height, canvas, ring: o.ring }, [canvas])).layout
    }
    context = freeze({ root, document })
    phase = "setup"
    await module.setup?.(env, context)
    const { pictures } = watch.look()
    await settle()
    shim.late()
    await pictures
    phase = "draw"
    const slow = fast ? probe() : "this browser can't paint elements onto a canvas"
    if (slow) useScreenshots()
    return { __proto__: null, layout, sequential: shim.sequential(), slow, notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), notes: notes() }
  }
}

// probe draws some frames for nobody to see: the first tells which animations
// run from the beginning, and all tell whether the scene has what can't be
// painted from a record. A scene that lives by its past is not drawn.
// What it threw is thrown when that frame is wanted: a scene that builds its
// page once may not throw it again.
function probe() {
  const frames = max(1, round(meta.duration * meta.fps)), n = shim.sequential() ? 0 : min(frames, 9)
  let { slow } = watch.look()
  for (let i = 0; i < n && !slow; i++) {
    const frame = n > 1 ? round(i * (frames - 1) / (n - 1)) : 0
    try {
      shim.begin(frame)
      shim.check(module.draw(context, frame / meta.fps, frame, env))
    } catch (e) {
      owed = { frame, e }
      break
    }
    try {
      animate(frame, i === 0, true)
      slow = watch.look().slow
    } catch {
      break // what is wrong with the page is found again
    }
  }
  watch.again() // what is wrong is told when a frame that has it is wanted
  return slow
}

// useScreenshots puts the root where the browser shows it, without restarting
// what is in it.
function useScreenshots() {
  shots = true
  if (!fast) return
  document.body.moveBefore(root, paper)
  paper.remove()
  root.removeAttribute("drawable")
}

const animations = method(Document, "getAnimations")
const animationsIn = method(ShadowRoot, "getAnimations")
const animationsOf = scope => scope === document ? animations(document) : animationsIn(scope)
const pause = method(Animation, "pause"), setTime = setter(Animation, "currentTime")
const state = getter(Animation, "playState"), rate = getter(Animation, "playbackRate"), timeline = getter(Animation, "timeline")
const effect = getter(Animation, "effect")
const pauseSVG = method(SVGSVGElement, "pauseAnimations"), setSVG = method(SVGSVGElement, "setCurrentTime")
const ours = new Map() // animation to when it began, in ms

// animate sets all animations to the frame. Those that the scene paused itself
// are its own affair. It also brings styles up to date.
function animate(frame, first, quiet) {
  const t = frame / meta.fps * 1000
  for (const a of watch.scopes().flatMap(animationsOf)) {
    if (ours.has(a)) {
      if (state(a) !== "paused") pause(a)
      continue
    }
    if (state(a) === "paused" || timeline(a) !== document.timeline) continue
    if (!first && !shim.sequential()) {
      if (quiet) continue
      const what = a.animationName ? `the animation ${a.animationName}` : a.transitionProperty ? `a transition of ${a.transitionProperty}` : "an animation of element.animate"
      throw new SceneError("scene_impure", `${what} began in this frame, so it depends on the frames before: have it run from the beginning, or say sequential: true in meta`)
    }
    pause(a)
    ours.set(a, first ? 0 : t)
  }
  for (const [a, begun] of ours) {
    if (effect(a)?.target?.isConnected) setTime(a, (t - begun) * rate(a))
    else ours.delete(a)
  }
  for (const svg of watch.svgs()) {
    pauseSVG(svg)
    setSVG(svg, t / 1000)
  }
}

let turned = false

// turn brings the page to a frame.
async function turn(frame, wasSequential) {
  shim.begin(frame)
  shim.check(module.draw(context, frame / meta.fps, frame, env))
  if (owed?.frame === frame) throw owed.e
  if (!wasSequential && shim.sequential()) {
    throw new SceneError("scene_impure", "a timer or an animation frame was asked for in draw: say sequential: true in meta")
  }
  animate(frame, !turned && shim.sequential(), false)
  turned = true
  const { slow, pictures } = watch.look()
  if (slow && !shots) {
    throw new SceneError("scene_unsupported", `${slow}, and that was not so in the beginning: have it there when setup ends, if hidden`)
  }
  if (pictures) await pictures
}

const request = fast ? method(HTMLCanvasElement, "requestPaint") : undefined
const capture = fast ? method(HTMLCanvasElement, "captureElementImage") : undefined
const patience = 500 // ms of the real clock
let changed = true // since the last record; the browser may paint between two
let painted // called at the next paint

function onPaint(e) {
  if (e.changedElements.length > 0) changed = true
  painted?.()
}

// record waits until the browser has laid the page out, and gives the record,
// or nothing when it is the same as the last. A request that the browser drops,
// as it may while it sizes or shows a page, is made again.
function record() {
  return new Promise((keep, fail) => {
    let timer
    const ask = () => {
      request(paper)
      timer = setTimeout(ask, patience)
    }
    painted = () => {
      painted = undefined
      clearTimeout(timer)
      try {
        if (!changed) return keep(undefined)
        keep(capture(paper, root))
        changed = false
      } catch (e) {
        fail(new SceneError("browser_failed", `the page could not be recorded: ${e.message}`))
      }
    }
    ask()
  })
}

// ahead is how many frames may be on their way to the painter.
const ahead = 2

// run draws the frames from..to-1 into the ring; those from first on are drawn
// before, for nobody to see.
async function run({ run, first, from, to, sequential }) {
  const flight = []
  let frame = first, stopped = false, failure
  const land = async n => {
    while (flight.length > n) if ((await flight.shift()).stopped) stopped = true
  }
  try {
    for (; frame < to && !stopped; frame++) {
      if (frame < from) {
        await painter("drawing", { frame })
        await turn(frame, sequential)
        continue
      }
      const begun = now()
      await turn(frame, sequential)
      const image = await record()
      shim.late()
      flight.push(painter("put", { run, frame, image, cost: now() - begun }, image ? [image] : []))
      await land(ahead - 1)
    }
  } catch (e) {
    changed = true // this frame's record may be lost
    failure = explain(e)
  }
  try {
    await land(0)
  } catch (e) {
    failure ??= explain(e)
  }
  return { __proto__: null, error: failure, next: frame, notes: notes() }
}

// still draws one frame and gives its pixels as base64, or, when the host takes
// screenshots, leaves it on the page.
async function still({ first, frame, sequential }) {
  let at = first
  try {
    const begun = now()
    for (; at <= frame; at++) await turn(at, sequential)
    if (shots) {
      await settle()
      shim.late()
      return { __proto__: null, cost: round((now() - begun) * 1000), next: at, notes: notes() }
    }
    const image = await record()
    shim.late()
    const { pixels, cost } = await painter("give", { image, cost: now() - begun }, image ? [image] : [])
    return { __proto__: null, pixels, cost, next: at, notes: notes() }
  } catch (e) {
    changed = true
    return { __proto__: null, error: explain(e), next: at, notes: notes() }
  }
}

Object.defineProperty(globalThis, "__stage", {
  value: freeze({ load, prepare, run, still, phase: () => phase, frame: () => shim.frame() }),
})
