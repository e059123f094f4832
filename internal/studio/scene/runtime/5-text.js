// Text on a canvas: only fonts of the library, only characters that they have.
// A canvas itself takes any other font and draws a box, without a word.

const GENERIC = Object.freeze(['sans-serif', 'serif', 'monospace', 'system-ui', 'ui-sans-serif', 'ui-serif', 'ui-monospace', 'ui-rounded', 'emoji', 'math', 'cursive', 'fantasy']);

const text = (() => {
  let families = new Map(); // lower case to the right spelling
  let covered; // a bit for each code point
  let scratchContext;
  const fonts = new Map(); // as set: undefined or an error
  const texts = new Map();
  const CACHE = 5000;
  let watching = false;
  let drawn = [];

  function setGlyphs(ranges) {
    covered = new Uint8Array(0x110000 >> 3);
    for (const [from, to] of ranges) {
      for (let c = from; c <= to; c++) covered[c >> 3] |= 1 << (c & 7);
    }
  }

  // Characters without a picture: controls, joiners, selectors, marks of
  // direction, tags.
  const invisible = (c) =>
    c < 0x20 || (c >= 0x7f && c <= 0xa0) || c === 0xad || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
    (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || c === 0xfeff || (c >= 0xe0000 && c <= 0xe0fff);

  const hex = (c) => `U+${c.toString(16).toUpperCase().padStart(4, '0')}`;

  function missing(s) {
    for (let i = 0; i < s.length; i++) {
      const c = s.codePointAt(i);
      if (c > 0xffff) i++;
      if (!(covered[c >> 3] & (1 << (c & 7))) && !invisible(c)) return c;
    }
    return -1;
  }

  function checkText(s) {
    if (!covered || texts.has(s)) return;
    const c = missing(s);
    if (c >= 0) {
      if (c >= 0xd800 && c <= 0xdfff) fail('scene_glyph', `the text ${quote(s)} holds half of a character (${hex(c)}): split texts by [...text] or env.text.split, not by index`);
      fail('scene_glyph', `no font has ${hex(c)} "${String.fromCodePoint(c)}", in the text ${quote(s)}`);
    }
    if (texts.size >= CACHE) texts.clear();
    texts.set(s, true);
  }

  function checkLines(s) {
    if (s.includes('\n')) note('text_newline', `the text ${quote(s)} holds a line break: a canvas draws it as a space; env.text.wrap splits lines`);
  }

  const quote = (s) => JSON.stringify(s.length > 60 ? `${s.slice(0, 60)}…` : s);

  // familiesOf splits the list at the end of a font, as the browser writes it.
  function familiesOf(font) {
    const list = font.replace(/^.*?\d(?:px|pt|em|rem|%|vw|vh|pc|in|cm|mm|q|ex|ch)(?:\s*\/\s*\S+)?\s+/i, '');
    return list.split(',').map((f) => f.trim().replace(/^["']|["']$/g, '')).filter(Boolean);
  }

  const own = (family) => families.has(family.toLowerCase()) || GENERIC.includes(family.toLowerCase());

  function checkFamilies(list, shown) {
    const at = list.findIndex(own);
    if (at === 0) return;
    const known = [...families.values()].join(', ');
    if (at < 0) fail('scene_font', `the font ${quote(shown)} is none of the library's; there are ${known}`);
    note('font_fallback', `the font ${quote(shown)} is drawn as ${list[at]}: ${list[0]} is not in the library; there are ${known}`);
  }

  function checkFont(font, setFont) {
    if (fonts.has(font) || families.size === 0) return;
    if (!scratchContext) {
      if (typeof OffscreenCanvas !== 'function') return;
      scratchContext = new OffscreenCanvas(8, 8).getContext('2d');
    }
    setFont.call(scratchContext, '1px x-proofreel-unset');
    const unset = scratchContext.font;
    setFont.call(scratchContext, font);
    const parsed = scratchContext.font;
    if (parsed === unset) {
      fail('scene_font', `the font ${quote(String(font))} can't be parsed, and a canvas would keep the one before: write style, weight, size and family, as "italic 600 48px Inter"`);
    }
    checkFamilies(familiesOf(parsed), String(font));
    if (fonts.size >= CACHE) fonts.clear();
    fonts.set(font, true);
  }

  function record(context, s, x, y) {
    const m = measure.call(context, s);
    const t = context.getTransform();
    const left = x - m.actualBoundingBoxLeft;
    const top = y - m.actualBoundingBoxAscent;
    const right = x + m.actualBoundingBoxRight;
    const bottom = y + m.actualBoundingBoxDescent;
    const xs = [];
    const ys = [];
    for (const [px, py] of [[left, top], [right, top], [left, bottom], [right, bottom]]) {
      xs.push(t.a * px + t.c * py + t.e);
      ys.push(t.b * px + t.d * py + t.f);
    }
    const size = /(\d+(?:\.\d+)?)px/.exec(context.font);
    drawn.push({
      text: s.slice(0, 200),
      frame: state.frame,
      size: (size ? Number(size[1]) : 0) * Math.hypot(t.c, t.d),
      box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
      fill: typeof context.fillStyle === 'string' ? context.fillStyle : '',
      alpha: context.globalAlpha,
      stack: new Error('').stack,
    });
  }

  let measure;

  function wrap(Context) {
    const proto = Context.prototype;
    const font = Object.getOwnPropertyDescriptor(proto, 'font');
    Object.defineProperty(proto, 'font', {
      configurable: false,
      enumerable: true,
      get: font.get,
      set(value) {
        checkFont(value, font.set);
        font.set.call(this, value);
      },
    });
    const fill = proto.fillText;
    const stroke = proto.strokeText;
    const measured = proto.measureText;
    measure = measure || measured;
    fix(proto, 'fillText', function fillText(s, x, y, width) {
      s = String(s);
      checkText(s);
      checkLines(s);
      if (watching && drawn.length < 5000 && this.globalAlpha > 0.05 && s.trim() !== '') record(this, s, x, y);
      return width === undefined ? fill.call(this, s, x, y) : fill.call(this, s, x, y, width);
    });
    fix(proto, 'strokeText', function strokeText(s, x, y, width) {
      s = String(s);
      checkText(s);
      return width === undefined ? stroke.call(this, s, x, y) : stroke.call(this, s, x, y, width);
    });
    fix(proto, 'measureText', function measureText(s) {
      s = String(s);
      checkText(s);
      return measured.call(this, s);
    });
  }

  return {
    checkText,
    checkFamilies,
    familiesOf,
    families: () => [...families.values()],
    install(options) {
      families = new Map((options.families || []).map((f) => [f.toLowerCase(), f]));
      if (options.glyphs) setGlyphs(options.glyphs);
      for (const Context of [G.OffscreenCanvasRenderingContext2D, G.CanvasRenderingContext2D]) {
        if (typeof Context === 'function') wrap(Context);
      }
    },
    watch(on) {
      watching = on;
      drawn = [];
    },
    drain() {
      const all = drawn;
      drawn = [];
      return all;
    },
  };
})();
