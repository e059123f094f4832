// The look "grid": type on a grid, and one block of colour that moves along it.
export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const c = style.palette;
  const p = partAt(t, env);
  const { s, out } = local(t, p, env, 0.3);
  ctx.fillStyle = c.background;
  ctx.fillRect(0, 0, W, H);
  paper(ctx, t, env);
  const b = block(t, env);
  ctx.fillStyle = c.accent;
  ctx.fillRect(b.x, b.y, b.w, b.h);
  ({ title, point, list, figures, close })[p.kind](ctx, s, out, env, p, b, c, margin(env), unit(env));
  if (p.kind !== 'close') head(ctx, t, env, p, b);
  if (meta.style === 'terminal') scan(ctx, env);
}

// Styles whose display is small by nature are set larger here.
const large = () => ({ terminal: 1.7, blueprint: 1.5 })[meta.style] || 1;

// Columns of the grid: where the n-th begins.
function column(env, n) {
  const m = margin(env);
  const gutter = env.style.space.gutter * unit(env);
  const of = tall(env) ? 4 : 12;
  return m + (n * (env.width - 2 * m + gutter)) / of;
}

// What lies under everything: the style's own texture.
function paper(ctx, t, env) {
  const { width: W, height: H, style, color } = env;
  const u = unit(env);
  if (meta.style !== 'blueprint') return;
  const k = env.progress(t, 0, 1.2, 'outCubic');
  for (const [step, a] of [[24, 0.22], [120, 0.42]]) {
    ctx.fillStyle = color.alpha(style.palette.line, a);
    for (let x = step * u; x < W; x += step * u) ctx.fillRect(x, 0, 1, H * k);
    for (let y = step * u; y < H; y += step * u) ctx.fillRect(0, y, W * k, 1);
  }
}

function scan(ctx, env) {
  ctx.fillStyle = 'rgba(0,0,0,0.16)';
  const step = Math.max(3, Math.round(4 * unit(env)));
  for (let y = 0; y < env.height; y += step) ctx.fillRect(0, y, env.width, step / 3);
}

// Where the block stands in each part, and how it gets there.
function block(t, env) {
  const { width: W, height: H } = env;
  const rest = (p) => {
    const odd = p.place % 2 === 1;
    if (p.kind === 'close') return [0, 0, W, H];
    if (p.kind === 'figures' && sameUnit()) return [0, H * 0.82, W, H * 0.18];
    if (tall(env)) {
      if (p.kind === 'title') return [0, H * 0.7, W, H * 0.3];
      return odd ? [0, H * 0.62, W, H * 0.38] : [0, H * 0.7, W, H * 0.3];
    }
    if (p.kind === 'title') return [column(env, 8), 0, W - column(env, 8), H];
    if (p.kind === 'list' || p.kind === 'figures') return [column(env, 9), 0, W - column(env, 9), H];
    return odd ? [0, 0, column(env, 4) - 24 * unit(env), H] : [column(env, 8), 0, W - column(env, 8), H];
  };
  const steps = [];
  for (const p of parts(env)) {
    const to = rest(p);
    if (p.place === 0) steps.push([0.1, tall(env) ? [0, H, W, 0] : [to[0], H, to[2], H]], [0.75, to, env.style.motion.move.ease]);
    else steps.push([p.from - 0.3, steps.at(-1)[1]], [p.from + 0.32, to, [0.6, 0, 0, 1]]);
  }
  const [x, y, w, h] = env.keys(t, steps);
  return { x, y, w, h };
}

// The head: what film this is, and where in it we are.
function head(ctx, t, env, p, b) {
  const { width: W, style } = env;
  const c = style.palette;
  const u = unit(env);
  const m = margin(env);
  const k = env.progress(t, 0.3, 0.6, enterEase(env));
  const y = 92 * u;
  const on = (x) => (x >= b.x && x < b.x + b.w && y > b.y && y < b.y + b.h ? c.onAccent : c.text);
  const name = FILM.kicker ? `${FILM.kicker} — ${FILM.title}` : FILM.title;
  const most = tall(env) ? 30 : 52;
  label(ctx, env, name.length > most ? `${name.slice(0, most - 1).trim()}…` : name, m, y, k, on(m));
  label(ctx, env, `${two(p.place + 1)} / ${two(parts(env).length)}`, W - m, y, k, on(W - m - 10), 'right');
}

