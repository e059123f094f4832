// Kinetic type in the style "poster": a change on each beat, 120 a minute.
export const meta = { title: 'Kinetic type', width: 1920, height: 1080, fps: 30, duration: 7, style: 'poster', seed: 11 };

const BEAT = 0.5;

// Each shot has a length in beats, its ground and its drawing.
const SHOTS = [
  { beats: 1, ground: 'sun', draw: word('MAKE') },
  { beats: 1, ground: 'night', draw: word('TYPE') },
  { beats: 2, ground: 'sun', draw: move },
  { beats: 2, ground: 'red', draw: rows },
  { beats: 2, ground: 'night', draw: slices },
  { beats: 2, ground: 'sun', draw: stack },
  { beats: 1, ground: 'red', draw: word('NO') },
  { beats: 1, ground: 'night', draw: word('FADES') },
  { beats: 2, ground: 'sun', draw: end },
];

export function draw(ctx, t, frame, env) {
  const { width: W, height: H } = env;
  const p = env.style.palette;
  const grounds = { sun: [p.background, p.text], night: [p.text, p.background], red: [p.accent2, '#ffffff'] };
  let start = 0;
  for (const shot of SHOTS) {
    const length = shot.beats * BEAT;
    if (t < start + length - 1e-9 || shot === SHOTS[SHOTS.length - 1]) {
      const [ground, ink] = grounds[shot.ground];
      ctx.fillStyle = ground;
      ctx.fillRect(0, 0, W, H);
      ctx.fillStyle = ink;
      ctx.textBaseline = 'alphabetic';
      shot.draw(ctx, t - start, env, { ground, ink, length });
      return;
    }
    start += length;
  }
}

// capHeight is what a capital of Anton measures, over its size.
const CAP = 0.86;

// fill sets a word so that its capitals fill a box exactly.
function fill(ctx, env, s, x, y, w, h) {
  ctx.save();
  ctx.font = env.font('display', 400);
  const m = ctx.measureText(s);
  ctx.translate(x, y);
  ctx.scale(w / (m.actualBoundingBoxRight + m.actualBoundingBoxLeft), h / m.actualBoundingBoxAscent);
  ctx.fillText(s, m.actualBoundingBoxLeft, m.actualBoundingBoxAscent);
  ctx.restore();
}

// One word, as large as the frame; it lands and settles.
function word(s) {
  return (ctx, t, env) => {
    const { width: W, height: H } = env;
    const k = env.spring(t, env.style.motion.spring);
    const m = env.style.space.margin;
    const push = 1 + 0.22 * (1 - k);
    ctx.translate(W / 2, H / 2);
    ctx.scale(push + t * 0.04, push + t * 0.04);
    ctx.translate(-W / 2, -H / 2);
    fill(ctx, env, s, m, m, W - 2 * m, H - 2 * m);
  };
}

// "move": each letter is stretched from nothing, against its neighbour.
function move(ctx, t, env) {
  const { width: W, height: H } = env;
  const m = env.style.space.margin;
  const letters = [...'MOVE'];
  const gap = 18;
  const weights = letters.map((_, i) => 0.35 + 1.2 * env.keys(t, [[i * 0.1, 0.02], [i * 0.1 + 0.3, 1.3, [0.1, 0.9, 0.1, 1]], [0.62, 0.75, [0.85, 0, 0.1, 1]], [0.9, i % 2 ? 1.5 : 0.3, [0.85, 0, 0.1, 1]]]));
  const sum = weights.reduce((a, b) => a + b, 0);
  const room = W - 2 * m - gap * (letters.length - 1);
  let x = m;
  letters.forEach((l, i) => {
    const w = (weights[i] / sum) * room;
    fill(ctx, env, l, x, m, w, H - 2 * m);
    x += w + gap;
  });
}

