// A worker that draws a scene of kind 2d or webgl. The host calls what stands
// in globalThis.__stage; everything that the scene could change or that the
// shim takes away is taken here before either runs. worker.go is the other side.
import "./shim.js"
import { listen } from "./console.js"
import { Ring } from "./ring.js"
import { settle } from "./settle.js"

const shim = globalThis.__proofreel
delete globalThis.__proofreel
const { VideoFrame, OffscreenCanvas, WebGL2RenderingContext, FileReaderSync, Blob, Uint8Array } = globalThis
const { fetch, now } = shim.native
const { freeze, entries } = Object
const { round } = Math
const { SceneError } = shim
const method = (type, name) => Function.prototype.call.bind(type.prototype[name])

const { setPrototypeOf, create, defineProperty } = Object
const offscreen = name => Object.getOwnPropertyDescriptor(OffscreenCanvas.prototype, name)

const heard = listen(shim.frame)
const notes = () => [...shim.notes(), ...heard()]

let phase = "start" // what goes on, for an error that names it
let module, meta, env, canvas, context, reset, read, layout, ring, pixels
let begin = () => {}, close

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
    const wrong = shim.install(install)
    module = await import(address)
    await settle()
    shim.late()
    return { __proto__: null, report: shim.describe(module), wrong, notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), notes: notes() }
  }
}

async function prepare(o) {
  try {
    meta = o.meta
    env = shim.configure(meta)
    phase = "assets"
    await Promise.all(entries(meta.assets ?? {}).map(async ([name, file]) => {
      const answer = await fetch(`/assets/${encodeURIComponent(name)}`)
      if (!answer.ok) throw new SceneError("scene_asset", await answer.text())
      await shim.addAsset(name, file, await answer.arrayBuffer(), answer.headers.get("Content-Type"))
    }))
    shim.ready()
    pixels = new Uint8Array(meta.width * meta.height * 4)
    if (o.ring) ring = await Ring.open(o.ring)
    canvas = new OffscreenCanvas(meta.width, meta.height)
    keepSize()
    if (meta.kind === "webgl") openGL()
    else open2d()
    phase = "setup"
    await module.setup?.(env)
    await settle()
    shim.late()
    phase = "draw"
    return { __proto__: null, layout, sequential: shim.sequential(), notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), notes: notes() }
  }
}

// keepSize refuses another size of the canvas where it is set, which is a line
// of the author's: what is read would be a part of the picture, or none.
function keepSize() {
  for (const name of ["width", "height"]) {
    const { get, set } = offscreen(name)
    defineProperty(canvas, name, {
      get,
      set(v) {
        if (v >>> 0 !== meta[name]) {
          shim.blame("scene_unsupported", `the canvas is ${meta.width} x ${meta.height}, as meta says, and can't be given a ${name} of ${v}: ` +
            "leave its size alone (with three.js, no setPixelRatio, and setSize(env.width, env.height, false))")
        }
        set.call(this, v)
      },
    })
  }
}

// guard puts a context's painting methods out of use until open is called, and
// again when close is: outside of draw nothing would come of them, or something
// in one render and nothing in the next. A change of prototypes costs the
// methods themselves nothing.
function guard(type, names) {
  const shut = create(type.prototype)
  for (const name of names) {
    defineProperty(shut, name, { value() { shim.blame("scene_async", `${name} was called on ctx outside of draw: paint in draw, and wait for what it needs in setup`) } })
  }
  return { open: c => setPrototypeOf(c, type.prototype), close: c => setPrototypeOf(c, shut) }
}

// open2d reads with VideoFrame, which neither converts nor unmultiplies, into
// a target that is used again: getImageData makes a fresh one each time, which
// costs more than the drawing.
function open2d() {
  const type = globalThis.OffscreenCanvasRenderingContext2D
  context = canvas.getContext("2d", { alpha: false, willReadFrequently: true })
  const gate = guard(type, ["fillRect", "strokeRect", "clearRect", "fill", "stroke", "fillText", "strokeText", "drawImage", "putImageData", "reset"])
  gate.close(context)
  close = () => gate.close(context)
  const again = method(type, "reset"), fill = method(type, "fillRect")
  const setFill = method({ prototype: { set: Object.getOwnPropertyDescriptor(type.prototype, "fillStyle").set } }, "set")
  reset = () => {
    gate.open(context)
    again(context)
    if (!meta.background) return
    setFill(context, meta.background)
    fill(context, 0, 0, meta.width, meta.height)
    setFill(context, "#000000")
  }
  const copy = method(VideoFrame, "copyTo"), done = method(VideoFrame, "close")
  const frame = new VideoFrame(canvas, { timestamp: 0 })
  const { format } = frame
  if (!/^(BGR|RGB)[AX]$/.test(format) || frame.allocationSize() !== pixels.byteLength) {
    throw new SceneError("browser_failed", `the browser's canvas is ${format} with ${frame.allocationSize()} bytes`)
  }
  frame.close()
  layout = format.slice(0, 3).toLowerCase()
  read = async () => {
    const frame = new VideoFrame(canvas, { timestamp: 0 })
    await copy(frame, pixels)
    done(frame)
  }
}

