// What the renderer's harness calls. It takes globalThis.__proofreel and
// deletes it before the scene is imported.

let env;
let styles = Object.create(null);

function deepFreeze(o) {
  if (o && typeof o === 'object' && !Object.isFrozen(o) && !ArrayBuffer.isView(o)) {
    Object.freeze(o);
    for (const v of Object.values(o)) deepFreeze(v);
  }
  return o;
}

// font makes a CSS font from a role of the style: env.font("display", 96), or
// from a family: env.font("Inter", 48, 600).
function font(role, size, weight, italic) {
  const style = env && env.style;
  const role_ = style && style.type && style.type[role];
  const family = role_ ? role_.family : role;
  const w = weight || (role_ && role_.weight) || 400;
  const slant = italic || (role_ && role_.italic) ? 'italic ' : '';
  return `${slant}${w} ${Math.round(size * 100) / 100}px "${family}"`;
}

function makeEnv(meta) {
  const frames = Math.max(1, Math.round(meta.duration * meta.fps));
  const e = {
    width: meta.width,
    height: meta.height,
    fps: meta.fps,
    duration: meta.duration,
    frames,
    seed: state.seed,
    kind: meta.kind || '2d',
    assets: Object.create(null),
    fonts: Object.freeze(text.families()),
    style: meta.style ? styles[meta.style] || null : null,
    rand: keyed,
    noise,
    ease,
    clamp,
    lerp,
    remap,
    progress,
    inOut,
    spring,
    keys,
    stagger,
    color,
    text: layout,
    font,
    TAU: Math.PI * 2,
  };
  // The clock's values live in getters: env itself can't be changed.
  Object.defineProperty(e, 'frame', { enumerable: true, get: () => state.frame });
  Object.defineProperty(e, 't', { enumerable: true, get: () => state.frame / state.fps });
  return e;
}

// plain makes meta something that JSON keeps: NaN and functions as text.
function plain(v, depth = 0) {
  if (typeof v === 'number') return Number.isFinite(v) ? v : String(v);
  if (v === null || typeof v === 'string' || typeof v === 'boolean') return v;
  if (v === undefined) return null;
  if (typeof v !== 'object' || depth > 3) return `${typeof v}`;
  if (Array.isArray(v)) return v.slice(0, 100).map((x) => plain(x, depth + 1));
  const out = {};
  for (const k of Object.keys(v).slice(0, 200)) out[k] = plain(v[k], depth + 1);
  return out;
}

async function loadAsset(name, file, bytes, type) {
  if (/\.svg$/i.test(file) && typeof Image !== 'function') {
    throw new SceneError('scene_asset', `asset ${name}: ${file}: an SVG can't be decoded in a worker: make it a PNG, import it as text, or take meta.kind "dom"`);
  }
  if (/\.(png|jpe?g|webp|gif|avif)$/i.test(file)) {
    try {
      return await native.createImageBitmap(new Blob([bytes], { type }), { colorSpaceConversion: 'default', premultiplyAlpha: 'default' });
    } catch (e) {
      throw new SceneError('scene_asset', `asset ${name}: ${file} can't be decoded as a picture`);
    }
  }
  if (/\.json$/i.test(file)) {
    try {
      return deepFreeze(JSON.parse(new TextDecoder().decode(bytes)));
    } catch (e) {
      throw new SceneError('scene_asset', `asset ${name}: ${file} is not JSON: ${e.message}`);
    }
  }
  if (/\.(txt|csv|tsv|svg|md|html|css|glsl|vert|frag|obj|srt|vtt)$/i.test(file)) return new TextDecoder().decode(bytes);
  return bytes;
}

