// The style "ink": an idea in a sketchbook. roughjs draws, redrawn 8 times a
// second.
import rough from 'roughjs';

export const meta = { title: 'Ink', width: 1920, height: 1080, fps: 30, duration: 5, style: 'ink', seed: 6 };

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const boil = Math.floor(t * style.motion.step) + 1;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);
  ctx.fillStyle = env.color.alpha(p.accent2, 0.13);
  for (let x = 60; x < W; x += 60) for (let y = 60; y < H; y += 60) ctx.fillRect(x, y, 3, 3);

  write(ctx, env, t, 0.2, 'Three steps to a film', 120, 230, env.font('display', 190), p.text);
  stroke(ctx, env, t, 1.1, [[128, 292], [430, 306], [860, 286], [1440, 300]], p.accent, 9, boil);

  const boxes = [
    { x: 150, label: 'write', color: p.accent2, at: 1.2, icon: page },
    { x: 760, label: 'look', color: '#d99a1b', at: 1.8, icon: eye },
    { x: 1370, label: 'render', color: p.accent, at: 2.4, icon: play },
  ];
  const r = rough.canvas(ctx.canvas);
  boxes.forEach((b, i) => {
    const k = env.progress(t, b.at, 0.5, style.motion.enter.ease);
    if (k <= 0) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(b.x - 40, 380, 480 * k, 480);
    ctx.clip();
    r.rectangle(b.x, 410, 390, 320, { seed: boil + i, stroke: p.text, strokeWidth: 5, roughness: 1.6, bowing: 1.5, fill: env.color.alpha(b.color, 0.55), fillStyle: 'hachure', hachureGap: 17, hachureAngle: -41 + i * 9, fillWeight: 3 });
    b.icon(ctx, r, b.x + 195, 570, boil + i, p, env.clamp((t - b.at - 0.25) * 3));
    ctx.restore();
    write(ctx, env, t, b.at + 0.35, b.label, b.x + 195, 850, env.font('heading', 116), p.text, 'center');
  });
  arrow(ctx, env, t, 1.75, 560, 740, 560, boil, p.text);
  arrow(ctx, env, t, 2.35, 1170, 1350, 560, boil + 3, p.text);
  write(ctx, env, t, 2.9, 'the same bytes, every time!', 960, 985, env.font('body', 72, 700), p.accent, 'center');
}

// write reveals a text from left to right, as a hand does.
function write(ctx, env, t, start, s, x, y, font, fill, align = 'left') {
  ctx.font = font;
  const w = ctx.measureText(s).width;
  const k = env.progress(t, start, 0.25 + s.length * 0.035, 'inOutSine');
  if (k <= 0) return;
  const left = align === 'center' ? x - w / 2 : x;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left - 20, y - 240, (w + 40) * k, 330);
  ctx.clip();
  ctx.fillStyle = fill;
  ctx.fillText(s, left, y);
  ctx.restore();
}

// stroke draws a line through points along its length; it trembles.
function stroke(ctx, env, t, start, points, colour, width, seed) {
  const k = env.progress(t, start, 0.6, 'inOutSine');
  if (k <= 0) return;
  const n = 60;
  ctx.strokeStyle = colour;
  ctx.lineCap = ctx.lineJoin = 'round';
  ctx.lineWidth = width;
  ctx.beginPath();
  for (let i = 0; i <= n * k; i++) {
    const q = along(points, i / n);
    const shake = 2.4 * env.noise(i * 0.35, seed * 7.3);
    if (i) ctx.lineTo(q[0], q[1] + shake);
    else ctx.moveTo(q[0], q[1] + shake);
  }
  ctx.stroke();
}

// along is a point of a smooth curve through all points (Catmull-Rom).
function along(points, k) {
  const n = points.length - 1;
  const i = Math.min(Math.floor(k * n), n - 1);
  const u = k * n - i;
  const at = (j) => points[Math.max(0, Math.min(n, j))];
  return [0, 1].map((c) => {
    const [a, b, d, e] = [at(i - 1)[c], at(i)[c], at(i + 1)[c], at(i + 2)[c]];
    return 0.5 * (2 * b + (d - a) * u + (2 * a - 5 * b + 4 * d - e) * u * u + (3 * b - a - 3 * d + e) * u * u * u);
  });
}

function arrow(ctx, env, t, start, x1, x2, y, seed, colour) {
  stroke(ctx, env, t, start, [[x1, y + 14], [(x1 + x2) / 2, y - 34], [x2, y]], colour, 7, seed);
  stroke(ctx, env, t, start + 0.5, [[x2 - 44, y - 50], [x2, y], [x2 - 62, y + 22]], colour, 7, seed + 1);
}

function page(ctx, r, x, y, seed, p, k) {
  const o = { seed, stroke: p.text, strokeWidth: 4, roughness: 1.2 };
  r.rectangle(x - 75, y - 95, 150, 190, { ...o, fill: p.background, fillStyle: 'solid' });
  for (let i = 0; i < 4; i++) r.line(x - 50, y - 55 + i * 36, x - 50 + (i % 2 ? 70 : 100) * k, y - 55 + i * 36, o);
}

function eye(ctx, r, x, y, seed, p, k) {
  const o = { seed, stroke: p.text, strokeWidth: 4, roughness: 1.1 };
  r.ellipse(x, y, 250, 130, { ...o, fill: p.background, fillStyle: 'solid' });
  r.circle(x + 24 * Math.sin(k * 3), y, 84, { ...o, fill: p.text, fillStyle: 'solid' });
}

function play(ctx, r, x, y, seed, p, k) {
  const o = { seed, stroke: p.text, strokeWidth: 5, roughness: 1.2 };
  r.circle(x, y, 200 * (0.9 + 0.1 * k), { ...o, fill: p.background, fillStyle: 'solid' });
  r.polygon([[x - 32, y - 52], [x + 60, y], [x - 32, y + 52]], { ...o, fill: p.accent, fillStyle: 'solid' });
}
