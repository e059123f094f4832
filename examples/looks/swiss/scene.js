// The style "swiss": one enormous number on the grid.
export const meta = { title: 'Swiss', width: 1920, height: 1080, fps: 30, duration: 4, style: 'swiss', seed: 1 };

const TABLE = [['Subject', 'Frames'], ['Rate', '30 a second'], ['Missing', 'None'], ['Twice', 'None']];

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const { margin: m, gutter, columns } = style.space;
  const col = (W - 2 * m + gutter) / columns;
  const at = (n) => m + n * col;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);

  // A red block comes along the grid and takes the right third.
  const wipe = env.progress(t, 0.15, 0.6, style.motion.move.ease);
  ctx.fillStyle = p.accent;
  ctx.fillRect(at(8), H * (1 - wipe), W - at(8), H);

  TABLE.forEach(([label, value], i) => {
    const x = at(i * 3);
    const k = env.progress(t, 0.3 + i * 0.06, 0.5, style.motion.enter.ease);
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, 56, col * 3, 84);
    ctx.clip();
    ctx.font = env.font('label', 26);
    ctx.fillStyle = x >= at(8) ? '#ffffff' : p.muted;
    ctx.fillText(label, x, 84 + 90 * (1 - k));
    ctx.fillStyle = x >= at(8) ? '#ffffff' : p.text;
    ctx.fillText(value, x, 120 + 90 * (1 - k));
    ctx.restore();
  });
  ctx.fillStyle = p.text;
  ctx.fillRect(m, 160, (at(8) - m - gutter) * env.progress(t, 0.3, 0.6, style.motion.move.ease), style.space.stroke);

  // The number counts by whole frames and is cropped by the block's edge.
  const count = Math.round(1440 * env.progress(t, 0.4, 1.7, 'outExpo'));
  const rise = env.progress(t, 0.4, 0.6, style.motion.enter.ease);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 170, W, 650);
  ctx.clip();
  ctx.font = env.font('Inter', 620, 800);
  ctx.letterSpacing = '-34px';
  ctx.fillStyle = p.text;
  ctx.fillText(String(count), m - 28, 700 + 600 * (1 - rise));
  ctx.restore();
  ctx.letterSpacing = '0px';

  const lines = ['Every one of them', 'is drawn, checked', 'and counted.'];
  ctx.font = env.font('heading', 76);
  ctx.letterSpacing = '-2.3px';
  lines.forEach((l, i) => {
    const k = env.progress(t, 0.9 + i * 0.08, 0.55, style.motion.enter.ease);
    const y = 860 + i * 80;
    ctx.save();
    ctx.beginPath();
    ctx.rect(m, y - 70, at(8) - m, 92);
    ctx.clip();
    ctx.fillStyle = p.text;
    ctx.fillText(l, m, y + 95 * (1 - k));
    ctx.restore();
  });
  ctx.letterSpacing = '0px';
  const k = env.progress(t, 1.3, 0.5, style.motion.enter.ease);
  ctx.font = env.font('body', 34);
  ctx.fillStyle = '#ffffff';
  ctx.globalAlpha = k > 0 ? 1 : 0;
  env.text.wrap(ctx, 'Forty-eight seconds of film, made of one file.', 360 * 1.05).forEach((l, i) => ctx.fillText(l, at(9), 936 + i * 46));
  ctx.globalAlpha = 1;
}
