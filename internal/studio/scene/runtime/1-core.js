// What the rest needs of the realm, taken before any scene can change it, and
// the state of the run. All files of this folder are one function: see
// runtime.go.
const G = globalThis;
const native = Object.freeze({
  setTimeout: G.setTimeout.bind(G),
  clearTimeout: G.clearTimeout.bind(G),
  fetch: typeof G.fetch === 'function' ? G.fetch.bind(G) : undefined,
  postMessage: typeof G.postMessage === 'function' ? G.postMessage.bind(G) : undefined,
  now: performance.now.bind(performance),
  Date: G.Date,
  createImageBitmap: typeof G.createImageBitmap === 'function' ? G.createImageBitmap.bind(G) : undefined,
  requestAnimationFrame: typeof G.requestAnimationFrame === 'function' ? G.requestAnimationFrame.bind(G) : undefined,
});
const LOADING = -1;
// The scene's world began on Thursday, 1 January 2026, 00:00 UTC.
const EPOCH = 1767225600000;

const state = {
  installed: false,
  frame: LOADING,
  fps: 30,
  seed: 0,
  now: 0, // milliseconds of the scene's clock
  sequential: false,
  drawing: false, // from begin to check: a frame is made
};

// SceneError carries the code by which the renderer reports it.
class SceneError extends Error {
  constructor(code, message) {
    super(message);
    Object.defineProperty(this, 'name', { value: 'SceneError' });
    Object.defineProperty(this, 'sceneCode', { value: code });
  }
}

// The most that is told of a text that the scene made, in characters: the host
// reads it all.
const TEXT = 1000;
const STACK = 20000;
const short = (s, most) => (s.length > most ? `${s.slice(0, most)}…` : s);

const NOTES = 200;
const notes = [];
const noted = new Set();
// note keeps a warning, each text once, with the stack that tells its line.
function note(code, text, stack) {
  text = short(String(text), TEXT);
  if (notes.length >= NOTES || noted.has(code + text)) return;
  noted.add(code + text);
  notes.push({ code, text, frame: state.frame, stack: String(stack || new Error('').stack).slice(-STACK) });
}

// fail throws what the scene could catch and forget: so it is noted as well.
function fail(code, message) {
  const e = new SceneError(code, message);
  note(code, message, e.stack);
  throw e;
}

function fix(object, name, value) {
  Object.defineProperty(object, name, { value, writable: false, enumerable: false, configurable: false });
}

function fixGetter(object, name, get) {
  Object.defineProperty(object, name, { get, set: undefined, enumerable: true, configurable: false });
}
