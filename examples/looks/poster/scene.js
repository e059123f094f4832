// The style "poster": a word in rows, and one of them answers.
export const meta = { title: 'Poster', width: 1920, height: 1080, fps: 30, duration: 4, style: 'poster', seed: 10 };

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const beat = Math.floor(t / 0.5);
  const swap = beat % 4 === 3;
  const ground = swap ? p.text : p.background;
  const ink = swap ? p.background : p.text;
  ctx.fillStyle = ground;
  ctx.fillRect(0, 0, W, H);

  const n = 4;
  const h = H / n;
  ctx.font = env.font('display', h * 1.06);
  const cap = ctx.measureText('L').actualBoundingBoxAscent;
  for (let i = 0; i < n; i++) {
    const s = i === 2 ? 'LOUDER ' : 'LOUD ';
    const w = ctx.measureText(s).width;
    const k = env.progress(t, i * 0.05, 0.4, style.motion.enter.ease);
    const way = i % 2 ? 1 : -1;
    const x = way * (W * (1 - k) + t * 140) - w * (1 + (i % 2) * 0.4);
    if (i === 2) {
      ctx.fillStyle = p.accent2;
      ctx.fillRect(0, i * h, W * k, h);
    }
    ctx.fillStyle = i === 2 ? '#ffffff' : ink;
    for (let j = 0; j < 7; j++) ctx.fillText(s, x + j * w, i * h + (h + cap) / 2);
  }

  // A round stamp that turns by beats.
  const k = env.spring(t - 0.5, style.motion.spring);
  const turn = (beat + env.progress(t - beat * 0.5, 0, 0.3, style.motion.move.ease)) * 0.4;
  ctx.save();
  ctx.translate(1530, 300);
  ctx.scale(Math.max(0, k), Math.max(0, k));
  ctx.rotate(turn);
  ctx.fillStyle = swap ? '#ffffff' : p.accent2;
  ctx.beginPath();
  for (let i = 0; i < 48; i++) {
    const r = i % 2 ? 206 : 240;
    ctx.lineTo(r * Math.cos((i / 48) * env.TAU), r * Math.sin((i / 48) * env.TAU));
  }
  ctx.fill();
  ctx.rotate(-turn - 0.16);
  ctx.fillStyle = swap ? p.accent2 : '#ffffff';
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.font = env.font('heading', 148);
  ctx.fillText('LIVE', 0, -26);
  ctx.font = env.font('label', 34);
  ctx.fillText('ONE NIGHT ONLY', 0, 84);
  ctx.restore();
}
