// The style "blueprint": how a scene becomes a film, drawn on a sheet.
export const meta = { title: 'Blueprint', width: 1920, height: 1080, fps: 30, duration: 5, style: 'blueprint', seed: 4 };

const BOXES = [
  { x: 216, y: 500, w: 312, h: 216, title: 'scene.js', note: 'draw(ctx, t)' },
  { x: 744, y: 380, w: 360, h: 192, title: 'worker 1', note: 'frames 0, 2, 4' },
  { x: 744, y: 644, w: 360, h: 192, title: 'worker 2', note: 'frames 1, 3, 5' },
  { x: 1344, y: 500, w: 360, h: 216, title: 'film.mp4', note: 'H.264, BT.709', hero: true },
];
const WIRES = [
  [[528, 584], [636, 584], [636, 476], [744, 476]],
  [[528, 632], [636, 632], [636, 740], [744, 740]],
  [[1104, 476], [1224, 476], [1224, 584], [1344, 584]],
  [[1104, 740], [1224, 740], [1224, 632], [1344, 632]],
];

export function draw(ctx, t, frame, env) {
  const p = env.style.palette;
  sheet(ctx, t, env);
  WIRES.forEach((w, i) => wire(ctx, t, env, w, 1.15 + i * 0.12));
  BOXES.forEach((b, i) => block(ctx, t, env, b, 0.5 + i * 0.22));
  dimension(ctx, t, env, 216, 1704, 912);

  ctx.font = env.font('display', 132);
  ctx.letterSpacing = '-4px';
  ctx.fillStyle = p.text;
  const k = env.progress(t, 0.2, 0.9, env.style.motion.enter.ease);
  ctx.save();
  ctx.beginPath();
  ctx.rect(90, 96, 1700 * k, 200);
  ctx.clip();
  ctx.fillText('How a film is drawn', 92, 232);
  ctx.restore();
  ctx.letterSpacing = '0px';
}

// The sheet: grid, corner crosses, title block.
function sheet(ctx, t, env) {
  const { width: W, height: H, color } = env;
  const p = env.style.palette;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);
  for (const [step, alpha] of [[24, 0.22], [120, 0.5]]) {
    ctx.fillStyle = color.alpha(p.line, alpha);
    for (let x = step - 24; x < W; x += step) ctx.fillRect(x, 0, 1.5, H);
    for (let y = step - 24; y < H; y += step) ctx.fillRect(0, y, W, 1.5);
  }
  ctx.strokeStyle = color.alpha(p.accent2, 0.8);
  ctx.lineWidth = 2.5;
  ctx.beginPath();
  for (const [x, y] of [[48, 48], [W - 48, 48], [48, H - 48], [W - 48, H - 48]]) {
    ctx.moveTo(x - 16, y);
    ctx.lineTo(x + 16, y);
    ctx.moveTo(x, y - 16);
    ctx.lineTo(x, y + 16);
  }
  ctx.stroke();
  const k = env.progress(t, 0.1, 0.8);
  ctx.globalAlpha = k;
  ctx.font = env.font('label', 24);
  ctx.fillStyle = p.muted;
  ctx.fillText('SHEET 1 OF 3', 96, H - 60);
  ctx.textAlign = 'right';
  ctx.fillText('SCALE 1:1    DRAWN BY FRAME', W - 96, H - 60);
  ctx.textAlign = 'left';
  ctx.globalAlpha = 1;
}

function block(ctx, t, env, b, start) {
  const p = env.style.palette;
  const k = env.progress(t, start, 0.9, env.style.motion.enter.ease);
  if (k <= 0) return;
  const around = 2 * (b.w + b.h);
  ctx.strokeStyle = b.hero ? p.accent : p.text;
  ctx.lineWidth = b.hero ? 5 : 3;
  ctx.setLineDash([around * k, around]);
  ctx.fillStyle = env.color.alpha(p.surface, k);
  ctx.fillRect(b.x, b.y, b.w, b.h);
  ctx.strokeRect(b.x, b.y, b.w, b.h);
  ctx.setLineDash([]);
  const s = env.progress(t, start + 0.45, 0.6);
  ctx.globalAlpha = s;
  ctx.font = env.font('heading', 56);
  ctx.fillStyle = b.hero ? p.accent : p.text;
  ctx.fillText(b.title, b.x + 36, b.y + 92);
  ctx.font = env.font('mono', 27);
  ctx.fillStyle = p.muted;
  ctx.fillText(b.note, b.x + 36, b.y + 144);
  ctx.globalAlpha = 1;
}

// A wire is drawn, then short dashes run along it.
function wire(ctx, t, env, points, start) {
  const p = env.style.palette;
  const length = points.slice(1).reduce((sum, q, i) => sum + Math.hypot(q[0] - points[i][0], q[1] - points[i][1]), 0);
  const k = env.progress(t, start, 0.8, env.style.motion.enter.ease);
  if (k <= 0) return;
  const path = new Path2D();
  points.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  ctx.strokeStyle = p.accent2;
  ctx.lineWidth = 3;
  ctx.setLineDash([length * k, length]);
  ctx.stroke(path);
  if (k === 1) {
    ctx.strokeStyle = p.accent;
    ctx.lineWidth = 7;
    ctx.setLineDash([22, 62]);
    ctx.lineDashOffset = -t * 170;
    ctx.stroke(path);
    ctx.lineDashOffset = 0;
  }
  ctx.setLineDash([]);
}

function dimension(ctx, t, env, x1, x2, y) {
  const p = env.style.palette;
  const k = env.progress(t, 1.9, 0.8, env.style.motion.enter.ease);
  if (k <= 0) return;
  const mid = (x1 + x2) / 2;
  ctx.strokeStyle = p.muted;
  ctx.fillStyle = p.muted;
  ctx.lineWidth = 2.5;
  const half = ((x2 - x1) / 2) * k;
  ctx.beginPath();
  for (const way of [-1, 1]) {
    ctx.moveTo(mid + way * 150, y);
    ctx.lineTo(mid + way * Math.max(150, half), y);
    ctx.moveTo(mid + way * half, y - 22);
    ctx.lineTo(mid + way * half, y + 22);
  }
  ctx.stroke();
  for (const way of [-1, 1]) {
    ctx.beginPath();
    ctx.moveTo(mid + way * half, y);
    ctx.lineTo(mid + way * (half - 24), y - 9);
    ctx.lineTo(mid + way * (half - 24), y + 9);
    ctx.fill();
  }
  ctx.font = env.font('mono', 32, 500);
  ctx.fillStyle = p.accent;
  ctx.textAlign = 'center';
  ctx.fillText(`${Math.round(33.3 * k * 10) / 10} ms`, mid, y + 11);
  ctx.textAlign = 'left';
}
