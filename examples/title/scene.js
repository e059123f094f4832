// A title card in the style "midnight": one light, one thought, then the name.
export const meta = { title: 'Title card', width: 1920, height: 1080, fps: 30, duration: 6, style: 'midnight', seed: 3 };

const LINES = ['Every frame,', 'on purpose.'];

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style, color } = env;
  const p = style.palette;
  const out = env.inOut(t, -1, 6.05, 0.5, 0.55, 'inOutCubic'); // all leaves together
  sky(ctx, t, env);
  planet(ctx, t, env);

  ctx.save();
  ctx.globalAlpha = out;
  const left = style.space.margin;

  // The small line above.
  const k = env.progress(t, 0.5, 0.9, style.motion.enter.ease);
  ctx.globalAlpha = k * out;
  ctx.font = env.font('label', 26);
  ctx.letterSpacing = '1px';
  ctx.fillStyle = p.accent;
  ctx.fillRect(left, 372, 44 * k, 2);
  ctx.fillText('Proofreel 2.0', left + 64, 381);
  ctx.letterSpacing = '0px';

  // The headline: words rise one after the other.
  const size = 164;
  ctx.font = env.font('display', size);
  ctx.letterSpacing = `${style.type.display.tracking * size}px`;
  LINES.forEach((line, row) => {
    const y = 540 + row * size * 1.0;
    for (const w of env.text.words(ctx, line)) {
      const k = env.progress(t, 0.7 + row * 0.22 + w.index * 0.1, 1.2, style.motion.enter.ease);
      ctx.globalAlpha = k * out;
      if (row === 1) {
        const g = ctx.createLinearGradient(left, 0, left + 860, 0);
        g.addColorStop(0, p.text);
        g.addColorStop(1, p.accent);
        ctx.fillStyle = g;
      } else {
        ctx.fillStyle = p.text;
      }
      ctx.fillText(w.word, left + w.x - 6, y + 40 * (1 - k));
    }
  });
  ctx.letterSpacing = '0px';

  // What it is, in one sentence.
  ctx.font = env.font('body', 36);
  ctx.fillStyle = p.muted;
  env.text.wrap(ctx, 'One JavaScript file becomes a film: the same pixels on every machine, every time.', 760).forEach((l, i) => {
    const k = env.progress(t, 1.55 + i * 0.1, 1.1, style.motion.enter.ease);
    ctx.globalAlpha = k * out;
    ctx.fillText(l, left, 812 + i * 54 + 24 * (1 - k));
  });
  ctx.restore();
  ruler(ctx, t, env, out);
  if (t > 5.5) {
    ctx.fillStyle = color.alpha(p.background, env.progress(t, 5.5, 0.45, 'inQuad'));
    ctx.fillRect(0, 0, W, H);
  }
}

// The night: two wide lights that drift, and stars. Wide gradients are dear and
// have no detail: they are painted at a quarter of the size.
let small;

function sky(ctx, t, env) {
  const { width: W, height: H, color } = env;
  const p = env.style.palette;
  small = small || new OffscreenCanvas(W / 4, H / 4);
  const far = small.getContext('2d');
  far.setTransform(0.25, 0, 0, 0.25, 0, 0);
  far.fillStyle = p.background;
  far.fillRect(0, 0, W, H);
  const light = (x, y, r, c, a) => {
    const g = far.createRadialGradient(x, y, 0, x, y, r);
    g.addColorStop(0, color.alpha(c, a));
    g.addColorStop(0.5, color.alpha(c, a * 0.28));
    g.addColorStop(1, color.alpha(c, 0));
    far.fillStyle = g;
    far.fillRect(0, 0, W, H);
  };
  light(1500 + 40 * Math.sin(t * 0.4), 430, 1100, p.accent, 0.26);
  light(1850, 1000 - 30 * t * 0.5, 900, p.accent2, 0.2);
  const { k, x, y, r } = place(t, env);
  const halo = far.createRadialGradient(x - 30, y - 30, r * 0.9, x - 30, y - 30, r * 1.9);
  for (let i = 0; i <= 6; i++) halo.addColorStop(i / 6, color.alpha(p.accent, 0.3 * k * (1 - i / 6) ** 3));
  far.fillStyle = halo;
  far.fillRect(0, 0, W, H);
  ctx.drawImage(small, 0, 0, W, H);
  for (let i = 0; i < 150; i++) {
    const sx = env.rand('star', i) * W;
    const sy = env.rand('star y', i) * H;
    const depth = env.rand('depth', i);
    const blink = 0.55 + 0.45 * Math.sin(t * (1 + depth * 2) + i);
    ctx.fillStyle = color.alpha('#dfe7ff', (0.08 + 0.5 * depth ** 3) * blink * env.progress(t, 0, 1.4, 'outQuad'));
    const size = 0.8 + depth * 1.3;
    ctx.fillRect(sx - t * 6 * depth, sy, size, size);
  }
}

