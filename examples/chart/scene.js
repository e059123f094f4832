// A chart that tells its story, in the style "editorial". d3 makes the scales
// and the curve; the film draws them. The figures are invented.
import { scaleLinear, scalePoint, line, area, curveMonotoneX, max, range } from 'd3';
import { svgPathProperties } from 'svg-path-properties';

export const meta = { title: 'Chart', width: 1920, height: 1080, fps: 30, duration: 8, style: 'editorial', seed: 5 };

const EVENTS = [
  { week: 9, title: 'The new machine', text: 'arrives on a Tuesday', dx: 0, dy: -170, align: 'center' },
  { week: 22, title: 'Release week', text: 'nobody goes home', dx: 48, dy: 6, align: 'left' },
  { week: 31, title: 'August', text: 'everybody does', dx: 48, dy: 34, align: 'left' },
];

let weeks;
let cups;
let box;
let x;
let y;
let path;
let fillPath;
let grain;

export async function setup(env) {
  weeks = range(1, 53);
  cups = weeks.map((w) => {
    const bump = (at, wide, high) => high * Math.exp(-(((w - at) / wide) ** 2));
    const base = 118 + w * 2.1 + 46 / (1 + Math.exp(-(w - 10) * 1.6));
    return Math.round(base + bump(22, 1.7, 150) - bump(31, 2.6, 150) + bump(47, 3.2, 66) + 14 * env.noise(w * 0.61));
  });
  box = { left: 880, right: env.width - 150, top: 250, bottom: 860 };
  x = scalePoint(weeks, [box.left, box.right]);
  y = scaleLinear([0, Math.ceil(max(cups) / 100) * 100], [box.bottom, box.top]);
  const points = weeks.map((w, i) => [w, cups[i]]);
  const d = line((p) => x(p[0]), (p) => y(p[1])).curve(curveMonotoneX)(points);
  path = { d: new Path2D(d), length: new svgPathProperties(d), total: 0 };
  path.total = path.length.getTotalLength();
  fillPath = new Path2D(area((p) => x(p[0]), () => y(0), (p) => y(p[1])).curve(curveMonotoneX)(points));
  grain = paper(env);
}

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style, color } = env;
  const p = style.palette;
  const enter = style.motion.enter.ease;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);

  const drawn = env.keys(t, [[1.2, 0], [2.6, 0.2, 'inOutSine'], [3.0, 0.23, 'linear'], [4.1, 0.5, 'inOutSine'], [4.5, 0.52, 'linear'], [5.3, 0.68, 'inOutSine'], [6.4, 1, 'inOutCubic']]);
  const tip = tipOf(drawn);
  furniture(ctx, t, env);
  headline(ctx, t, env, enter);
  axes(ctx, t, env);

  // The area comes after the line, softly.
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left - 4, 0, tip.x - box.left + 4, H);
  ctx.clip();
  const g = ctx.createLinearGradient(0, box.top, 0, box.bottom);
  g.addColorStop(0, color.alpha(p.accent, 0.24));
  g.addColorStop(1, color.alpha(p.accent, 0.02));
  ctx.fillStyle = g;
  ctx.fill(fillPath);
  ctx.restore();

  ctx.save();
  ctx.strokeStyle = p.accent;
  ctx.lineWidth = 5;
  ctx.lineJoin = ctx.lineCap = 'round';
  ctx.setLineDash([path.total * drawn, path.total]);
  if (drawn > 0) ctx.stroke(path.d);
  ctx.restore();

  for (const e of EVENTS) note(ctx, t, env, e, tip);
  if (drawn > 0) pen(ctx, t, env, tip, drawn);
  ctx.globalAlpha = 0.05;
  ctx.fillStyle = ctx.createPattern(grain, 'repeat');
  ctx.fillRect(0, 0, W, H);
  ctx.globalAlpha = 1;
}

// tipOf is where the pen is: along the curve, and the value there.
function tipOf(k) {
  const at = path.length.getPointAtLength(path.total * k);
  return { x: at.x, y: at.y, value: y.invert(at.y) };
}

// Rules and folios of the page.
function furniture(ctx, t, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const m = style.space.margin;
  const k = env.progress(t, 0, 1.2, style.motion.enter.ease);
  ctx.fillStyle = p.text;
  ctx.fillRect(m, 112, (W - 2 * m) * k, 3);
  ctx.fillStyle = p.line;
  ctx.fillRect(m, H - 112, (W - 2 * m) * k, 1.5);
  ctx.globalAlpha = k;
  ctx.font = env.font('label', 24);
  ctx.letterSpacing = '2px';
  ctx.fillStyle = p.text;
  ctx.fillText('THE OFFICE QUARTERLY', m, 90);
  ctx.textAlign = 'right';
  ctx.fillStyle = p.muted;
  ctx.fillText('No. 12', W - m, 90);
  ctx.fillText('INVENTED FIGURES', W - m, H - 68);
  ctx.textAlign = 'left';
  ctx.fillText('CUPS A WEEK, 52 WEEKS', m, H - 68);
  ctx.letterSpacing = '0px';
  ctx.globalAlpha = 1;
}

