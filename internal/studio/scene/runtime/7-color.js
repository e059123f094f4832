// Colours: parsed from #hex, rgb() and a few names, mixed in OKLab, where the
// middle of two colours looks like their middle.

const color = (() => {
  const cache = new Map();
  const NAMES = { white: [255, 255, 255, 1], black: [0, 0, 0, 1], transparent: [0, 0, 0, 0], red: [255, 0, 0, 1] };

  function parse(c) {
    if (Array.isArray(c)) return c.length === 3 ? [...c, 1] : c;
    let v = cache.get(c);
    if (v) return v;
    const s = String(c).trim().toLowerCase();
    let m = /^#([0-9a-f]{3,8})$/.exec(s);
    if (m && [3, 4, 6, 8].includes(m[1].length)) {
      const h = m[1].length < 5 ? m[1].replace(/./g, '$&$&') : m[1];
      v = [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16));
      v.push(h.length === 8 ? parseInt(h.slice(6), 16) / 255 : 1);
    } else if ((m = /^rgba?\(([^)]+)\)$/.exec(s))) {
      const p = m[1].split(/[\s,/]+/).filter(Boolean);
      const n = (x, whole) => (x.endsWith('%') ? (parseFloat(x) / 100) * whole : parseFloat(x));
      v = [n(p[0], 255), n(p[1], 255), n(p[2], 255), p[3] === undefined ? 1 : n(p[3], 1)];
    } else {
      v = NAMES[s];
    }
    if (!v || v.some(Number.isNaN)) fail('scene_threw', `env.color can't read ${JSON.stringify(c)}: write "#rrggbb" or "rgb(r g b / a)"`);
    if (cache.size > 5000) cache.clear();
    cache.set(c, v);
    return v;
  }

  const linear = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const gamma = (c) => 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);

  function toLab([r, g, b]) {
    r = linear(r);
    g = linear(g);
    b = linear(b);
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }

  function fromLab([L, a, b]) {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
      gamma(Math.max(0, 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)),
      gamma(Math.max(0, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)),
      gamma(Math.max(0, -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)),
    ];
  }

  function css([r, g, b, a = 1]) {
    const n = (x) => clamp(Math.round(x), 0, 255);
    return a >= 1 ? `rgb(${n(r)}, ${n(g)}, ${n(b)})` : `rgba(${n(r)}, ${n(g)}, ${n(b)}, ${+clamp(a).toFixed(4)})`;
  }

  const luminance = (c) => {
    const [r, g, b] = parse(c);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };

  const lib = {
    parse: (c) => [...parse(c)],
    alpha: (c, a) => css([...parse(c).slice(0, 3), parse(c)[3] * clamp(a)]),
    mix(a, b, t = 0.5) {
      t = clamp(t);
      const A = parse(a);
      const B = parse(b);
      const la = toLab(A);
      const lb = toLab(B);
      return css([...fromLab(la.map((x, i) => lerp(x, lb[i], t))), lerp(A[3], B[3], t)]);
    },
    // lighten moves the lightness by d, from -1 to 1.
    lighten(c, d) {
      const p = parse(c);
      const [L, a, b] = toLab(p);
      return css([...fromLab([clamp(L + d), a, b]), p[3]]);
    },
    ramp(list, t) {
      const x = clamp(t) * (list.length - 1);
      const i = Math.min(Math.floor(x), list.length - 2);
      return list.length < 2 ? css(parse(list[0])) : lib.mix(list[i], list[i + 1], x - i);
    },
    contrast(a, b) {
      const x = luminance(a);
      const y = luminance(b);
      return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    },
    // on picks of two colours the one that reads better on a background.
    on: (background, dark = '#111111', light = '#ffffff') => (lib.contrast(background, dark) > lib.contrast(background, light) ? dark : light),
  };
  return Object.freeze(lib);
})();
