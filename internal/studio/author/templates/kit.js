// The kit: what every look shares. Sizes are for 1080 lines, times are seconds.
const kept = new Map(); // by this worker: how texts were fitted, what was painted once

function once(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}

const unit = (env) => Math.min(env.width, env.height) / 1080;
const tall = (env) => env.height > env.width * 1.1;
const margin = (env) => env.style.space.margin * unit(env) * (env.width < env.height * 1.1 ? 0.72 : 1);
const two = (n) => String(n).padStart(2, '0');

// The parts of the film, each with its beginning and end. A short film says
// less, and each part stands long enough to be read.
function parts(env) {
  return once('parts', () => {
    const long = env.duration;
    const body = [];
    const has = FILM.points.length;
    if (long < 9) {
      if (FILM.figures.length > 1 || (FILM.figures.length && !has)) body.push({ kind: 'figures', weight: 1.2 });
      else if (has) body.push({ kind: 'list', items: FILM.points.slice(0, 3), weight: 1.35 });
      else if (FILM.lead) body.push({ kind: 'point', text: FILM.lead, index: 0, of: 1, weight: 1 });
    } else {
      const most = Math.max(2, Math.floor((long * 0.62) / 2.4));
      const points = FILM.points.slice(0, most);
      points.forEach((text, index) => body.push({ kind: 'point', text, index, of: points.length, weight: 0.8 + text.length / 110 }));
      if (!has && FILM.lead) body.push({ kind: 'point', text: FILM.lead, index: 0, of: 1, weight: 1 });
      if (FILM.figures.length) body.splice(Math.ceil(body.length / 2), 0, { kind: 'figures', weight: 1.3 });
      else if (points.length > 2 && long >= 18) body.push({ kind: 'list', items: points.slice(0, 5), weight: 1.2 });
    }
    const all = [{ kind: 'title', weight: 1.3 }, ...body, { kind: 'close', weight: 1.05 }];
    const sum = all.reduce((n, p) => n + p.weight, 0);
    let from = 0;
    return all.map((p, i) => {
      const to = i === all.length - 1 ? long : from + (p.weight / sum) * long;
      const part = { ...p, from, to, length: to - from, place: i, last: i === all.length - 1 };
      from = to;
      return part;
    });
  });
}

const partAt = (t, env) => parts(env).find((p) => t < p.to) || parts(env).at(-1);

// Where a part is: s since its beginning; out goes from 1 to 0 at its end.
function local(t, p, env, leave = 0.4) {
  const s = t - p.from;
  return { s, out: p.last ? 1 : 1 - env.progress(s, p.length - leave, leave, env.style.motion.leave.ease) };
}

const enterEase = (env) => env.style.motion.enter.ease;
// A short film hurries, so that its texts stand.
const pace = (env) => (env.duration < 8 ? 0.62 : 1);
const enterTime = (env) => env.style.motion.enter.duration * pace(env);
const stagger = (env) => env.style.motion.stagger * pace(env);

// face sets a role's font and tracking, and gives the text as it is set in it.
function face(ctx, env, role, size, text = '', italic) {
  const r = env.style.type[role];
  ctx.font = italic === undefined ? env.font(role, size) : env.font(role, size, r.weight, italic);
  ctx.letterSpacing = `${(r.tracking * size).toFixed(2)}px`;
  return r.upper ? text.toLocaleUpperCase('en') : text;
}

// fit sets a text as large as its role and its box allow, in lines of even
// widths.
function fit(ctx, env, role, text, width, height, most = 3, scale = 1) {
  return once(`fit ${role} ${width} ${height} ${most} ${scale} ${text}`, () => {
    const r = env.style.type[role];
    const s = r.upper ? text.toLocaleUpperCase('en') : text;
    const least = 20 * unit(env);
    ctx.letterSpacing = '0px';
    for (let size = r.size[1] * unit(env) * scale; ; size *= 0.95) {
      const font = env.font(role, size);
      const lines = env.text.balance(ctx, s, width, font);
      const extra = Math.max(0, r.tracking) * size;
      const widest = Math.max(...lines.map((l) => env.text.measure(ctx, l, font).width + extra * l.length));
      if (size <= least || (lines.length <= most && widest <= width && lines.length * size * r.leading <= height)) {
        return { role, lines, size, leading: size * r.leading, height: (lines.length - 1) * size * r.leading + size * 0.76, width: widest };
      }
    }
  });
}

