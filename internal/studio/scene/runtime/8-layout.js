// env.text: measuring, wrapping and fitting text on a 2D context. The font is
// the context's, unless one is given.

const layout = (() => {
  let graphemes;
  let words;

  function segment(s, granularity) {
    if (granularity === 'grapheme') {
      graphemes = graphemes || new Intl.Segmenter('en', { granularity });
      return graphemes.segment(s);
    }
    words = words || new Intl.Segmenter('en', { granularity });
    return words.segment(s);
  }

  function withFont(ctx, font, use) {
    if (!font) return use();
    const before = ctx.font;
    ctx.font = font;
    try {
      return use();
    } finally {
      ctx.font = before;
    }
  }

  const width = (ctx, s) => ctx.measureText(s).width;

  // pieces splits where a line may break: after spaces and hyphens, and between
  // the characters of scripts without spaces.
  function pieces(s) {
    const out = [];
    let piece = '';
    for (const { segment: w } of segment(s, 'word')) {
      const cjk = /[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]/.test(w);
      if (cjk && !/^[\u3001\u3002\uff0c\uff0e\uff01\uff1f\u300d\u300f\uff09]/.test(w) && piece) {
        out.push(piece);
        piece = '';
      }
      piece += w;
      if (/\s$|[-\u2010\u2013\u2014]$/.test(w)) {
        out.push(piece);
        piece = '';
      }
    }
    if (piece) out.push(piece);
    return out;
  }

  const lib = {
    measure(ctx, s, font) {
      return withFont(ctx, font, () => {
        const m = ctx.measureText(s);
        return {
          width: m.width,
          ascent: m.fontBoundingBoxAscent,
          descent: m.fontBoundingBoxDescent,
          top: m.actualBoundingBoxAscent,
          bottom: m.actualBoundingBoxDescent,
          left: m.actualBoundingBoxLeft,
          right: m.actualBoundingBoxRight,
        };
      });
    },

    // wrap gives the lines of a text, none wider than most. A word that is
    // wider stands alone.
    wrap(ctx, s, most, font) {
      return withFont(ctx, font, () => {
        const lines = [];
        for (const paragraph of String(s).split('\n')) {
          let line = '';
          for (const piece of pieces(paragraph)) {
            if (line && width(ctx, (line + piece).trimEnd()) > most) {
              lines.push(line.trimEnd());
              line = piece;
            } else {
              line += piece;
            }
          }
          lines.push(line.trimEnd());
        }
        return lines;
      });
    },

    // balance wraps into the same number of lines, but of widths that are as
    // even as they can be: for headlines.
    balance(ctx, s, most, font) {
      return withFont(ctx, font, () => {
        const n = lib.wrap(ctx, s, most).length;
        let low = 0;
        let high = most;
        for (let i = 0; i < 16; i++) {
          const mid = (low + high) / 2;
          const lines = lib.wrap(ctx, s, mid);
          if (lines.length > n || lines.some((l) => width(ctx, l) > most)) low = mid;
          else high = mid;
        }
        return lib.wrap(ctx, s, high);
      });
    },

    // fit is the largest size at which a text is no wider than width and, when
    // it is given, no higher than height; font makes a font of a size.
    fit(ctx, s, font, { width: w, height: h, max = 400, min = 8, leading = 1.15 }) {
      const lines = String(s).split('\n');
      const fits = (size) =>
        withFont(ctx, font(size), () => (h === undefined || lines.length * size * leading <= h) && lines.every((l) => width(ctx, l) <= w));
      let low = min;
      let high = max;
      if (fits(high)) return high;
      for (let i = 0; i < 20; i++) {
        const mid = (low + high) / 2;
        if (fits(mid)) low = mid;
        else high = mid;
      }
      return low;
    },

    // split gives the characters of a text with their places, kerned as they
    // are in the whole text: [{char, x, width, index, word}].
    split(ctx, s, font) {
      return withFont(ctx, font, () => {
        const out = [];
        let before = '';
        let x = 0;
        let word = 0;
        for (const { segment: char } of segment(String(s), 'grapheme')) {
          before += char;
          const end = width(ctx, before);
          out.push({ char, x, width: end - x, index: out.length, word });
          if (/\s/.test(char)) word++;
          x = end;
        }
        return out;
      });
    },

    // words gives the words of a text with their places.
    words(ctx, s, font) {
      return withFont(ctx, font, () => {
        const out = [];
        for (const m of String(s).matchAll(/\S+/g)) {
          const x = width(ctx, s.slice(0, m.index));
          out.push({ word: m[0], x, width: width(ctx, s.slice(0, m.index + m[0].length)) - x, index: out.length });
        }
        return out;
      });
    },

    // lines draws lines below each other and gives the height that they took.
    lines(ctx, list, x, y, leading) {
      (Array.isArray(list) ? list : String(list).split('\n')).forEach((l, i) => ctx.fillText(l, x, y + i * leading));
      return (Array.isArray(list) ? list.length : String(list).split('\n').length) * leading;
    },
  };
  return Object.freeze(lib);
})();
