// The look "page": a printed page that moves, with a plate of hills and a sun
// that crosses the film.
export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const c = style.palette;
  const p = partAt(t, env);
  const { s, out } = local(t, p, env, 0.4);
  ctx.fillStyle = c.background;
  ctx.fillRect(0, 0, W, H);
  const r = plate(t, env);
  picture(ctx, t, env, r);
  furniture(ctx, t, env, p, r);
  ({ title, point, list, figures, close })[p.kind](ctx, s, out, env, p, r, c, margin(env), unit(env));
  grain(ctx, env, 0.045);
}

const slanted = () => meta.style === 'editorial';

// The plate's place: x, y, width, height.
function plate(t, env) {
  const { width: W, height: H } = env;
  const rest = (p) => {
    if (tall(env)) {
      if (p.kind === 'title') return [0, H * 0.66, W, H * 0.34];
      if (p.kind === 'close') return [0, H * 0.6, W, H * 0.4];
      if (p.kind === 'point') return [0, H * 0.74, W, H * 0.26];
      return [0, H, W, H * 0.2];
    }
    if (p.kind === 'title') return [W * 0.68, 0, W * 0.32, H];
    if (p.kind === 'close') return [0, H * 0.66, W, H * 0.34];
    if (p.kind === 'point') return [W * (p.place % 2 ? 0.74 : 0.78), 0, W * 0.26, H];
    return [W * 0.94, 0, W * 0.06, H];
  };
  const steps = [];
  for (const p of parts(env)) {
    const to = rest(p);
    if (p.place === 0) steps.push([0.1, tall(env) ? [0, H, W, H * 0.34] : [to[0], H, to[2], H]], [1.4, to, enterEase(env)]);
    else steps.push([p.from - 0.3, steps.at(-1)[1]], [p.from + 0.8, to, env.style.motion.move.ease]);
  }
  const [x, y, w, h] = env.keys(t, steps);
  return { x, y, w: Math.max(w, W - x > 0 && !tall(env) && y < H * 0.3 ? W - x : w), h };
}

// Hills under a low sun, in five inks.
function picture(ctx, t, env, r) {
  const { width: W, height: H, style, color } = env;
  const p = style.palette;
  const u = unit(env);
  if (r.y >= H || r.x >= W) return;
  const sky = color.mix(p.background, p.series[2], 0.42);
  ctx.save();
  ctx.beginPath();
  ctx.rect(r.x, r.y, r.w, r.h);
  ctx.clip();
  ctx.fillStyle = sky;
  ctx.fillRect(r.x, r.y, r.w, r.h);
  const way = t / env.duration;
  const low = Math.max(r.h, H * 0.3);
  ctx.fillStyle = p.accent;
  ctx.beginPath();
  ctx.arc(r.x + r.w * (0.34 + 0.36 * way), r.y + low * (0.5 - 0.16 * Math.sin(way * Math.PI)), Math.min(r.w, low) * 0.27, 0, env.TAU);
  ctx.fill();
  const inks = [color.mix(sky, p.accent2, 0.35), color.mix(sky, p.accent2, 0.62), p.accent2, color.mix(p.accent2, '#000000', 0.42)];
  inks.forEach((ink, i) => {
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.moveTo(r.x, r.y + r.h);
    const far = 1 - i / inks.length;
    for (let x = r.x; x <= r.x + r.w + 8; x += 8) {
      const n = env.noise((x / u) * 0.0042 + i * 9.37 + t * 0.06 * (i + 1), i * 4.71 + 0.43, 0.6);
      ctx.lineTo(x, r.y + low * (0.5 + i * 0.125) + low * 0.12 * (0.5 + far * 0.5) * n);
    }
    ctx.lineTo(r.x + r.w + 8, r.y + r.h);
    ctx.fill();
  });
  ctx.restore();
}

// Rules and folios.
function furniture(ctx, t, env, p, r) {
  const { width: W, height: H, style } = env;
  const c = style.palette;
  const m = margin(env);
  const u = unit(env);
  const right = tall(env) || r.y > 120 * u ? W - m : Math.min(W - m, r.x - 60 * u);
  const k = env.progress(t, 0, 1.1, enterEase(env));
  ctx.fillStyle = c.text;
  ctx.fillRect(m, 112 * u, (right - m) * k, 3 * u);
  label(ctx, env, FILM.kicker || 'In motion', m, 90 * u, k, c.text);
  label(ctx, env, `P. ${p.place + 1}`, right, 90 * u, k, c.muted, 'right');
}

function title(ctx, s, out, env, p, r, c, m, u) {
  const { width: W, height: H } = env;
  const w = tall(env) ? W - 2 * m : W * 0.68 - m - 60 * u;
  const f = fit(ctx, env, 'display', FILM.title, w, H * (tall(env) ? 0.36 : 0.54), 4, 1.05);
  const top = tall(env) ? H * 0.13 : Math.max(200 * u, H * 0.46 - f.height / 2);
  rise(ctx, env, f, m - f.size * 0.03, top, s, 0.35, out, c.text, { accent: c.accent, italicLast: slanted() });
  if (!FILM.lead) return;
  const l = fit(ctx, env, 'body', FILM.lead, Math.min(w - 104 * u, 900 * u), 180 * u, 3, 1);
  const y = tall(env) ? top + f.height + 80 * u : H - m - l.height - 10 * u;
  ctx.fillStyle = c.accent;
  ctx.fillRect(m, y + l.size * 0.42, 72 * u * env.progress(s, 1.0, 0.8, enterEase(env)) * out, 3 * u);
  fade(ctx, env, l, m + 104 * u, y, s, 1.05, out, c.muted);
}