function title(ctx, s, out, env, p, b, c, m, u) {
  const { width: W, height: H } = env;
  const w = tall(env) ? W - 2 * m : column(env, 8) - m - 40 * u;
  const f = fit(ctx, env, 'display', FILM.title, w, H * (tall(env) ? 0.46 : 0.66), 4, large());
  const bottom = tall(env) ? H * 0.65 : H - m - 20 * u;
  rise(ctx, env, f, m - f.size * 0.045, bottom - f.height, s, 0.35, out, c.text);
  const x = tall(env) ? m : column(env, 8) + 40 * u;
  const right = W - m - x;
  if (FILM.lead) {
    const l = fit(ctx, env, 'body', FILM.lead, right, 400 * u, 7, 1.15);
    rise(ctx, env, l, x, tall(env) ? H * 0.7 + 56 * u : H - m - l.height - 20 * u, s, 0.85, out, c.onAccent);
  }
  const half = 44 * u;
  mark(ctx, env, s, tall(env) ? W - m - half : x + half, tall(env) ? H * 0.95 - half : 168 * u + half, half, c.onAccent);
}

// The mark of the film: a square that keeps turning.
function mark(ctx, env, s, x, y, half, color) {
  const k = env.progress(s, 0.6, 0.9, enterEase(env));
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate((Math.PI / 2) * env.progress(s, 0.6, 1.4, 'inOutQuart') + 0.25 * s);
  ctx.fillStyle = color;
  ctx.fillRect(-half * k, -half * k, 2 * half * k, 2 * half * k);
  ctx.restore();
}

function point(ctx, s, out, env, p, b, c, m, u) {
  const { width: W, height: H } = env;
  const odd = p.place % 2 === 1;
  // The number is cropped by the block's edges.
  ctx.save();
  ctx.beginPath();
  ctx.rect(b.x, b.y, b.w, b.h);
  ctx.clip();
  const size = tall(env) ? b.h * 1.25 : Math.min(b.w * 1.5, H * 0.9);
  const k = env.progress(s, 0.15, 0.7, enterEase(env));
  face(ctx, env, 'display', size);
  ctx.fillStyle = c.onAccent;
  const digit = String(p.index + 1);
  const half = ctx.measureText(digit).width / 2;
  const cx = tall(env) ? W - m - half : b.x + b.w / 2;
  ctx.fillText(digit, cx - half, b.y + b.h * 0.5 + size * 0.37 + b.h * (1 - k) - b.h * (1 - out));
  ctx.restore();
  ctx.letterSpacing = '0px';
  const x = tall(env) || !odd ? m : column(env, 4) + 24 * u;
  const w = (tall(env) ? W - m : odd ? W - m : column(env, 8) - 40 * u) - x;
  const few = p.text.length <= 16;
  const f = fit(ctx, env, few ? 'display' : 'heading', p.text, w, H * (tall(env) ? 0.4 : 0.62), 5, few ? 0.8 * large() : 1.35);
  const bottom = tall(env) ? b.y - 70 * u : H - m - 20 * u;
  rise(ctx, env, f, x - f.size * 0.04, bottom - f.height, s, 0.15, out, c.text);
  ctx.fillStyle = c.text;
  ctx.fillRect(x, bottom - f.height - 44 * u, w * env.progress(s, 0.1, 0.6, env.style.motion.move.ease) * out, env.style.space.stroke * u);
}

function list(ctx, s, out, env, p, b, c, m, u) {
  const { width: W, height: H } = env;
  const w = tall(env) ? W - 2 * m : column(env, 9) - m - 40 * u;
  const top = 190 * u;
  const h = (tall(env) ? b.y - 60 * u : H - m) - top;
  const row = h / p.items.length;
  p.items.forEach((item, i) => {
    const y = top + i * row;
    const start = 0.15 + i * 0.12;
    ctx.fillStyle = c.text;
    ctx.fillRect(m, y, w * env.progress(s, start, 0.6, env.style.motion.move.ease) * out, env.style.space.stroke * u);
    label(ctx, env, two(i + 1), m, y + 56 * u, env.progress(s, start + 0.1, 0.4) * out, c.accent);
    const f = fit(ctx, env, 'heading', item, w - 120 * u, row - 60 * u, 2, 1);
    rise(ctx, env, f, m + 120 * u, y + 32 * u, s, start, out, c.text);
  });
}

