// The look "loud": words as large as the frame, cut on the beat.
export function draw(ctx, t, frame, env) {
  const { width: W, height: H } = env;
  const p = partAt(t, env);
  const { s } = local(t, p, env);
  const c = inks(p, env);
  ctx.fillStyle = c.ground;
  ctx.fillRect(0, 0, W, H);
  shape(ctx, t, s, env, p, c);
  ({ title, point, list, figures, close })[p.kind](ctx, s, env, p, c, margin(env), unit(env));
}

// Each part has its own two colours: a cut shows that something is new.
function inks(p, env) {
  const c = env.style.palette;
  const white = '#ffffff';
  if (meta.style === 'sunny') {
    const of = [[c.background, c.text, c.series[0]], [c.accent2, white, c.series[2]], [c.series[2], c.text, c.series[0]], [c.text, c.background, c.series[4]]];
    const [ground, ink, extra] = of[p.place % of.length];
    return p.last ? { ground: c.background, ink: c.text, extra: c.accent, on: white } : { ground, ink, extra, on: env.color.on(extra, c.text, white) };
  }
  const of = [[c.background, c.text, c.accent2], [c.text, c.background, c.accent2], [c.accent2, white, c.text], [c.background, c.text, c.surface]];
  const [ground, ink, extra] = of[p.place % of.length];
  return p.last ? { ground: c.background, ink: c.text, extra: c.accent2, on: white } : { ground, ink, extra, on: white };
}

// One large shape behind the words: another one in each part.
function shape(ctx, t, s, env, p, c) {
  const { width: W, height: H, TAU } = env;
  if (p.kind === 'close') return;
  const k = Math.max(0, env.spring(s - 0.05, env.style.motion.spring));
  const r = Math.max(W, H) * 0.3 * k;
  const at = [[0.82, 0.26], [0.16, 0.8], [0.86, 0.8], [0.2, 0.2]][p.place % 4];
  ctx.save();
  ctx.translate(W * at[0], H * at[1]);
  ctx.fillStyle = c.extra;
  ctx.globalAlpha = meta.style === 'sunny' ? 1 : 0.92;
  ctx.rotate(Math.floor(t / 0.5) * 0.22 + 0.22 * env.progress(t % 0.5, 0, 0.26, env.style.motion.move.ease));
  ctx.beginPath();
  switch (meta.style === 'sunny' ? [0, 2, 1][p.place % 3] : p.place % 3) {
    case 0:
      for (let i = 0; i < 44; i++) {
        const q = i % 2 ? r * 0.84 : r;
        ctx.lineTo(q * Math.cos((i / 44) * TAU), q * Math.sin((i / 44) * TAU));
      }
      break;
    case 1:
      for (let i = -3; i < 4; i++) ctx.rect(-r * 1.2, i * r * 0.3, r * 2.4, r * 0.15);
      break;
    default:
      ctx.arc(0, 0, r * 0.9, 0, TAU);
      ctx.arc(0, 0, r * 0.5, 0, TAU, true);
  }
  ctx.fill();
  ctx.restore();
}

// A block of words: lines that all have the block's width, as on a wood-type
// poster. It takes the number of lines that fills its height best.
function woodtype(ctx, env, text, width, height) {
  return once(`wood ${text} ${width} ${height}`, () => {
    const role = env.style.type.display;
    const words = (role.upper ? text.toLocaleUpperCase('en') : text).split(/\s+/);
    ctx.letterSpacing = '0px';
    const measured = (s) => env.text.measure(ctx, s, env.font('display', 100)).width;
    let best = null;
    for (let n = 1; n <= Math.min(words.length, 6); n++) {
      const rows = inRows(words, n, measured).map((s) => ({ s, size: Math.min((width / measured(s)) * 100, height * (n > 1 ? 0.62 : 0.9)) }));
      const leading = meta.style === 'sunny' ? 0.86 : 0.96;
      const sum = rows.reduce((h, l) => h + l.size * leading, 0);
      const scale = Math.min(1, height / sum);
      const area = rows.reduce((a, l) => a + (l.size * scale) ** 2 * l.s.length, 0);
      if (!best || area > best.area) best = { area, leading, height: sum * scale, rows: rows.map((l) => ({ s: l.s, size: l.size * scale })) };
    }
    return best;
  });
}

// inRows breaks words into n rows such that the widest is as narrow as can be.
function inRows(words, n, measured) {
  let low = Math.max(...words.map(measured));
  let high = measured(words.join(' '));
  const broken = (most) => {
    const rows = [];
    for (const w of words) {
      if (rows.length && measured(`${rows.at(-1)} ${w}`) <= most) rows[rows.length - 1] += ` ${w}`;
      else rows.push(w);
    }
    return rows;
  };
  for (let i = 0; i < 24; i++) {
    const mid = (low + high) / 2;
    if (broken(mid).length <= n) high = mid;
    else low = mid;
  }
  return broken(high);
}

// slam draws a block: its words come one after the other, each from a little
// too large.
function slam(ctx, env, b, x, y, s, beat, color) {
  let base = y;
  let i = 0;
  for (const row of b.rows) {
    base += row.size * b.leading * 0.5;
    ctx.font = env.font('display', row.size);
    ctx.letterSpacing = '0px';
    const m = ctx.measureText('H');
    const cap = m.actualBoundingBoxAscent;
    for (const w of env.text.words(ctx, row.s, env.font('display', row.size))) {
      const k = env.progress(s, 0.08 + i * beat, 0.22, enterEase(env));
      i += 1;
      if (k <= 0) continue;
      const wide = ctx.measureText(w.word).width;
      ctx.save();
      ctx.translate(x + w.x + wide / 2, base);
      ctx.scale(1.35 - 0.35 * k, 1.35 - 0.35 * k);
      ctx.fillStyle = color;
      ctx.fillText(w.word, -wide / 2, cap / 2);
      ctx.restore();
    }
    base += row.size * b.leading * 0.5;
  }
}

