// The style "midnight": an object of light, a name, one sentence.
export const meta = { title: 'Midnight', width: 1920, height: 1080, fps: 30, duration: 5, style: 'midnight', seed: 12 };

let small;

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style, color, TAU } = env;
  const p = style.palette;
  const ease = style.motion.enter.ease;
  // Wide light has no detail: it is painted at a quarter of the size.
  small = small || new OffscreenCanvas(W / 4, H / 4);
  const far = small.getContext('2d');
  far.setTransform(0.25, 0, 0, 0.25, 0, 0);
  far.fillStyle = p.background;
  far.fillRect(0, 0, W, H);
  light(far, W / 2, 420, 980, p.accent, 0.3 * env.progress(t, 0, 1.6, 'outCubic'), env);
  light(far, 420 + 60 * Math.sin(t * 0.5), 1080, 900, p.accent2, 0.2, env);
  ctx.drawImage(small, 0, 0, W, H);

  // The object: shells of thin arcs around a core.
  const k = env.progress(t, 0, 2, 'outQuint');
  ctx.save();
  ctx.translate(W / 2, 420);
  ctx.scale(0.9 + 0.1 * k, 0.9 + 0.1 * k);
  ctx.globalCompositeOperation = 'lighter';
  for (let i = 0; i < 46; i++) {
    const r = 92 + i * 5.4;
    const a = env.rand('turn', i) * TAU + t * (0.1 + 0.5 * env.rand('speed', i)) * (i % 2 ? 1 : -1);
    const span = (0.35 + 1.6 * env.rand('span', i)) * k;
    const hue = color.mix(p.accent, i % 3 ? p.accent2 : '#e8eeff', env.rand('hue', i));
    ctx.strokeStyle = color.alpha(hue, (0.16 + 0.5 * env.rand('bright', i)) * (1 - i / 60));
    ctx.lineWidth = 1.5 + 2.5 * env.rand('wide', i);
    ctx.lineCap = 'round';
    ctx.beginPath();
    ctx.ellipse(0, 0, r, r * (0.86 + 0.14 * Math.sin(t * 0.7 + i)), i * 0.05, a, a + span);
    ctx.stroke();
  }
  light(ctx, 0, 0, 300, '#dfe6ff', 0.95 * k, env);
  ctx.restore();

  ctx.textAlign = 'center';
  ctx.letterSpacing = '-7px';
  ctx.font = env.font('display', 178);
  const s = env.progress(t, 0.7, 1.2, ease);
  const g = ctx.createLinearGradient(0, 730, 0, 900);
  g.addColorStop(0, '#ffffff');
  g.addColorStop(1, color.mix(p.text, p.accent, 0.6));
  ctx.fillStyle = g;
  ctx.globalAlpha = s;
  ctx.fillText('Lumen', W / 2, 850 + 40 * (1 - s));
  ctx.letterSpacing = '0px';
  const u = env.progress(t, 1.1, 1.1, ease);
  ctx.globalAlpha = u;
  ctx.font = env.font('body', 38);
  ctx.fillStyle = p.muted;
  ctx.fillText('The database that answers before you ask.', W / 2, 930 + 24 * (1 - u));
  ctx.globalAlpha = 1;
  ctx.textAlign = 'left';
}

function light(ctx, x, y, r, c, a, env) {
  const g = ctx.createRadialGradient(x, y, 0, x, y, r);
  for (let i = 0; i <= 8; i++) g.addColorStop(i / 8, env.color.alpha(c, a * (1 - i / 8) ** 2.6));
  ctx.fillStyle = g;
  ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
}