// openGL makes the context when the scene first asks for ctx.gl. A scene that
// wants another kind of it, for instance without antialiasing, asks the canvas
// for one before. It is read from the bottom up, red first, as WebGL has it;
// the host turns it around. The scene's own bindings are put back.
function openGL() {
  const type = WebGL2RenderingContext
  const getContext = method(OffscreenCanvas, "getContext")
  let gl
  const open = () => {
    gl ??= getContext(canvas, "webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true })
    if (!gl) throw new SceneError("scene_unsupported", "the canvas has no WebGL2 context: of kind webgl a scene draws by WebGL2 alone")
    return gl
  }
  context = freeze({ canvas, get gl() { return open() } })
  const gate = guard(type, [
    "clear", "drawArrays", "drawElements", "drawRangeElements", "drawArraysInstanced", "drawElementsInstanced",
    "clearBufferfv", "clearBufferiv", "clearBufferuiv", "clearBufferfi", "blitFramebuffer",
  ])
  begin = () => gl && gate.open(gl) // also for timers: what they draw stays
  close = () => gl && gate.close(gl)
  reset = () => {}
  layout = "gl"
  const bind = method(type, "bindFramebuffer"), bindBuffer = method(type, "bindBuffer"), get = method(type, "getParameter")
  const store = method(type, "pixelStorei"), readPixels = method(type, "readPixels"), lost = method(type, "isContextLost")
  const packing = [type.PACK_ROW_LENGTH, type.PACK_SKIP_PIXELS, type.PACK_SKIP_ROWS]
  read = async () => {
    const gl = open()
    if (lost(gl)) throw new SceneError("scene_threw", "the WebGL context was lost")
    const framebuffer = get(gl, type.READ_FRAMEBUFFER_BINDING)
    const buffer = get(gl, type.PIXEL_PACK_BUFFER_BINDING)
    const packed = packing.map(p => get(gl, p))
    if (framebuffer) bind(gl, type.READ_FRAMEBUFFER, null)
    if (buffer) bindBuffer(gl, type.PIXEL_PACK_BUFFER, null)
    packing.forEach((p, i) => packed[i] && store(gl, p, 0))
    readPixels(gl, 0, 0, meta.width, meta.height, type.RGBA, type.UNSIGNED_BYTE, pixels)
    packing.forEach((p, i) => packed[i] && store(gl, p, packed[i]))
    if (buffer) bindBuffer(gl, type.PIXEL_PACK_BUFFER, buffer)
    if (framebuffer) bind(gl, type.READ_FRAMEBUFFER, framebuffer)
  }
}

const width = Function.prototype.call.bind(offscreen("width").get), height = Function.prototype.call.bind(offscreen("height").get)

// paint draws one frame onto the canvas.
function paint(frame, wasSequential) {
  begin()
  try {
    shim.begin(frame)
    reset()
    shim.check(module.draw(context, frame / meta.fps, frame, env))
  } finally {
    close()
  }
  if (width(canvas) !== meta.width || height(canvas) !== meta.height) {
    throw new SceneError("scene_unsupported", `the canvas is no longer ${meta.width} x ${meta.height}`)
  }
  if (!wasSequential && shim.sequential()) {
    throw new SceneError("scene_impure", "a timer or an animation frame was asked for in draw: say sequential: true in meta")
  }
}

// run draws the frames from..to-1 into the ring; those from first on are drawn
// before, for nobody to see.
async function run({ run, first, from, to, sequential }) {
  let frame = first
  try {
    for (; frame < to && ring.room(run); frame++) {
      if (frame < from) {
        ring.drawing(frame)
        paint(frame, sequential)
        continue
      }
      const begun = now()
      paint(frame, sequential)
      await read()
      await settle()
      shim.late()
      ring.put(frame, pixels, round((now() - begun) * 1000))
    }
    return { __proto__: null, next: frame, notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), next: frame, notes: notes() }
  }
}

// still draws one frame and gives its pixels as base64: the way that always works.
async function still({ first, frame, sequential }) {
  let at = first
  try {
    const begun = now()
    for (; at <= frame; at++) paint(at, sequential)
    await read()
    await settle()
    shim.late()
    const cost = round((now() - begun) * 1000)
    const url = new FileReaderSync().readAsDataURL(new Blob([pixels]))
    return { __proto__: null, pixels: url.slice(url.indexOf(",") + 1), cost, next: at, notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), next: at, notes: notes() }
  }
}

// texts draws one frame and tells which texts were drawn, and where.
async function texts({ frame }) {
  try {
    shim.watch(true)
    paint(frame, true)
    return { __proto__: null, texts: shim.texts(), notes: notes() }
  } catch (e) {
    return { __proto__: null, error: explain(e), notes: notes() }
  } finally {
    shim.watch(false)
  }
}

Object.defineProperty(globalThis, "__stage", {
  value: freeze({ load, prepare, run, still, texts, phase: () => phase, frame: () => shim.frame() }),
})
shim.native.postMessage("ready")