function point(ctx, s, out, env, p, r, c, m, u) {
  const { width: W, height: H } = env;
  const w = (tall(env) ? W - m : W * 0.74 - 90 * u) - m;
  const f = fit(ctx, env, 'display', p.text, w, H * (tall(env) ? 0.44 : 0.56), 5, p.text.length < 20 ? 0.95 : 0.74);
  const top = tall(env) ? H * 0.16 + 90 * u : (H - f.height) / 2 + 30 * u;
  if (p.of > 1) {
    label(ctx, env, `No. ${p.index + 1}`, m, top - 62 * u, env.progress(s, 0.1, 0.8) * out, c.accent);
  }
  rise(ctx, env, f, m - f.size * 0.03, top, s, 0.15, out, c.text, { italicLast: slanted() });
  ctx.fillStyle = c.line;
  ctx.fillRect(m, top + f.height + 66 * u, w * env.progress(s, 0.3, 1.1, enterEase(env)) * out, 1.5 * u);
}

function list(ctx, s, out, env, p, r, c, m, u) {
  const { width: W, height: H } = env;
  const w = (tall(env) ? W - m : W * 0.94 - 80 * u) - m;
  const top = 190 * u;
  const row = (H - top - m * 0.8) / p.items.length;
  p.items.forEach((item, i) => {
    const start = 0.12 + i * 0.16;
    const y = top + i * row;
    const f = fit(ctx, env, 'heading', item, w - 170 * u, row - 60 * u, 2, 1.35);
    const mid = y + (row - f.height) / 2;
    face(ctx, env, 'display', 120 * u, '', slanted() ? true : undefined);
    ctx.globalAlpha = env.progress(s, start, 0.8) * out;
    ctx.fillStyle = c.accent;
    ctx.fillText(String(i + 1), m, y + row / 2 + 40 * u);
    ctx.globalAlpha = 1;
    ctx.letterSpacing = '0px';
    rise(ctx, env, f, m + 170 * u, mid, s, start + 0.05, out, c.text);
    if (i === p.items.length - 1) return;
    ctx.fillStyle = c.line;
    ctx.fillRect(m, y + row, w * env.progress(s, start + 0.1, 1, enterEase(env)) * out, 1.5 * u);
  });
}

// Figures as a table with leaders: label, line, number.
function figures(ctx, s, out, env, p, r, c, m, u) {
  const { width: W, height: H } = env;
  const right = tall(env) ? W - m : W * 0.94 - 80 * u;
  const n = FILM.figures.length;
  const top = 190 * u;
  const row = Math.min((H - top - m * 0.8) / n, 330 * u);
  const first = top + (H - top - m * 0.8 - row * n) / 2;
  const size = fitRow(ctx, env, 'display', FILM.figures.map((f) => figureText(f, 1)), (right - m) * 0.5, row * 0.8, 1);
  FILM.figures.forEach((fig, i) => {
    const start = 0.15 + i * 0.18;
    const y = first + i * row;
    const base = y + row * 0.5 + size * 0.34;
    const k = env.progress(s, start, 1.3, 'outExpo');
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, base - size * 0.9, W, size * 1.15);
    ctx.clip();
    ctx.textAlign = 'right';
    face(ctx, env, 'display', size);
    ctx.fillStyle = i ? c.text : c.accent;
    ctx.fillText(figureText(fig, k), right, base + size * 1.2 * (1 - env.progress(s, start, 1, enterEase(env))) - size * 1.2 * (1 - out));
    const wide = ctx.measureText(figureText(fig, 1)).width;
    ctx.restore();
    ctx.textAlign = 'left';
    ctx.letterSpacing = '0px';
    const l = fit(ctx, env, 'heading', fig.label, (right - m) * 0.46, row * 0.6, 2, 0.8);
    fade(ctx, env, l, m, base - l.height, s, start + 0.1, out, c.text);
    const from = m + l.width + 30 * u;
    const to = right - wide - 40 * u;
    ctx.fillStyle = c.muted;
    for (let x = from; x < from + (to - from) * env.progress(s, start + 0.2, 1, enterEase(env)) * out; x += 16 * u) ctx.fillRect(x, base - 4 * u, 4 * u, 4 * u);
    ctx.fillStyle = c.line;
    if (i < n - 1) ctx.fillRect(m, y + row, (right - m) * env.progress(s, start, 1, enterEase(env)) * out, 1.5 * u);
  });
}

function close(ctx, s, out, env, p, r, c, m, u) {
  const { width: W, height: H } = env;
  const f = fit(ctx, env, 'display', FILM.title, W - 2 * m, H * 0.28, 3, 0.8);
  const last = FILM.closing || FILM.lead;
  const l = last ? fit(ctx, env, 'body', last, Math.min(W - 2 * m, 1000 * u), 100 * u, 2, 1) : null;
  const room = (tall(env) ? H * 0.6 : H * 0.66) - 150 * u;
  const top = 140 * u + (room - f.height - (l ? l.height + 50 * u : 0)) / 2;
  rise(ctx, env, f, W / 2, top, s, 0.25, 1, c.text, { align: 'center', italicLast: slanted() });
  if (l) fade(ctx, env, l, W / 2, top + f.height + 50 * u, s, 0.6, 1, c.muted, 'center');
}
