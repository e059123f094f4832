// The look "glow": an object of light in the dark, that moves aside for words.
export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = partAt(t, env);
  const { s, out } = local(t, p, env);
  const place = object(t, env);
  sky(ctx, t, env, place);
  shells(ctx, t, env, place);
  ({ title, point, list, figures, close })[p.kind](ctx, s, out, env, p, W, H, style.palette, margin(env), unit(env));
  thread(ctx, t, env);
}

// Where the object of light is: in the middle for names, aside for words.
function object(t, env) {
  const { width: W, height: H } = env;
  const u = unit(env);
  const rest = (p) => {
    if (p.kind === 'title') return [W / 2, tall(env) ? H * 0.36 : H * 0.385, 350 * u, 1];
    if (p.kind === 'close') return [W / 2, tall(env) ? H * 0.4 : H * 0.36, 210 * u, 0.9];
    if (p.kind === 'figures') return [W / 2, H * 1.02, 620 * u, 0.6];
    return tall(env) ? [W * 0.5, H * 0.25, 330 * u, 0.85] : [W * 0.83, H * (0.44 + 0.1 * ((p.place % 3) - 1)), 480 * u, 0.8];
  };
  const steps = [];
  for (const p of parts(env)) {
    if (p.place === 0) steps.push([0, rest(p)]);
    else steps.push([p.from - 0.35, steps.at(-1)[1]], [p.from + 0.75, rest(p), [0.76, 0, 0.24, 1]]);
  }
  const [x, y, r, a] = env.keys(t, steps);
  return { x: x + 10 * u * Math.sin(t * 0.6), y: y + 8 * u * Math.cos(t * 0.47), r, a };
}

// Wide light has no detail: it is painted at an eighth of the size.
function sky(ctx, t, env, o) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const small = once('sky', () => new OffscreenCanvas(Math.ceil(W / 8), Math.ceil(H / 8)));
  const far = small.getContext('2d');
  far.setTransform(1 / 8, 0, 0, 1 / 8, 0, 0);
  far.fillStyle = p.background;
  far.fillRect(0, 0, W, H);
  const big = Math.max(W, H);
  light(far, env, o.x, o.y, big * 0.52, p.accent, 0.3 * env.progress(t, 0, 1.6, 'outCubic'));
  light(far, env, W * (0.2 + 0.06 * Math.sin(t * 0.4)), H * 1.02, big * 0.5, p.accent2, 0.22);
  light(far, env, W * 0.95, H * (0.06 + 0.05 * Math.cos(t * 0.33)), big * 0.34, p.series[2], 0.1);
  ctx.imageSmoothingQuality = 'high';
  ctx.drawImage(small, 0, 0, W, H);
  // A dither against bands.
  grain(ctx, env, 0.022);
}

function light(ctx, env, x, y, r, c, a) {
  const g = ctx.createRadialGradient(x, y, 0, x, y, r);
  for (let i = 0; i <= 8; i++) g.addColorStop(i / 8, env.color.alpha(c, a * (1 - i / 8) ** 2.6));
  ctx.fillStyle = g;
  ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
}

// Shells of thin arcs around a core.
function shells(ctx, t, env, o) {
  const { style, color, TAU } = env;
  const p = style.palette;
  const k = env.progress(t, 0, 2, 'outQuint');
  const u = o.r / 340;
  ctx.save();
  ctx.translate(o.x, o.y);
  ctx.scale(0.9 + 0.1 * k, 0.9 + 0.1 * k);
  ctx.globalCompositeOperation = 'lighter';
  ctx.lineCap = 'round';
  for (let i = 0; i < 48; i++) {
    const r = (88 + i * 5.4) * u;
    const a = env.rand('turn', i) * TAU + t * (0.1 + 0.5 * env.rand('speed', i)) * (i % 2 ? 1 : -1);
    const span = (0.3 + 1.7 * env.rand('span', i)) * k;
    const hue = color.mix(i % 4 === 1 ? p.series[2] : p.accent, i % 3 ? p.accent2 : '#e8eeff', env.rand('hue', i));
    ctx.strokeStyle = color.alpha(hue, (0.14 + 0.5 * env.rand('bright', i)) * (1 - i / 62) * o.a);
    ctx.lineWidth = (1.4 + 2.6 * env.rand('wide', i)) * Math.sqrt(u) * unit(env);
    ctx.beginPath();
    ctx.ellipse(0, 0, r, r * (0.86 + 0.14 * Math.sin(t * 0.7 + i)), i * 0.05, a, a + span);
    ctx.stroke();
  }
  light(ctx, env, 0, 0, 290 * u, '#dfe6ff', 0.92 * k * o.a);
  ctx.restore();
}