const api = Object.freeze({
  native,
  refused: REFUSED,
  SceneError,

  // install makes the realm repeatable. It is called once, before the scene is
  // imported. options: {kind, families, glyphs: [[from, to]], styles}. It gives
  // what is wrong with the realm itself: the browser was started wrongly.
  install(options = {}) {
    if (state.installed) throw new Error('__proofreel.install was called twice');
    state.installed = true;
    Error.stackTraceLimit = 50;
    const wrong = installPlace();
    installLate();
    installPromises();
    installRandom();
    installDate();
    installPerformance();
    clock.install();
    installDated();
    text.install(options);
    installRefusals(options.kind);
    styles = deepFreeze(options.styles || {});
    return wrong;
  },

  // describe says what a module exports, for ParseMeta.
  describe(module) {
    return { meta: module.meta === undefined ? null : plain(module.meta), draw: typeof module.draw, setup: typeof module.setup, exports: Object.keys(module) };
  },

  // configure sets what meta says, after the host has checked it, and gives env.
  configure(meta) {
    state.fps = meta.fps;
    state.seed = meta.seed || 0;
    if (meta.sequential) state.sequential = true;
    random.seed(state.seed, LOADING);
    env = makeEnv(meta);
    return env;
  },

  // addAsset decodes a file's bytes and puts it into env.assets.
  async addAsset(name, file, bytes, type) {
    env.assets[name] = await loadAsset(name, file, bytes, type);
  },

  // ready closes env: after the assets are there, before setup.
  ready() {
    Object.freeze(env.assets);
    return Object.freeze(env);
  },

  // begin sets the clock to a frame, runs the timers that became due and begins
  // chance anew. It is called before each draw.
  begin(frame) {
    state.frame = frame;
    state.drawing = true;
    random.seed(state.seed, frame);
    clock.advance((frame * 1000) / state.fps);
    random.seed(state.seed, frame); // timers may have drawn from it
  },

  // sequential tells whether frames depend on those before: the scene said so,
  // or asked for a timer or an animation frame.
  sequential: () => state.sequential,
  frame: () => state.frame,

  // check refuses what draw gave back.
  check(result) {
    state.drawing = false;
    refuseThen();
    if (result && typeof result.then === 'function') {
      fail('scene_async', 'draw returned a Promise: it must draw at once; load and wait in setup');
    }
  },

  // late throws what went wrong since it was last asked, where nobody waited
  // for it.
  late() {
    refuseThen();
    const first = late.shift();
    late.length = 0;
    if (first) throw first;
  },

  // blame is for mistakes in code that no call of the harness's runs: it is
  // thrown there, where it may be caught or forgotten, and is late's as well.
  blame(code, message) {
    const e = new SceneError(code, message);
    fateful(e, '');
    throw e;
  },

  // failure makes of whatever was thrown what the host needs.
  failure(thrown) {
    late.length = 0;
    const was = thrown instanceof Late ? thrown : undefined;
    const e = was ? was.reason : thrown;
    const code = (e && e.sceneCode) || 'scene_threw';
    const is = e instanceof Error || (e && typeof e.stack === 'string');
    let message = is ? (code === 'scene_threw' ? `${e.name}: ${e.message}` : e.message) : `threw ${String(e)}`;
    message = short(message, TEXT);
    if (was && was.where && code === 'scene_threw') message += ` (${was.where})`;
    // A stack begins with the message and ends with the places.
    return { code, message, stack: is ? String(e.stack).slice(-STACK) : '', frame: was ? was.frame : state.frame };
  },

  // notes gives the warnings since the last call.
  notes: () => notes.splice(0),

  // watch turns on the list of drawn texts, which texts() gives and empties.
  watch: (on) => text.watch(on),
  texts: () => text.drain(),

  // For pages: text that stands in elements, and elements that are refused.
  checkText: (s) => text.checkText(s),
  checkFamilies: (list, shown) => text.checkFamilies(list, shown),
  checkElements(root) {
    const bad = root.querySelector(ELEMENTS.join(','));
    if (bad) fail('scene_unsupported', `<${bad.localName}> is refused: it would not give the same frames every time`);
  },
});

Object.defineProperty(G, '__proofreel', { value: api, writable: false, enumerable: false, configurable: true });
