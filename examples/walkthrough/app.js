import { script } from './script.js';

const X = 260;
const Y = 110;
const WIDE = 1400;
const HIGH = 830;
const SIDE = 264;

const FILMS = [
  { name: 'onboarding.js', when: 'Today, 09:41', length: '0:32', hue: ['#fda4af', '#f43f5e'] },
  { name: 'quarterly-chart.js', when: 'Yesterday', length: '0:18', hue: ['#7dd3fc', '#2563eb'] },
  { name: 'conference-loop.js', when: 'Monday', length: '1:00', hue: ['#fcd34d', '#f97316'] },
  { name: 'changelog-2-0.js', when: '21 November', length: '0:45', hue: ['#86efac', '#0d9488'] },
];

export function app(ctx, t, env, C) {
  soft(ctx, X, Y, WIDE, HIGH, 20, 'rgba(30,41,90,0.3)', 70, 34);
  box(ctx, X, Y, WIDE, HIGH, 20, C.card);
  ctx.save();
  ctx.beginPath();
  ctx.roundRect(X, Y, WIDE, HIGH, 20);
  ctx.clip();
  sidebar(ctx, env, C);
  list(ctx, t, env, C);
  ctx.restore();
  dialog(ctx, t, env, C);
}

function sidebar(ctx, env, C) {
  ctx.fillStyle = C.wash;
  ctx.fillRect(X, Y, SIDE, HIGH);
  ctx.fillStyle = C.line;
  ctx.fillRect(X + SIDE, Y, 1.5, HIGH);
  ['#ff5f57', '#febc2e', '#28c840'].forEach((c, i) => dot(ctx, env, X + 32 + i * 24, Y + 34, 7, c));
  const g = ctx.createLinearGradient(X + 28, Y + 74, X + 68, Y + 114);
  g.addColorStop(0, '#818cf8');
  g.addColorStop(1, C.brand);
  box(ctx, X + 28, Y + 74, 40, 40, 11, g);
  ctx.fillStyle = '#fff';
  ctx.fill(new Path2D(`M${X + 43} ${Y + 85} L${X + 57} ${Y + 94} L${X + 43} ${Y + 103} Z`));
  label(ctx, env, 'Filmhouse', X + 82, Y + 102, 24, 700, C.ink);
  ['Films', 'Scenes', 'Styles', 'Fonts', 'Settings'].forEach((s, i) => {
    const y = Y + 150 + i * 54;
    if (i === 0) box(ctx, X + 18, y, SIDE - 36, 46, 10, C.brandWash);
    box(ctx, X + 36, y + 14, 18, 18, 5, i === 0 ? C.brand : '#cbd2e0');
    label(ctx, env, s, X + 70, y + 31, 21, i === 0 ? 600 : 500, i === 0 ? C.brandDark : C.soft);
  });
  dot(ctx, env, X + 48, Y + HIGH - 50, 20, '#fbcfe8');
  label(ctx, env, 'NK', X + 36, Y + HIGH - 43, 17, 700, '#9d174d');
  label(ctx, env, 'Noor Khan', X + 80, Y + HIGH - 44, 20, 500, C.ink);
}