// The name's fill: white above, the accent's tint below.
function metal(ctx, env, y, h) {
  const p = env.style.palette;
  const g = ctx.createLinearGradient(0, y, 0, y + h);
  g.addColorStop(0, '#ffffff');
  g.addColorStop(1, env.color.mix(p.text, p.accent, 0.55));
  return g;
}

function title(ctx, s, out, env, p, W, H, c, m, u) {
  const f = fit(ctx, env, 'display', FILM.title, W - 2 * m, H * 0.27, tall(env) ? 4 : 2);
  const lead = FILM.lead ? fit(ctx, env, 'body', FILM.lead, Math.min(W - 2 * m, 1080 * u), 150 * u, 3, 1) : null;
  const bottom = tall(env) ? H * 0.76 : H * 0.8;
  const top = bottom - f.height;
  fadeTitle(ctx, env, f, W / 2, top, s, 0.55, out);
  if (lead) fade(ctx, env, lead, W / 2, bottom + 44 * u, s, 1.0, out, c.muted, 'center');
  if (FILM.kicker) label(ctx, env, FILM.kicker, W / 2, m * 0.62 + 20 * u, env.progress(s, 0.3, 1, 'outCubic') * out, c.muted, 'center');
}

function fadeTitle(ctx, env, f, x, top, s, start, out) {
  ctx.textAlign = 'center';
  face(ctx, env, f.role, f.size);
  f.lines.forEach((line, i) => {
    const k = env.progress(s, start * pace(env) + i * 0.14, enterTime(env), enterEase(env));
    const base = top + f.size * 0.76 + i * f.leading;
    ctx.globalAlpha = k * out;
    ctx.fillStyle = metal(ctx, env, base - f.size * 0.74, f.size);
    if (k * out > 0) ctx.fillText(line, x, base + 40 * unit(env) * (1 - k) - 30 * unit(env) * (1 - out));
  });
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}

function point(ctx, s, out, env, p, W, H, c, m, u) {
  const w = tall(env) ? W - 2 * m : W * 0.55;
  const few = p.text.length <= 16;
  const f = fit(ctx, env, few ? 'display' : 'heading', p.text, w, H * 0.42, 4, few ? 0.86 : 1.42);
  const top = tall(env) ? H * 0.56 : (H - f.height) / 2;
  const k = env.progress(s, 0.1, 0.9, 'outCubic') * out;
  if (p.of > 1) {
    ctx.fillStyle = c.accent;
    ctx.globalAlpha = k;
    ctx.fillRect(m, top - 78 * u, 56 * u * k, 3 * u);
    ctx.globalAlpha = 1;
    label(ctx, env, two(p.index + 1), m + 76 * u, top - 68 * u, k, c.accent);
    label(ctx, env, `of ${two(p.of)}`, m + 124 * u, top - 68 * u, k, c.muted);
  }
  fade(ctx, env, f, m, top, s, 0.2, out, c.text);
}