function figures(ctx, s, out, env, p, b, c, m, u) {
  if (sameUnit()) bars(ctx, s, out, env, b, c, m, u);
  else numbers(ctx, s, out, env, b, c, m, u);
}

// Figures of different kinds stand below each other.
function numbers(ctx, s, out, env, b, c, m, u) {
  const { width: W, height: H } = env;
  const all = FILM.figures;
  const w = tall(env) ? W - 2 * m : column(env, 9) - m - 40 * u;
  const top = 190 * u;
  const row = ((tall(env) ? b.y - 60 * u : H - m) - top) / all.length;
  const size = fitRow(ctx, env, 'display', all.map((f) => figureText(f, 1)), w * 0.58, row * 0.9, 0.9);
  all.forEach((fig, i) => {
    const y = top + i * row;
    const start = 0.15 + i * 0.12;
    ctx.fillStyle = c.text;
    ctx.fillRect(m, y, w * env.progress(s, start, 0.6, env.style.motion.move.ease) * out, env.style.space.stroke * u);
    const base = y + row * 0.5 + size * 0.36 + 8 * u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, y + 8 * u, W, row - 8 * u);
    ctx.clip();
    face(ctx, env, 'display', size);
    ctx.fillStyle = i ? c.text : c.accent;
    ctx.fillText(figureText(fig, env.progress(s, start, 1.1, 'outExpo')), m - size * 0.04, base + row * (1 - env.progress(s, start, 0.6, enterEase(env))) - row * (1 - out));
    ctx.restore();
    ctx.letterSpacing = '0px';
    const l = fit(ctx, env, 'body', fig.label, w * 0.38, row - 40 * u, 3, 1);
    rise(ctx, env, l, m + w * 0.62, base - l.height, s, start + 0.1, out, c.text);
  });
}

// Figures of one kind are bars on the block.
function bars(ctx, s, out, env, b, c, m, u) {
  const { width: W, height: H } = env;
  const all = FILM.figures;
  const gutter = 40 * u;
  const w = (W - 2 * m + gutter) / all.length;
  const size = fitRow(ctx, env, 'display', all.map((f) => figureText(f, 1)), w - gutter, H * 0.14, 0.5);
  all.forEach((fig, i) => {
    const x = m + i * w;
    const start = 0.2 + i * 0.1;
    const k = env.progress(s, start, 1.1, 'outExpo');
    const full = b.y - 200 * u - size;
    const y = b.y - full * (fig.value / largest()) * k * out;
    ctx.fillStyle = i === all.length - 1 ? c.text : env.color.mix(c.text, c.background, 0.25 + 0.4 * (1 - i / all.length));
    ctx.fillRect(x, y, w - gutter, b.y - y);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, W, b.y);
    ctx.clip();
    face(ctx, env, 'display', size);
    ctx.globalAlpha = env.progress(s, start, 0.2);
    ctx.fillStyle = c.text;
    ctx.fillText(figureText(fig, k), x - size * 0.04, y - 26 * u + size * 1.4 * (1 - out));
    ctx.restore();
    ctx.letterSpacing = '0px';
    const l = fit(ctx, env, 'body', fig.label, w - gutter, b.h - 60 * u, 3, 0.9);
    rise(ctx, env, l, x, b.y + 40 * u, s, start + 0.15, out, c.onAccent);
  });
}

function close(ctx, s, out, env, p, b, c, m, u) {
  const { width: W, height: H } = env;
  const f = fit(ctx, env, 'display', FILM.title, W - 2 * m, H * 0.5, 3, large());
  const last = FILM.closing || FILM.lead;
  const bottom = H - m - 20 * u;
  const l = last ? fit(ctx, env, 'body', last, Math.min(W - 2 * m, 1100 * u), 160 * u, 3, 1.1) : null;
  const top = bottom - f.height - (l ? l.height + 70 * u : 0);
  rise(ctx, env, f, m - f.size * 0.045, top, s, 0.25, 1, c.onAccent);
  if (l) rise(ctx, env, l, m, bottom - l.height, s, 0.5, 1, c.onAccent);
  ctx.fillStyle = c.onAccent;
  mark(ctx, env, s, W - m - 44 * u, 236 * u, 44 * u, c.onAccent);
  ctx.fillRect(m, 120 * u, (W - 2 * m) * env.progress(s, 0.2, 0.9, env.style.motion.move.ease), env.style.space.stroke * u);
}