// The headline rises line by line from behind its own baseline.
function headline(ctx, t, env, enter) {
  const { style } = env;
  const p = style.palette;
  const m = style.space.margin;
  const size = 116;
  const lines = ['We drink', 'more coffee', 'than we admit.'];
  lines.forEach((l, i) => {
    const k = env.progress(t, 0.3 + i * 0.14, 1.1, enter);
    const base = 330 + i * size * 0.95;
    ctx.save();
    ctx.beginPath();
    ctx.rect(m - 20, base - size * 0.86, 700, size * 1.14);
    ctx.clip();
    ctx.font = env.font('display', size, 400, i === 2);
    ctx.letterSpacing = '-2px';
    ctx.fillStyle = i === 2 ? p.accent : p.text;
    ctx.fillText(l, m - 4, base + size * 1.2 * (1 - k));
    ctx.restore();
  });
  ctx.font = env.font('body', 31);
  ctx.fillStyle = p.muted;
  env.text.wrap(ctx, 'A year at the machine on the third floor. It counts; we only say “just one more”.', 470).forEach((l, i) => {
    const k = env.progress(t, 0.9 + i * 0.1, 1, enter);
    ctx.globalAlpha = k;
    ctx.fillText(l, m, 676 + i * 45 + 16 * (1 - k));
  });
  ctx.globalAlpha = 1;
}

function axes(ctx, t, env) {
  const { style } = env;
  const p = style.palette;
  ctx.font = env.font('Inter', 24, 500);
  y.ticks(4).forEach((v, i) => {
    const k = env.progress(t, 0.7 + i * 0.08, 0.9, style.motion.enter.ease);
    ctx.fillStyle = v === 0 ? p.text : p.line;
    ctx.fillRect(box.left, y(v), (box.right - box.left) * k, v === 0 ? 2.5 : 1.5);
    ctx.globalAlpha = k;
    ctx.fillStyle = p.muted;
    ctx.textAlign = 'right';
    ctx.fillText(v, box.left - 22, y(v) + 8);
    ctx.globalAlpha = 1;
  });
  ctx.textAlign = 'center';
  for (const [w, name] of [[2, 'Jan'], [15, 'Apr'], [28, 'Jul'], [41, 'Oct'], [51, 'Dec']]) {
    ctx.globalAlpha = env.progress(t, 1 + w * 0.01, 0.8);
    ctx.fillText(name, x(w), box.bottom + 46);
  }
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
}

// A note appears when the pen has passed its week: dot, leader, words. Above
// the curve it is centred, else it stands to the right.
function note(ctx, t, env, e, tip) {
  const p = env.style.palette;
  const px = x(e.week);
  const py = y(cups[e.week - 1]);
  const k = env.clamp((tip.x - px) / 60);
  if (k <= 0) return;
  const s = env.ease.outCubic(k);
  const tx = px + e.dx;
  const ty = py + e.dy;
  const above = e.align === 'center';
  ctx.fillStyle = p.text;
  if (above) ctx.fillRect(px - 1, py - 18 - 92 * s, 2, 92 * s);
  else ctx.fillRect(px + 18, py - 1, (e.dx - 30) * s, 2);
  ctx.fillStyle = p.background;
  ctx.beginPath();
  ctx.arc(px, py, 9 * s, 0, env.TAU);
  ctx.fill();
  ctx.strokeStyle = p.accent;
  ctx.lineWidth = 4;
  ctx.stroke();
  ctx.globalAlpha = s;
  ctx.textAlign = e.align;
  ctx.font = env.font('heading', 46);
  ctx.fillStyle = p.text;
  ctx.fillText(e.title, tx, ty + 8);
  ctx.font = env.font('body', 28, 400, true);
  ctx.fillStyle = p.muted;
  ctx.fillText(e.text, tx, ty + 44);
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
}

// The pen carries the value; at the end it becomes the sum.
function pen(ctx, t, env, tip, drawn) {
  const p = env.style.palette;
  const pulse = 1 + 0.12 * Math.sin(t * 6);
  ctx.fillStyle = p.accent;
  ctx.beginPath();
  ctx.arc(tip.x, tip.y, 11 * (drawn < 1 ? 1 : pulse), 0, env.TAU);
  ctx.fill();
  const k = env.progress(t, 6.4, 0.6, env.style.motion.enter.ease);
  const big = env.lerp(40, 96, k);
  ctx.font = env.font('display', big);
  ctx.textAlign = 'right';
  ctx.fillStyle = p.accent;
  const lift = env.lerp(34, tip.y - y(350), k); // clear of the hill before it
  ctx.fillText(Math.round(tip.value), tip.x + env.lerp(20, 14, k), tip.y - lift);
  ctx.textAlign = 'left';
}

// Grain of the paper, made once.
function paper(env) {
  const c = new OffscreenCanvas(256, 256);
  const g = c.getContext('2d');
  const img = g.createImageData(256, 256);
  for (let i = 0; i < 256 * 256; i++) {
    const v = env.rand('grain', i) * 255;
    img.data.set([v, v, v, 255], i * 4);
  }
  g.putImageData(img, 0, 0);
  return c;
}
