// The ring: frames on their way from a worker to the host, through a file of
// the origin's private file system that the host finds in the browser's
// profile. Layout, little-endian (ring.go reads it):
//
//	     0  the ring's id, 32 bytes of ASCII
//	    64  u32 frames written so far, of all runs
//	    68  u32 1 + the frame that is being drawn, 0 for none
//	   128  for each slot u32 the number of the frame in it, u32 the
//	        microseconds that it took to draw
//	  4096  u32 frames that the host has let go of   (the host writes this)
//	  4100  u32 the run that the host wants ended    (and this)
//	  8192  the slots
//
// Writes are system calls on a page that both sides share, so what was written
// first is seen first.

const controlAt = 4096
const slotsAt = 8192

const storage = navigator.storage
const { min } = Math
const sleepCell = new Int32Array(new SharedArrayBuffer(4))
const sleep = Atomics.wait.bind(Atomics, sleepCell, 0, 0) // by the real clock, in ms

export class Ring {
  #file
  #slots
  #bytes
  #written = 0
  #head // what stands at 64, up to the end of the slots' numbers
  #control = new Uint32Array(2)

  static async open({ name, id, slots, bytes }) {
    const root = await storage.getDirectory()
    const handle = await root.getFileHandle(name, { create: true })
    const file = await handle.createSyncAccessHandle()
    file.truncate(slotsAt + slots * bytes)
    const ring = new Ring()
    ring.#file = file
    ring.#slots = slots
    ring.#bytes = bytes
    ring.#head = new Uint32Array(16 + 2 * slots)
    const letters = new Uint8Array(32)
    for (let i = 0; i < 32; i++) letters[i] = id.charCodeAt(i)
    ring.#write(letters, 0)
    return ring
  }

  #write(view, at) {
    let n = 0
    let why = ""
    try {
      n = this.#file.write(view, { at })
    } catch (e) {
      why = `: ${e.name}` // QuotaExceededError
    }
    if (n === view.byteLength) return
    const e = new Error(`${n} of ${view.byteLength} bytes of a frame could be written${why}`)
    e.sceneCode = "disk_full"
    throw e
  }

  // room waits until a slot is free. False: the host wants the run ended.
  room(run) {
    for (let ms = 0.5; ; ms = min(ms * 1.5, 4)) {
      this.#file.read(this.#control, { at: controlAt })
      if (this.#control[1] === run) return false
      if (((this.#written - this.#control[0]) >>> 0) < this.#slots) return true
      sleep(ms)
    }
  }

  // drawing notes which frame is being drawn, for frames that are not put.
  drawing(frame) {
    this.#head[1] = frame + 1
    this.#write(this.#head, 64)
  }

  // put hands a frame over. There must be room.
  put(frame, pixels, cost) {
    const slot = this.#written % this.#slots
    this.#write(pixels, slotsAt + slot * this.#bytes)
    this.#head[16 + 2 * slot] = frame
    this.#head[17 + 2 * slot] = cost
    this.#head[1] = 0
    this.#written = (this.#written + 1) >>> 0
    this.#head[0] = this.#written
    this.#write(this.#head, 64)
  }
}
