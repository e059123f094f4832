// What goes wrong where nobody waits for it: in promises, in callbacks of the
// browser's. The harness asks for it after each frame.

const LATE = 20;
const late = [];

class Late {
  constructor(reason, where, frame) {
    this.reason = reason;
    this.where = where;
    this.frame = frame;
  }
}

function fateful(reason, where) {
  if (late.length < LATE) late.push(new Late(reason, where, state.frame));
}

function installLate() {
  G.addEventListener('unhandledrejection', (e) => {
    e.preventDefault();
    fateful(e.reason, 'in a promise that nobody waits for');
  });
  G.addEventListener('error', (e) => {
    if (e.error === null || e.error === undefined) return; // the browser's own complaints
    e.preventDefault();
    fateful(e.error, 'in a callback');
  });
}

// inSetupOnly refuses, while frames are drawn, what is answered by a promise:
// no frame waits for it, so which frame it came in time for would differ.
function inSetupOnly(owner, name, shown) {
  const is = owner && owner[name];
  if (typeof is !== 'function') return;
  Object.defineProperty(owner, name, {
    configurable: true, // installRandom refuses some of these altogether
    writable: false,
    value(...args) {
      if (state.drawing) fail('scene_async', `${shown} in draw: no frame waits for what it promises; call it in setup, and await it there`);
      return is.apply(this, args);
    },
  });
}

function installPromises() {
  inSetupOnly(G, 'createImageBitmap', 'createImageBitmap');
  for (const [type, names] of Object.entries({
    OffscreenCanvas: ['convertToBlob'],
    HTMLCanvasElement: ['toBlob'],
    Blob: ['text', 'arrayBuffer', 'bytes'],
    ImageDecoder: ['decode'],
    SubtleCrypto: typeof SubtleCrypto === 'function' ? Object.getOwnPropertyNames(SubtleCrypto.prototype).filter((name) => name !== 'constructor') : [], // all that it has
  })) {
    for (const name of names) inSetupOnly(G[type] && G[type].prototype, name, name);
  }
  for (const name of ['compile', 'instantiate']) inSetupOnly(WebAssembly, name, `WebAssembly.${name}`);
}

// With then on all objects, or on all lists, everything that is awaited is
// taken for a promise, also what the renderer awaits.
function refuseThen() {
  for (const [name, proto] of [['Object', Object.prototype], ['Array', Array.prototype]]) {
    if (!Object.prototype.hasOwnProperty.call(proto, 'then')) continue;
    Reflect.deleteProperty(proto, 'then');
    fail('scene_unsupported', `${name}.prototype.then is refused: every object would count as a promise`);
  }
}