function list(ctx, s, out, env, p, W, H, c, m, u) {
  const w = tall(env) ? W - 2 * m : W * 0.58;
  const rows = p.items.map((item) => fit(ctx, env, 'heading', item, w - 96 * u, 150 * u, 2, p.items.length > 3 ? 0.7 : 0.86));
  const gap = 54 * u;
  const heights = rows.map((f) => f.height + gap);
  let y = tall(env) ? H * 0.52 : (H - heights.reduce((a, b) => a + b, -gap)) / 2;
  rows.forEach((f, i) => {
    const start = 0.12 + i * 0.16;
    const k = env.progress(s, start, 0.9, enterEase(env)) * out;
    label(ctx, env, two(i + 1), m, y + f.size * 0.72, k, c.accent);
    fade(ctx, env, f, m + 96 * u, y, s, start, out, c.text);
    y += heights[i];
    if (i < rows.length - 1) {
      ctx.fillStyle = c.line;
      ctx.globalAlpha = k;
      ctx.fillRect(m + 96 * u, y - gap / 2 - 1 * u, (w - 96 * u) * k, 1.5 * u);
      ctx.globalAlpha = 1;
    }
  });
}

function figures(ctx, s, out, env, p, W, H, c, m, u) {
  const n = FILM.figures.length;
  const down = tall(env) && n > 1;
  const w = (W - 2 * m) / (down ? 1 : n);
  const h = down ? (H * 0.66) / n : H * 0.5;
  const size = fitRow(ctx, env, 'display', FILM.figures.map((fig) => figureText(fig, 1)), w - 56 * u, h * 0.56, n > 3 ? 0.62 : 0.9);
  FILM.figures.forEach((fig, i) => {
    const x = down ? m : m + i * w;
    const y = down ? H * 0.12 + i * h : H * 0.28;
    const start = 0.15 + i * 0.16;
    const k = env.progress(s, start, 0.9, enterEase(env)) * out;
    ctx.fillStyle = c.line;
    ctx.globalAlpha = k;
    ctx.fillRect(x, y, (w - 56 * u) * k, 1.5 * u);
    ctx.fillStyle = c.series[i % c.series.length];
    const share = sameUnit() ? fig.value / largest() : 1;
    ctx.fillRect(x, y - 1 * u, (w - 56 * u) * share * env.progress(s, start + 0.2, 1.3, 'outExpo'), 4 * u);
    ctx.globalAlpha = k;
    face(ctx, env, 'display', size);
    ctx.fillStyle = metal(ctx, env, y + 50 * u, size);
    ctx.fillText(figureText(fig, env.progress(s, start, 1.4, 'outExpo')), x - size * 0.03, y + 56 * u + size * 0.76);
    ctx.globalAlpha = 1;
    ctx.letterSpacing = '0px';
    const l = fit(ctx, env, 'body', fig.label, w - 56 * u, 120 * u, 2, 1);
    fade(ctx, env, l, x, y + 92 * u + size * 0.8, s, start + 0.2, out, c.muted);
  });
}

function close(ctx, s, out, env, p, W, H, c, m, u) {
  const f = fit(ctx, env, 'display', FILM.title, W - 2 * m, H * 0.2, 2, 0.66);
  const top = tall(env) ? H * 0.58 : H * 0.64;
  fadeTitle(ctx, env, f, W / 2, top, s, 0.15, 1);
  const last = FILM.closing || FILM.lead;
  if (last) fade(ctx, env, fit(ctx, env, 'body', last, Math.min(W - 2 * m, 1000 * u), 110 * u, 2, 1), W / 2, top + f.height + 42 * u, s, 0.45, 1, c.muted, 'center');
}

// A thread of light at the foot shows how far the film is.
function thread(ctx, t, env) {
  const { width: W, height: H, style, color } = env;
  const u = unit(env);
  const k = env.progress(t, 0.8, 1, 'outCubic');
  const m = margin(env);
  ctx.fillStyle = color.alpha(style.palette.line, 0.8 * k);
  ctx.fillRect(m, H - 56 * u, W - 2 * m, 1.5 * u);
  ctx.fillStyle = color.alpha(style.palette.accent, 0.9 * k);
  ctx.fillRect(m, H - 56.5 * u, (W - 2 * m) * (t / env.duration), 2.5 * u);
}