// place says where the planet is, how large, and how far it has come.
function place(t, env) {
  const k = env.progress(t, 0.1, 2.2, 'outQuint');
  return { k, x: 1520 + 90 * (1 - k), y: 520, r: 286 * (0.94 + 0.06 * k) * (1 + t * 0.006) };
}

// A planet lit from the upper left, with a ring of frames around it.
function planet(ctx, t, env) {
  const { color, TAU } = env;
  const p = env.style.palette;
  const { k, x, y, r } = place(t, env);
  ctx.save();
  ctx.globalAlpha = k;

  ring(ctx, t, env, x, y, r, true);

  const body = ctx.createRadialGradient(x - r * 0.5, y - r * 0.55, r * 0.05, x - r * 0.1, y - r * 0.1, r * 1.12);
  body.addColorStop(0, '#cfdcff');
  body.addColorStop(0.22, p.accent);
  body.addColorStop(0.52, '#33408f');
  body.addColorStop(0.8, '#10153a');
  body.addColorStop(1, p.background);
  ctx.fillStyle = body;
  ctx.beginPath();
  ctx.arc(x, y, r, 0, TAU);
  ctx.fill();

  // Bands of cloud, clipped to the body.
  ctx.save();
  ctx.clip();
  ctx.translate(x, y);
  ctx.rotate(-0.32);
  for (let i = 0; i < 9; i++) {
    const yy = -r + (i + 0.5) * (r * 2 / 9) + 14 * env.noise(i * 3.1, t * 0.15);
    const g = ctx.createLinearGradient(-r, 0, r, 0);
    const shift = env.noise(i * 1.7, t * 0.2) * 0.15;
    g.addColorStop(0, 'rgba(255,255,255,0)');
    g.addColorStop(env.clamp(0.32 + shift), `rgba(235,240,255,${0.05 + 0.07 * env.rand('band', i)})`);
    g.addColorStop(0.7, 'rgba(255,255,255,0)');
    ctx.fillStyle = g;
    ctx.beginPath();
    ctx.ellipse(0, yy, r * 1.1, 10 + 20 * env.rand('thick', i), 0, 0, TAU);
    ctx.fill();
  }
  ctx.restore();
  ring(ctx, t, env, x, y, r, false);
  ctx.restore();
}

// Half of the ring lies behind the planet, half before it.
function ring(ctx, t, env, x, y, r, behind) {
  const { color, TAU } = env;
  const p = env.style.palette;
  const n = 72;
  const appear = env.progress(t, 0.6, 2.4, 'inOutCubic');
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-0.32);
  for (let i = 0; i < n * appear; i++) {
    const a = (i / n) * TAU + t * 0.12 + 2.2;
    const depth = Math.sin(a);
    if (behind !== depth < 0) continue;
    const near = 0.5 + 0.5 * depth;
    const px = Math.cos(a) * r * 1.5;
    const py = depth * r * 0.36;
    const lit = 0.5 - 0.5 * Math.cos(a);
    ctx.fillStyle = color.alpha(color.mix(p.accent2, '#eef2ff', lit), (0.15 + 0.75 * near) * (0.25 + 0.75 * lit));
    const w = 11 + 15 * near;
    const h = w * 0.62;
    ctx.beginPath();
    ctx.roundRect(px - w / 2, py - h / 2, w, h, 3);
    ctx.fill();
  }
  ctx.restore();
}

// The film's own ruler at the bottom: a mark for each frame of the last second.
function ruler(ctx, t, env, out) {
  const { width: W, color } = env;
  const p = env.style.palette;
  const m = env.style.space.margin;
  const k = env.progress(t, 1.9, 1.2, 'outCubic') * out;
  if (k <= 0) return;
  const y = 980;
  for (let i = 0; i <= 120; i++) {
    const x = m + (i / 120) * (W - 2 * m);
    const passed = i / 120 <= t / env.duration;
    const tall = i % 20 === 0 ? 18 : 9;
    ctx.fillStyle = color.alpha(passed ? p.accent : p.line, (passed ? 0.95 : 1) * k);
    ctx.fillRect(x, y - tall * k, 2, tall * k);
  }
  ctx.globalAlpha = k;
  ctx.font = env.font('mono', 24);
  ctx.fillStyle = p.muted;
  ctx.fillText(`frame ${String(env.frame).padStart(3, '0')}`, m, y + 38);
  const end = `${env.fps} fps`;
  ctx.fillText(end, W - m - ctx.measureText(end).width, y + 38);
  ctx.globalAlpha = 1;
}
