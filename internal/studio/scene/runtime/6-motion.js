// What env has for motion: easing, springs, keyframes. All are functions of
// their arguments.

const clamp = (x, low = 0, high = 1) => (x < low ? low : x > high ? high : x);
const lerp = (a, b, t) => a + (b - a) * t;
const remap = (x, a, b, c, d, easing) => lerp(c, d, ease.of(easing)(clamp((x - a) / (b - a || 1e-9))));

const ease = (() => {
  const out = (f) => (t) => 1 - f(1 - t);
  const inOut = (f) => (t) => (t < 0.5 ? f(2 * t) / 2 : 1 - f(2 - 2 * t) / 2);
  const shapes = {
    Quad: (t) => t * t,
    Cubic: (t) => t * t * t,
    Quart: (t) => t * t * t * t,
    Quint: (t) => t * t * t * t * t,
    Sine: (t) => 1 - Math.cos((t * Math.PI) / 2),
    Expo: (t) => (t <= 0 ? 0 : 2 ** (10 * t - 10)),
    Circ: (t) => 1 - Math.sqrt(Math.max(0, 1 - t * t)),
    Back: (t) => t * t * (2.70158 * t - 1.70158),
    Elastic: (t) => (t <= 0 ? 0 : t >= 1 ? 1 : -(2 ** (10 * t - 10)) * Math.sin(((t * 10 - 10.75) * 2 * Math.PI) / 3)),
    Bounce: out((t) => {
      const n = 7.5625;
      const d = 2.75;
      if (t < 1 / d) return n * t * t;
      if (t < 2 / d) return n * (t -= 1.5 / d) * t + 0.75;
      if (t < 2.5 / d) return n * (t -= 2.25 / d) * t + 0.9375;
      return n * (t -= 2.625 / d) * t + 0.984375;
    }),
  };
  // The ends are exact: what is over stands still, what is to come is not seen.
  const exact = (f) => (t) => (t <= 0 ? 0 : t >= 1 ? 1 : f(t));
  const all = { linear: (t) => t };
  for (const [name, f] of Object.entries(shapes)) {
    all[`in${name}`] = exact(f);
    all[`out${name}`] = exact(out(f));
    all[`inOut${name}`] = exact(inOut(f));
  }
  // bezier is CSS's cubic-bezier.
  const made = new Map();
  all.bezier = (x1, y1, x2, y2) => {
    const key = `${x1},${y1},${x2},${y2}`;
    if (made.has(key)) return made.get(key);
    const at = (a, b, t) => ((1 - 3 * b + 3 * a) * t + (3 * b - 6 * a)) * t * t + 3 * a * t;
    const f = (x) => {
      if (x <= 0) return 0;
      if (x >= 1) return 1;
      let low = 0;
      let high = 1;
      let t = x;
      for (let i = 0; i < 40; i++) {
        const d = at(x1, x2, t) - x;
        if (Math.abs(d) < 1e-7) break;
        if (d > 0) high = t;
        else low = t;
        t = (low + high) / 2;
      }
      return at(y1, y2, t);
    };
    made.set(key, f);
    return f;
  };
  all.steps = (n) => (t) => Math.min(n, Math.floor(t * n + 1e-9)) / n;
  // of takes a name, four numbers or a function.
  all.of = (e) => {
    if (e === undefined) return all.inOutCubic;
    if (typeof e === 'function') return e;
    if (Array.isArray(e) && e.length === 4) return all.bezier(...e);
    if (typeof e === 'string' && typeof all[e] === 'function' && !['of', 'bezier', 'steps'].includes(e)) return all[e];
    return fail('scene_threw', `there is no easing ${JSON.stringify(e)}: env.ease has ${Object.keys(all).slice(0, 31).join(', ')}`);
  };
  return Object.freeze(all);
})();

// progress goes from 0 to 1 while t goes from start to start + length.
function progress(t, start, length, easing) {
  return ease.of(easing)(clamp((t - start) / Math.max(length, 1e-9)));
}

// inOut goes from 0 to 1 at the start, stays, and goes back at the end.
function inOut(t, start, end, enter = 0.5, leave = enter, easing) {
  return Math.min(progress(t, start, enter, easing), 1 - progress(t, end - leave, leave, easing));
}

// spring is the place of a damped spring at time t that was let go at 0 and
// comes to rest at 1.
function spring(t, { stiffness = 170, damping = 20, mass = 1, velocity = 0 } = {}) {
  if (t <= 0) return 0;
  const w0 = Math.sqrt(stiffness / mass);
  const zeta = damping / (2 * Math.sqrt(stiffness * mass));
  if (zeta < 1) {
    const wd = w0 * Math.sqrt(1 - zeta * zeta);
    return 1 - Math.exp(-zeta * w0 * t) * (Math.cos(wd * t) + ((zeta * w0 - velocity) / wd) * Math.sin(wd * t));
  }
  if (zeta === 1) return 1 - Math.exp(-w0 * t) * (1 + (w0 - velocity) * t);
  const r = w0 * Math.sqrt(zeta * zeta - 1);
  const a = -zeta * w0 + r;
  const b = -zeta * w0 - r;
  const k = (b + velocity) / (b - a);
  return 1 - (k * Math.exp(a * t) + (1 - k) * Math.exp(b * t));
}

// keys interpolates between [time, value, easing] in order of time; the easing
// is that of the way to the entry. Values are numbers, arrays of them, or
// colours.
function keys(t, list) {
  if (!Array.isArray(list) || list.length === 0) fail('scene_threw', 'env.keys takes a list of [time, value, easing]');
  if (t <= list[0][0]) return list[0][1];
  for (let i = 1; i < list.length; i++) {
    const [time, value, easing] = list[i];
    if (t < time) {
      const [before, from] = list[i - 1];
      return between(from, value, ease.of(easing)((t - before) / (time - before)));
    }
  }
  return list[list.length - 1][1];
}

function between(a, b, t) {
  if (typeof a === 'number') return lerp(a, b, t);
  if (Array.isArray(a)) return a.map((x, i) => between(x, b[i], t));
  if (typeof a === 'string') return color.mix(a, b, t);
  return t < 1 ? a : b;
}

// stagger is the start of the i-th of n things whose starts are spread over
// time; from says which comes first: "start", "end", "center", "edges",
// "random", or an index.
function stagger(i, n, spread, from = 'start') {
  if (n < 2) return 0;
  const middle = (n - 1) / 2;
  let order = i;
  let most = n - 1;
  if (from === 'end') order = n - 1 - i;
  else if (from === 'center') {
    order = Math.abs(i - middle);
    most = middle;
  } else if (from === 'edges') {
    order = middle - Math.abs(i - middle);
    most = middle;
  } else if (from === 'random') {
    order = keyed('stagger', i, n);
    most = 1;
  } else if (typeof from === 'number') {
    order = Math.abs(i - from);
    most = Math.max(from, n - 1 - from);
  }
  return (order / (most || 1)) * spread;
}