// Rows of one sentence that slide against each other.
function rows(ctx, t, env, { ground, ink }) {
  const { width: W, height: H } = env;
  const n = 5;
  const h = H / n;
  const s = 'AGAIN AND ';
  ctx.font = env.font('display', (h * 0.8) / CAP);
  const w = ctx.measureText(s).width;
  for (let i = 0; i < n; i++) {
    const k = env.progress(t, i * 0.04, 0.5, [0.1, 0.9, 0.1, 1]);
    const dir = i % 2 ? 1 : -1;
    const x = dir * (1 - k) * W * 1.1 + dir * t * 190 - w * (1 + (i % 3) * 0.37);
    const filled = i === 2;
    if (filled) {
      ctx.fillStyle = ink;
      ctx.fillRect(0, i * h, W * k, h);
    }
    ctx.fillStyle = filled ? ground : ink;
    for (let j = 0; j < 6; j++) ctx.fillText(s, x + j * w, i * h + h * 0.9);
  }
}

// A word cut into strips that come together, then part.
function slices(ctx, t, env, { length }) {
  const { width: W, height: H } = env;
  const m = env.style.space.margin;
  const n = 9;
  for (let i = 0; i < n; i++) {
    const from = (env.rand('slice', i) - 0.5) * 2600;
    const to = (env.rand('slice out', i) - 0.5) * 3200;
    const x = from * (1 - env.progress(t, i * 0.012, 0.42, [0.1, 0.9, 0.1, 1])) + to * env.progress(t, length - 0.2, 0.24, [0.9, 0, 1, 0.4]);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, (i * H) / n, W, H / n + 0.5);
    ctx.clip();
    fill(ctx, env, 'SHARP', m + x, m, W - 2 * m, H - 2 * m);
    ctx.restore();
  }
}

// Three lines that push each other's height.
function stack(ctx, t, env) {
  const { width: W, height: H } = env;
  const m = env.style.space.margin;
  const gap = 20;
  const words = ['LOUD', 'LOUDER', 'LOUDEST'];
  const lead = env.keys(t, [[0, 0], [0.3, 0, 'linear'], [0.5, 1, [0.85, 0, 0.1, 1]], [0.65, 1, 'linear'], [0.85, 2, [0.85, 0, 0.1, 1]]]);
  const weights = words.map((_, i) => 0.16 + Math.max(0, 1 - Math.abs(lead - i)));
  const sum = weights.reduce((a, b) => a + b, 0);
  const room = H - 2 * m - gap * 2;
  let y = m;
  words.forEach((w, i) => {
    const h = (weights[i] / sum) * room;
    fill(ctx, env, w, m, y, W - 2 * m, h);
    y += h + gap;
  });
}

// The last shot stands: a block, a word, and who says so.
function end(ctx, t, env, { ground, ink }) {
  const { width: W, height: H } = env;
  const m = env.style.space.margin;
  const k = env.progress(t, 0, 0.35, [0.1, 0.9, 0.1, 1]);
  ctx.fillStyle = ink;
  ctx.fillRect(m, m, (W - 2 * m) * k, 700);
  ctx.save();
  ctx.beginPath();
  ctx.rect(m, m, (W - 2 * m) * k, 700);
  ctx.clip();
  ctx.fillStyle = ground;
  fill(ctx, env, 'PROOFREEL', m + 44, m + 44, W - 2 * m - 88, 612);
  ctx.restore();
  ctx.fillStyle = ink;
  const rise = env.progress(t, 0.2, 0.35, [0.1, 0.9, 0.1, 1]);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, 790, W, 240);
  ctx.clip();
  ctx.font = env.font('heading', 150);
  ctx.fillText('TYPE THAT HITS', m, 960 + 180 * (1 - rise));
  ctx.font = env.font('body', 40);
  ctx.textAlign = 'right';
  ctx.fillText('one file, every frame', W - m, 900 + 180 * (1 - rise));
  ctx.fillText('the same bytes twice', W - m, 956 + 180 * (1 - rise));
  ctx.restore();
}
