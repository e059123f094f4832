// The style "terminal": a command is typed, and answers.
export const meta = { title: 'Terminal', width: 1920, height: 1080, fps: 30, duration: 5, style: 'terminal', seed: 2 };

const RATE = 28; // characters a second
const COMMAND = 'proofreel render launch.js -o launch.mp4';
const ANSWER = [
  ['scene', 'launch.js, 1920x1080, 30 fps, 12.0 s'],
  ['frames', '360 / 360'],
  ['film', 'launch.mp4, 4.1 MB, verified'],
  ['same bytes', 'yes'],
];

export function draw(ctx, t, frame, env) {
  const { width: W, style, color } = env;
  const p = style.palette;
  const m = style.space.margin;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, env.height);

  // A banner in blocks, cut by a moving line.
  glow(ctx, p.accent, () => {
    ctx.font = env.font('display', 148);
    ctx.letterSpacing = '-4px';
    const s = 'PROOFREEL';
    ctx.fillText(s.slice(0, Math.floor(t * 30)), m - 6, 250);
    ctx.letterSpacing = '0px';
  });
  ctx.font = env.font('label', 26);
  ctx.fillStyle = p.muted;
  ctx.fillText('scenes in, films out', m, 312);
  ctx.textAlign = 'right';
  ctx.fillText('tty1  80x24', W - m, 312);
  ctx.textAlign = 'left';
  ctx.fillStyle = p.line;
  ctx.fillRect(m, 344, W - 2 * m, 2);

  const begin = 0.6;
  const typed = COMMAND.slice(0, env.clamp(Math.floor((t - begin) * RATE), 0, COMMAND.length));
  const done = begin + COMMAND.length / RATE + 0.25;
  ctx.font = env.font('body', 36);
  const cell = ctx.measureText('M').width;
  const y0 = 440;
  glow(ctx, p.accent2, () => ctx.fillText('~/film', m, y0));
  ctx.fillStyle = p.muted;
  ctx.fillText('$', m + cell * 7, y0);
  ctx.fillStyle = p.text;
  ctx.fillText(typed, m + cell * 9, y0);

  const row = 58;
  let rows = 0;
  if (t > done) {
    const k = env.ease.steps(40)(env.clamp((t - done) / 1.1));
    const n = 48;
    ctx.fillStyle = p.line;
    ctx.fillText('░'.repeat(n), m, y0 + row * 1.4);
    glow(ctx, p.accent, () => ctx.fillText('█'.repeat(Math.round(n * k)), m, y0 + row * 1.4));
    ctx.fillStyle = p.text;
    ctx.fillText(`${String(Math.round(k * 100)).padStart(3)} %`, m + cell * (n + 2), y0 + row * 1.4);
    rows = 2;
  }
  ANSWER.forEach(([name, value], i) => {
    if (t < done + 1.15 + i * 0.12) return;
    const y = y0 + row * (2.7 + i);
    ctx.fillStyle = p.muted;
    ctx.fillText(name, m, y);
    ctx.fillStyle = name === 'same bytes' ? p.accent : p.text;
    ctx.fillText(value, m + cell * 14, y);
    rows = 3 + i;
  });
  const typing = t > begin && t < begin + COMMAND.length / RATE;
  if (typing || Math.floor(t * 2) % 2 === 0) {
    const [cx, cy] = t < done ? [m + cell * (9 + typed.length), y0] : [m + cell * 9, y0 + row * (rows + 2.4)];
    if (t < done || rows === 6) glow(ctx, p.accent, () => ctx.fillRect(cx, cy - 32, cell, 42));
  }
  if (rows === 6) {
    glow(ctx, p.accent2, () => ctx.fillText('~/film', m, y0 + row * 8.4));
    ctx.fillStyle = p.muted;
    ctx.fillText('$', m + cell * 7, y0 + row * 8.4);
  }
  tube(ctx, env);
}

// glow draws bright things twice: wide and faint below, sharp above.
function glow(ctx, colour, paint) {
  ctx.save();
  ctx.shadowColor = colour;
  ctx.shadowBlur = 24;
  ctx.fillStyle = colour;
  paint();
  ctx.restore();
}

// The tube: scan lines and a vignette.
function tube(ctx, env) {
  const { width: W, height: H } = env;
  ctx.fillStyle = 'rgba(0,0,0,0.16)';
  for (let y = 0; y < H; y += 4) ctx.fillRect(0, y, W, 1.5);
  const g = ctx.createRadialGradient(W / 2, H / 2, H * 0.45, W / 2, H / 2, H * 1.05);
  g.addColorStop(0, 'rgba(0,0,0,0)');
  g.addColorStop(1, 'rgba(0,0,0,0.4)');
  ctx.fillStyle = g;
  ctx.fillRect(0, 0, W, H);
}
