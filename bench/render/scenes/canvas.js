// The canvas scene of the comparison: a moving gradient, 200 turning shapes of
// which 50 are radial gradients, two lines of text. It is a pure function of t,
// and every renderer draws it with this very file.
export const meta = { width: 1920, height: 1080, fps: 30, duration: 5 };

// hash gives a number from 0 to 1 for two whole numbers, the same everywhere.
function hash(i, salt) {
  let h = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt + 7, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 13), 0x297a2d39);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

const shapes = Array.from({ length: 200 }, (_, i) => ({
  x: hash(i, 1) * 1920,
  y: hash(i, 2) * 1080,
  size: 18 + hash(i, 3) * 70,
  hue: Math.floor(hash(i, 4) * 360),
  turn: (hash(i, 5) - 0.5) * 4,
  drift: 20 + hash(i, 6) * 90,
  phase: hash(i, 7) * Math.PI * 2,
  kind: i % 4, // 0: radial gradient, 1: rectangle, 2: triangle, 3: ring
}));

export function draw(ctx, t) {
  const back = ctx.createLinearGradient(960 + 960 * Math.cos(t * 0.7), 0, 960 - 960 * Math.cos(t * 0.7), 1080);
  back.addColorStop(0, `hsl(${(210 + t * 24) % 360}, 65%, 16%)`);
  back.addColorStop(0.5, `hsl(${(250 + t * 24) % 360}, 60%, 24%)`);
  back.addColorStop(1, `hsl(${(300 + t * 24) % 360}, 65%, 14%)`);
  ctx.fillStyle = back;
  ctx.fillRect(0, 0, 1920, 1080);
  for (const s of shapes) drawShape(ctx, s, t);
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = "#ffffff";
  ctx.font = "700 120px Inter";
  ctx.fillText("Frames, and nothing else", 960, 540 + 14 * Math.sin(t * 2));
  ctx.fillStyle = "rgba(255, 255, 255, 0.8)";
  ctx.font = "400 44px Inter";
  ctx.fillText(`t = ${t.toFixed(2)} s of five, drawn from the time alone`, 960, 630);
}

function drawShape(ctx, s, t) {
  ctx.save();
  ctx.translate(s.x + s.drift * Math.sin(t * 1.1 + s.phase), s.y + s.drift * Math.cos(t * 0.9 + s.phase));
  ctx.rotate(s.phase + s.turn * t);
  if (s.kind === 0) {
    const g = ctx.createRadialGradient(0, 0, 0, 0, 0, s.size);
    g.addColorStop(0, `hsla(${s.hue}, 90%, 70%, 0.9)`);
    g.addColorStop(1, `hsla(${s.hue}, 90%, 50%, 0)`);
    ctx.fillStyle = g;
    ctx.beginPath();
    ctx.arc(0, 0, s.size, 0, Math.PI * 2);
    ctx.fill();
  } else if (s.kind === 1) {
    ctx.fillStyle = `hsla(${s.hue}, 80%, 60%, 0.55)`;
    ctx.fillRect(-s.size / 2, -s.size / 3, s.size, s.size * 0.66);
  } else if (s.kind === 2) {
    ctx.fillStyle = `hsla(${s.hue}, 80%, 65%, 0.5)`;
    ctx.beginPath();
    ctx.moveTo(0, -s.size * 0.6);
    ctx.lineTo(s.size * 0.55, s.size * 0.45);
    ctx.lineTo(-s.size * 0.55, s.size * 0.45);
    ctx.closePath();
    ctx.fill();
  } else {
    ctx.strokeStyle = `hsla(${s.hue}, 85%, 72%, 0.7)`;
    ctx.lineWidth = 5;
    ctx.beginPath();
    ctx.arc(0, 0, s.size * 0.45, 0, Math.PI * 1.6);
    ctx.stroke();
  }
  ctx.restore();
}
