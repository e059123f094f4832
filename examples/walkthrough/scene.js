// A product walk-through: a drawn interface, a pointer that uses it, captions
// that say what happens, and a camera that looks where it does.
import { script, pointer, camera } from './script.js';
import { app, soft } from './app.js';

export const meta = { title: 'Product walk-through', width: 1920, height: 1080, fps: 30, duration: 8, background: '#dfe5f2', seed: 8 };

export const C = {
  ink: '#101828', soft: '#475467', faint: '#98a2b3', line: '#e4e7ec', card: '#ffffff', wash: '#f7f8fb',
  brand: '#4f46e5', brandDark: '#3730a3', brandWash: '#eef0ff', good: '#067647', goodWash: '#d7f5e3',
};

export function draw(ctx, t, frame, env) {
  const { width: W, height: H } = env;
  backdrop(ctx, t, env);

  const cam = camera(t, env);
  const arrive = env.progress(t, 0, 1.1, 'outQuint');
  ctx.save();
  ctx.translate(W / 2, H / 2 + 90 * (1 - arrive));
  ctx.scale(cam.zoom, cam.zoom);
  ctx.translate(-cam.x, -cam.y);
  ctx.globalAlpha = Math.min(1, arrive * 1.4);
  app(ctx, t, env, C);
  arrow(ctx, t, env);
  ctx.restore();

  captions(ctx, t, env);
}

// Wide gradients have no detail: they are painted at a quarter of the size.
let small;

function backdrop(target, t, env) {
  const { width: W, height: H } = env;
  small = small || new OffscreenCanvas(W / 4, H / 4);
  const ctx = small.getContext('2d');
  ctx.setTransform(0.25, 0, 0, 0.25, 0, 0);
  const g = ctx.createLinearGradient(0, 0, W, H);
  g.addColorStop(0, '#eef1f8');
  g.addColorStop(0.55, '#dde3f4');
  g.addColorStop(1, '#cdd3f1');
  ctx.fillStyle = g;
  ctx.fillRect(0, 0, W, H);
  for (const [x, y, r, c] of [[260, 180, 700, 'rgba(255,255,255,0.75)'], [1750, 960 + 20 * Math.sin(t * 0.6), 820, 'rgba(124,112,255,0.26)'], [120, 1000, 600, 'rgba(96,165,250,0.2)']]) {
    const l = ctx.createRadialGradient(x, y, 0, x, y, r);
    l.addColorStop(0, c);
    l.addColorStop(1, 'rgba(255,255,255,0)');
    ctx.fillStyle = l;
    ctx.fillRect(0, 0, W, H);
  }
  target.drawImage(small, 0, 0, W, H);
}

// The pointer with its ring at a click.
function arrow(ctx, t, env) {
  const p = pointer(t, env);
  for (const click of script.clicks) {
    const k = env.progress(t, click.t, 0.5, 'outCubic');
    if (t < click.t || k >= 1) continue;
    ctx.strokeStyle = env.color.alpha(C.brand, 0.75 * (1 - k));
    ctx.lineWidth = 5 * (1 - k) + 1;
    ctx.beginPath();
    ctx.arc(click.x, click.y, 8 + 42 * k, 0, env.TAU);
    ctx.stroke();
  }
  ctx.save();
  ctx.translate(p.x, p.y);
  ctx.scale(1.5 * p.press, 1.5 * p.press);
  const shape = new Path2D('M0 0 L0 21 L5 16.6 L8.6 24.6 L12.4 22.9 L8.9 15.1 L15.4 14.6 Z');
  ctx.fillStyle = 'rgba(16,24,40,0.25)';
  ctx.translate(1, 2.5);
  ctx.fill(shape);
  ctx.translate(-1, -2.5);
  ctx.fillStyle = '#101828';
  ctx.fill(shape);
  ctx.lineWidth = 1.6;
  ctx.lineJoin = 'round';
  ctx.strokeStyle = '#ffffff';
  ctx.stroke(shape);
  ctx.restore();
}

// One caption at a time, in a pill at the bottom, with its number.
function captions(ctx, t, env) {
  const { width: W, height: H } = env;
  script.captions.forEach((c, i) => {
    const k = env.inOut(t, c.from, c.to, 0.4, 0.25, 'outCubic');
    if (k <= 0) return;
    ctx.font = env.font('Inter', 34, 600);
    const w = ctx.measureText(c.text).width + 128;
    const x = (W - w) / 2;
    const y = H - 122 + 26 * (1 - k);
    ctx.globalAlpha = k;
    soft(ctx, x, y, w, 76, 38, 'rgba(16,24,40,0.4)', 30, 12);
    ctx.fillStyle = C.ink;
    ctx.beginPath();
    ctx.roundRect(x, y, w, 76, 38);
    ctx.fill();
    ctx.fillStyle = '#a5b4fc';
    ctx.beginPath();
    ctx.arc(x + 44, y + 38, 20, 0, env.TAU);
    ctx.fill();
    ctx.fillStyle = C.ink;
    ctx.font = env.font('Inter', 24, 800);
    ctx.textAlign = 'center';
    ctx.fillText(String(i + 1), x + 44, y + 47);
    ctx.textAlign = 'left';
    ctx.fillStyle = '#ffffff';
    ctx.font = env.font('Inter', 34, 600);
    ctx.fillText(c.text, x + 84, y + 50);
    ctx.globalAlpha = 1;
  });
}