function words(s) {
  return s.split(/\s+/).length;
}

function title(ctx, s, env, p, c, m, u) {
  const { width: W, height: H } = env;
  const foot = FILM.lead || FILM.kicker ? 110 * u : 0;
  const b = woodtype(ctx, env, FILM.title, W - 2 * m, H - 2 * m - foot);
  slam(ctx, env, b, m, m + (H - 2 * m - foot - b.height) / 2, s, Math.min(0.22, 0.8 / words(FILM.title)), c.ink);
  const k = env.progress(s, 0.9, 0.35, enterEase(env));
  const text = FILM.lead || FILM.kicker;
  if (!text || k <= 0) return;
  ctx.fillStyle = c.ink;
  ctx.fillRect(0, H - (foot + m * 0.25) * k, W, foot + m * 0.25);
  const f = fit(ctx, env, 'body', text, W - 2 * m, foot * 0.8, 2, 1.1);
  ctx.save();
  ctx.textAlign = 'left';
  face(ctx, env, 'body', f.size);
  ctx.fillStyle = c.ground;
  f.lines.forEach((line, i) => ctx.fillText(line, m, H - (foot + m * 0.25) * k + (foot + m * 0.25 - f.height) / 2 + f.size * 0.76 + i * f.leading));
  ctx.restore();
  ctx.letterSpacing = '0px';
}

function point(ctx, s, env, p, c, m, u) {
  const { width: W, height: H } = env;
  const b = woodtype(ctx, env, p.text, W - 2 * m, H - 2 * m);
  slam(ctx, env, b, m, (H - b.height) / 2, s, Math.min(0.24, (p.length * 0.45) / words(p.text)), c.ink);
}

// A list: one after the other, each as large as the frame.
function list(ctx, s, env, p, c, m, u) {
  const each = p.length / p.items.length;
  const i = Math.min(p.items.length - 1, Math.floor(s / each));
  point(ctx, s - i * each, env, { ...p, text: p.items[i], length: each }, c, m, u);
}

function figures(ctx, s, env, p, c, m, u) {
  const { width: W, height: H } = env;
  const each = p.length / FILM.figures.length;
  const i = Math.min(FILM.figures.length - 1, Math.floor(s / each));
  const fig = FILM.figures[i];
  const own = s - i * each;
  const foot = H * 0.2;
  const size = fit(ctx, env, 'display', figureText(fig, 1), W - 2 * m, H - 2 * m - foot, 1, 1.2).size;
  const k = env.progress(own, 0, Math.min(0.9, each * 0.5), 'outExpo');
  ctx.textAlign = 'center';
  face(ctx, env, 'display', size);
  ctx.fillStyle = c.ink;
  ctx.fillText(figureText(fig, k), W / 2, (H - foot) / 2 + size * 0.38);
  ctx.letterSpacing = '0px';
  const l = fit(ctx, env, 'heading', fig.label, W - 2 * m, foot - 30 * u, 1, 1);
  const r = env.progress(own, 0.15, 0.3, enterEase(env));
  ctx.fillStyle = c.ink;
  ctx.fillRect(0, H - foot * r, W, foot);
  face(ctx, env, 'heading', l.size);
  ctx.fillStyle = c.ground;
  ctx.fillText(l.lines[0], W / 2, H - foot * r + foot / 2 + l.size * 0.36);
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}

// Rows of the name run across; the last word stands in the middle.
function close(ctx, s, env, p, c, m, u) {
  const { width: W, height: H, style } = env;
  const n = tall(env) ? 9 : 5;
  const h = H / n;
  const upper = style.type.display.upper;
  const name = `${upper ? FILM.title.toLocaleUpperCase('en') : FILM.title}   `;
  ctx.font = env.font('display', h * (upper ? 0.98 : 0.8));
  ctx.letterSpacing = '0px';
  const wide = ctx.measureText(name).width;
  const cap = ctx.measureText('H').actualBoundingBoxAscent;
  const mid = Math.floor(n / 2);
  for (let i = 0; i < n; i++) {
    if (i === mid) continue;
    const way = i % 2 ? 1 : -1;
    const k = env.progress(s, i * 0.04, 0.4, enterEase(env));
    const shift = ((way * (s * 130 * u + W * (1 - k))) % wide + wide) % wide;
    ctx.fillStyle = c.ink;
    for (let x = shift - wide; x < W; x += wide) if (k > 0) ctx.fillText(name, x, i * h + (h + cap) / 2);
  }
  const k = env.progress(s, 0.15, 0.4, enterEase(env));
  const last = FILM.closing || FILM.title;
  ctx.fillStyle = c.extra;
  ctx.fillRect(0, mid * h, W * k, h);
  const f = fit(ctx, env, 'heading', last, W - 2 * m, h * 0.86, 1, 1.3);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, mid * h, W * k, h);
  ctx.clip();
  ctx.textAlign = 'center';
  const shown = face(ctx, env, 'heading', f.size, last);
  ctx.fillStyle = c.on;
  ctx.fillText(f.lines.length === 1 ? f.lines[0] : shown, W / 2, mid * h + h / 2 + ctx.measureText('H').actualBoundingBoxAscent / 2);
  ctx.restore();
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
}