// fitRow gives the one size at which several short texts fit side by side.
function fitRow(ctx, env, role, texts, width, height, scale = 1) {
  return Math.min(...texts.map((s) => fit(ctx, env, role, s, width, height, 1, scale).size));
}

// rise draws fitted lines whose top is at y: each comes from behind its own
// baseline, and goes up when the part ends.
function rise(ctx, env, f, x, y, s, start, out, color, options = {}) {
  const { align = 'left', accent = '', italicLast = false } = options;
  ctx.textAlign = align;
  f.lines.forEach((line, i) => {
    const k = env.progress(s, start * pace(env) + i * stagger(env) * 1.4, enterTime(env), enterEase(env));
    const base = y + f.size * 0.76 + i * f.leading;
    const last = i === f.lines.length - 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, base - f.size * 0.98, env.width, f.size * 1.3);
    ctx.clip();
    face(ctx, env, f.role, f.size, '', italicLast && last && f.lines.length > 1 ? true : undefined);
    ctx.fillStyle = accent && last && f.lines.length > 1 ? accent : color;
    ctx.fillText(line, x, base + f.size * 1.3 * (1 - k) - f.size * 1.3 * (1 - out));
    ctx.restore();
  });
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}

// fade draws fitted lines that come up softly.
function fade(ctx, env, f, x, y, s, start, out, color, align = 'left') {
  ctx.textAlign = align;
  face(ctx, env, f.role, f.size);
  ctx.fillStyle = color;
  f.lines.forEach((line, i) => {
    const k = env.progress(s, start * pace(env) + i * stagger(env), enterTime(env), enterEase(env));
    ctx.globalAlpha = Math.min(1, Math.max(0, k * out));
    if (k > 0 && out > 0) ctx.fillText(line, x, y + f.size * 0.76 + i * f.leading + f.size * 0.5 * (1 - k));
  });
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}

// label draws one short line in the label's role, cut to its width.
function label(ctx, env, text, x, y, alpha, color, align = 'left', scale = 1) {
  if (!text || alpha <= 0) return;
  ctx.textAlign = align;
  const s = face(ctx, env, 'label', env.style.type.label.size[0] * unit(env) * scale, text);
  ctx.fillStyle = color;
  ctx.globalAlpha = Math.min(1, alpha);
  ctx.fillText(s, x, y);
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}

// figureText is a figure while it counts up to its value.
function figureText(f, k) {
  const [whole, part] = (f.value * k).toFixed(f.decimals).split('.');
  return f.prefix + whole.replace(/\B(?=(\d{3})+$)/g, ',') + (part ? `.${part}` : '') + f.suffix;
}

// sameUnit says whether the figures can stand side by side as bars.
const sameUnit = () => FILM.figures.length > 1 && FILM.figures.every((f) => f.suffix === FILM.figures[0].suffix && f.prefix === FILM.figures[0].prefix);
const largest = () => Math.max(...FILM.figures.map((f) => f.value), 1e-9);

// grain is a tile of fine noise, made once.
function grain(ctx, env, alpha) {
  const tile = once('grain', () => {
    const c = new OffscreenCanvas(256, 256);
    const g = c.getContext('2d');
    const img = g.createImageData(256, 256);
    for (let i = 0; i < 65536; i++) {
      const v = env.rand('grain', i) * 255;
      img.data.set([v, v, v, 255], i * 4);
    }
    g.putImageData(img, 0, 0);
    return c;
  });
  ctx.globalAlpha = alpha;
  ctx.fillStyle = ctx.createPattern(tile, 'repeat');
  ctx.fillRect(0, 0, env.width, env.height);
  ctx.globalAlpha = 1;
}

// Below this line is the look. Its draw calls one painter for each kind of part.