function list(ctx, t, env, C) {
  const x = X + SIDE + 44;
  const right = X + WIDE - 44;
  label(ctx, env, 'Films', x, Y + 96, 40, 700, C.ink);
  label(ctx, env, 'Everything that was rendered', x + 122, Y + 94, 21, 400, C.faint);
  const press = 1 - 0.05 * Math.exp(-(((t - script.clicks[0].t) / 0.09) ** 2));
  const over = env.progress(t, 1.35, 0.25);
  ctx.save();
  ctx.translate(right - 86, Y + 84);
  ctx.scale(press, press);
  ctx.globalAlpha *= 0.4 + 0.6 * over;
  soft(ctx, -86, -26, 172, 52, 12, 'rgba(79,70,229,0.5)', 20, 6);
  ctx.globalAlpha /= 0.4 + 0.6 * over;
  box(ctx, -86, -26, 172, 52, 12, env.color.mix(C.brand, C.brandDark, over));
  label(ctx, env, 'New film', -34, 8, 22, 600, '#fff');
  ctx.fillStyle = '#fff';
  ctx.fillRect(-62, -1.5, 17, 3);
  ctx.fillRect(-55, -8.5, 3, 17);
  ctx.restore();

  // The new film comes first and pushes the others down.
  const k = env.progress(t, 4.8, 0.7, 'outQuint');
  const top = Y + 150;
  const row = 140;
  if (k > 0) {
    ctx.save();
    ctx.globalAlpha *= k;
    film(ctx, t, env, C, x, top - 20 * (1 - k), right - x, { name: script.typing.text, when: 'Just now', length: '0:08', hue: ['#c4b5fd', '#4f46e5'], fresh: true });
    ctx.restore();
  }
  FILMS.forEach((f, i) => {
    const a = env.progress(t, 0.35 + i * 0.09, 0.8, 'outQuint');
    ctx.save();
    ctx.globalAlpha *= a;
    film(ctx, t, env, C, x, top + i * row + row * k + 30 * (1 - a), right - x, f);
    ctx.restore();
  });
}

function film(ctx, t, env, C, x, y, w, f) {
  const g = ctx.createLinearGradient(x, y, x + 180, y + 102);
  g.addColorStop(0, f.hue[0]);
  g.addColorStop(1, f.hue[1]);
  box(ctx, x, y + 8, 180, 102, 12, g);
  dot(ctx, env, x + 90, y + 59, 24, 'rgba(255,255,255,0.92)');
  ctx.fillStyle = f.hue[1];
  ctx.fill(new Path2D(`M${x + 83} ${y + 48} L${x + 101} ${y + 59} L${x + 83} ${y + 70} Z`));
  label(ctx, env, f.name, x + 212, y + 50, 26, 600, C.ink);
  label(ctx, env, f.when, x + 212, y + 86, 21, 400, C.faint);
  label(ctx, env, f.length, x + w - 210, y + 66, 22, 500, C.soft);
  if (!f.fresh) {
    badge(ctx, env, x + w - 124, y + 40, 'Verified', C.good, C.goodWash);
  } else {
    rendering(ctx, t, env, C, x, y, w);
  }
  ctx.fillStyle = C.line;
  ctx.fillRect(x, y + 125, w, 1.5);
}

// The bar fills, then turns into the badge.
function rendering(ctx, t, env, C, x, y, w) {
  const { from, to } = script.progress;
  const k = env.progress(t, from, to - from, [0.45, 0.1, 0.3, 1]);
  const done = env.progress(t, to + 0.05, 0.45, 'outBack');
  if (done > 0) {
    ctx.save();
    ctx.translate(x + w - 62, y + 60);
    ctx.scale(done, done);
    badge(ctx, env, -62, -20, 'Verified', C.good, C.goodWash);
    ctx.restore();
    return;
  }
  box(ctx, x + w - 480, y + 52, 250, 12, 6, C.line);
  if (k > 0.02) box(ctx, x + w - 480, y + 52, 250 * k, 12, 6, C.brand);
  label(ctx, env, `${Math.round(k * 240)} / 240 frames`, x + w - 480, y + 92, 20, 500, C.soft);
  badge(ctx, env, x + w - 132, y + 40, 'Rendering', C.brandDark, C.brandWash);
}

function badge(ctx, env, x, y, s, ink, wash) {
  ctx.font = env.font('Inter', 20, 600);
  const w = ctx.measureText(s).width + 36;
  box(ctx, x, y, w, 40, 20, wash);
  label(ctx, env, s, x + 18, y + 27, 20, 600, ink);
}

