// The painter of a page that draws a scene of kind dom: a worker that gets what
// the page recorded of each frame, draws it onto the page's canvas, and hands
// the pixels to the host. No code of the scene's runs here. dom.js is the page.
import { Ring } from "./ring.js"

let width, height, canvas, context, pixels, ring
let work = Promise.resolve() // frames are painted one after the other

function open(o) {
  ({ width, height, canvas } = o)
  context = canvas.getContext("2d", { alpha: false, willReadFrequently: true })
  pixels = new Uint8Array(width * height * 4)
  const frame = new VideoFrame(canvas, { timestamp: 0 })
  const { format } = frame, size = frame.allocationSize()
  frame.close()
  if (!/^(BGR|RGB)[AX]$/.test(format) || size !== pixels.byteLength) {
    throw new Error(`the browser's canvas is ${format} with ${size} bytes`)
  }
  return format.slice(0, 3).toLowerCase()
}

// paint puts the frame's pixels into pixels. Without an image nothing has
// changed since the frame before.
async function paint(image) {
  if (!image) return
  context.reset()
  context.drawElementImage(image, 0, 0, width, height)
  image.close()
  const frame = new VideoFrame(canvas, { timestamp: 0 })
  await frame.copyTo(pixels)
  frame.close()
}

// put hands a frame over. When the host wants no more, the frame is painted
// all the same: the next may be one in which nothing changed.
async function put({ run, frame, image, cost }) {
  const stopped = !ring.room(run)
  const begun = performance.now()
  await paint(image)
  if (!stopped) ring.put(frame, pixels, Math.round((cost + performance.now() - begun) * 1000))
  return { stopped }
}

async function give({ image, cost }) {
  const begun = performance.now()
  await paint(image)
  cost += performance.now() - begun
  const url = new FileReaderSync().readAsDataURL(new Blob([pixels]))
  return { pixels: url.slice(url.indexOf(",") + 1), cost: Math.round(cost * 1000) }
}

async function answer(m) {
  switch (m.what) {
    case "open": {
      const layout = open(m)
      if (m.ring) ring = await Ring.open(m.ring)
      return { layout }
    }
    case "drawing":
      ring?.drawing(m.frame)
      return {}
    case "put":
      return put(m)
    default:
      return give(m)
  }
}

onmessage = ({ data }) => {
  work = work.then(() => answer(data)).then(
    a => postMessage({ ...a, id: data.id }),
    e => postMessage({ id: data.id, error: String(e?.message ?? e), code: e?.sceneCode }),
  )
}