function dialog(ctx, t, env, C) {
  const { open, close } = script.dialog;
  const k = env.inOut(t, open, close, 0.5, 0.25, 'outQuint');
  if (k <= 0) return;
  ctx.save();
  ctx.globalAlpha *= k;
  box(ctx, X, Y, WIDE, HIGH, 20, 'rgba(16,24,40,0.38)');
  const w = 620;
  const h = 390;
  const x = 960 - w / 2;
  const y = 350;
  ctx.translate(960, y + h / 2);
  ctx.scale(0.94 + 0.06 * k, 0.94 + 0.06 * k);
  ctx.translate(-960, -y - h / 2);
  soft(ctx, x, y, w, h, 20, 'rgba(16,24,40,0.5)', 60, 28);
  box(ctx, x, y, w, h, 20, C.card);
  label(ctx, env, 'New film', x + 40, y + 72, 34, 700, C.ink);
  label(ctx, env, 'Which scene draws it?', x + 40, y + 114, 22, 400, C.soft);

  const focus = env.progress(t, 2.35, 0.25);
  box(ctx, x + 40, y + 150, w - 80, 68, 12, '#fff');
  ctx.lineWidth = 2 + focus;
  ctx.strokeStyle = env.color.mix(C.line, C.brand, focus);
  ctx.stroke();
  const { from, text, rate } = script.typing;
  const typed = text.slice(0, env.clamp(Math.floor((t - from) * rate), 0, text.length));
  ctx.font = env.font('JetBrains Mono', 26, 500);
  ctx.fillStyle = C.ink;
  ctx.fillText(typed, x + 62, y + 193);
  const typing = t > from - 0.2 && t < from + text.length / rate;
  if (focus > 0 && (typing || Math.floor(t * 2) % 2 === 0)) {
    ctx.fillStyle = C.brand;
    ctx.fillRect(x + 64 + ctx.measureText(typed).width, y + 168, 2.5, 32);
  }
  label(ctx, env, '1920 × 1080', x + 40, y + 264, 21, 500, C.soft);
  label(ctx, env, '30 fps', x + 190, y + 264, 21, 500, C.soft);
  label(ctx, env, 'H.264', x + 282, y + 264, 21, 500, C.soft);

  label(ctx, env, 'Cancel', x + w - 318, y + 350, 23, 600, C.soft);
  const ready = env.progress(t, from + text.length / rate, 0.3);
  const press = 1 - 0.05 * Math.exp(-(((t - script.clicks[1].t) / 0.09) ** 2));
  ctx.translate(1160, y + 342);
  ctx.scale(press, press);
  box(ctx, -80, -30, 150, 60, 12, env.color.mix('#c7cbf5', C.brand, ready));
  label(ctx, env, 'Render', -44, 8, 23, 600, '#fff');
  ctx.restore();
}

function box(ctx, x, y, w, h, r, fill) {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.roundRect(x, y, w, h, r);
  ctx.fill();
}

function dot(ctx, env, x, y, r, fill) {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.arc(x, y, r, 0, env.TAU);
  ctx.fill();
}

function label(ctx, env, s, x, y, size, weight, fill) {
  ctx.font = env.font('Inter', size, weight);
  ctx.fillStyle = fill;
  ctx.fillText(s, x, y);
}

// soft draws the shadow of a box. A blurred shadow is dear, so each is drawn
// once, small, and then stretched.
const made = new Map();

export function soft(ctx, x, y, w, h, r, colour, blur, down) {
  const key = [w, h, r, colour, blur].join();
  const pad = blur * 2;
  if (!made.has(key)) {
    const c = new OffscreenCanvas(Math.ceil((w + 2 * pad) / 2), Math.ceil((h + 2 * pad) / 2));
    const g = c.getContext('2d');
    g.scale(0.5, 0.5);
    g.shadowColor = colour;
    g.shadowBlur = blur / 2;
    g.shadowOffsetX = 4000; // only the shadow is wanted, not what throws it
    g.fillStyle = '#000000';
    g.beginPath();
    g.roundRect(pad - 8000, pad, w, h, r);
    g.fill();
    made.set(key, c);
  }
  ctx.drawImage(made.get(key), x - pad, y - pad + down, w + 2 * pad, h + 2 * pad);
}
