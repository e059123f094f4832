// The style "sunny": a plant that grows, and says so.
export const meta = { title: 'Sunny', width: 1920, height: 1080, fps: 30, duration: 5, style: 'sunny', seed: 15 };

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const [coral, blue, sun, green, violet] = p.series;
  const pop = (start, spring = style.motion.spring) => env.spring(t - start, spring);
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);

  // Big shapes, cut by the frame.
  disc(ctx, env, 1690, 210, 330 * pop(0.05), sun);
  disc(ctx, env, 1690, 210, 236 * pop(0.15), '#ffd061');
  disc(ctx, env, 40, 1090, 236 * pop(0.15), blue);
  pill(ctx, 720, 1012, 520 * pop(0.3), 150, coral, -0.12 + 0.02 * Math.sin(t * 2));
  ctx.save();
  ctx.translate(1300, 1120);
  ctx.scale(1, pop(0.1));
  disc(ctx, env, 140, 150, 620, green);
  ctx.restore();

  plant(ctx, t, env, 1430, 640);

  // The words bounce in from the middle of the line.
  const m = style.space.margin;
  [['Grow a', 330], ['good habit', 540]].forEach(([line, y], row) => {
    ctx.font = env.font('display', 208);
    const words = env.text.split(ctx, line);
    words.forEach((c, i) => {
      const k = pop(0.35 + row * 0.18 + env.stagger(i, words.length, 0.3, 'center'));
      ctx.save();
      ctx.translate(m + c.x + c.width / 2, y);
      ctx.rotate((1 - k) * (i % 2 ? 0.3 : -0.3));
      ctx.scale(k, k * (1 + 0.12 * Math.sin((1 - k) * 4)));
      ctx.fillStyle = row ? p.accent : p.text;
      ctx.fillText(c.char, -c.width / 2, 0);
      ctx.restore();
    });
  });
  ctx.font = env.font('body', 42);
  ctx.fillStyle = p.muted;
  ['Five minutes a day.', 'Water, light, and a little patience.'].forEach((l, i) => {
    const k = env.progress(t, 1.1 + i * 0.1, 0.7, style.motion.enter.ease);
    ctx.globalAlpha = env.clamp(k);
    ctx.fillText(l, m + 6, 650 + i * 60 + 40 * (1 - k));
  });
  ctx.globalAlpha = 1;
  const k = pop(1.6);
  ctx.save();
  ctx.translate(m + 190, 838);
  ctx.scale(k, k);
  pill(ctx, 0, 0, 380, 104, p.text, 0);
  ctx.font = env.font('label', 38);
  ctx.textAlign = 'center';
  ctx.fillStyle = '#ffffff';
  ctx.fillText('Start today', 0, 14);
  ctx.restore();
}

function plant(ctx, t, env, x, y) {
  const [coral, , , green] = env.style.palette.series;
  const grow = env.progress(t, 0.8, 1.6, 'outBack');
  const sway = 0.05 * Math.sin(t * 1.9);
  ctx.save();
  ctx.translate(x, y + 90);
  ctx.rotate(sway);
  ctx.strokeStyle = '#0d7a55';
  ctx.lineWidth = 26;
  ctx.lineCap = 'round';
  ctx.beginPath();
  ctx.moveTo(0, 0);
  ctx.quadraticCurveTo(22, -170 * grow, 0, -380 * grow);
  ctx.stroke();
  for (let i = 0; i < 5; i++) {
    const k = env.spring(t - 1.1 - i * 0.14, { stiffness: 190, damping: 13, mass: 1 });
    const side = i % 2 ? 1 : -1;
    ctx.save();
    ctx.translate(10, -(90 + i * 62) * grow);
    ctx.rotate(side * (0.95 - i * 0.08) + 0.08 * Math.sin(t * 2.2 + i));
    ctx.scale(Math.max(0, k), Math.max(0, k));
    ctx.fillStyle = i % 2 ? green : '#36c98f';
    ctx.beginPath();
    ctx.moveTo(0, 0);
    ctx.bezierCurveTo(-88, -60, -76, -160, 0, -232);
    ctx.bezierCurveTo(76, -160, 88, -60, 0, 0);
    ctx.fill();
    ctx.restore();
  }
  ctx.restore();
  // The pot lands first, and squashes a little.
  const land = env.spring(t - 0.45, { stiffness: 260, damping: 12, mass: 1 });
  ctx.save();
  ctx.translate(x, y + 300);
  ctx.scale(1 + 0.16 * (1 - land), land);
  ctx.fillStyle = coral;
  ctx.beginPath();
  ctx.moveTo(-170, -210);
  ctx.lineTo(170, -210);
  ctx.lineTo(128, -18);
  ctx.quadraticCurveTo(122, 0, 100, 0);
  ctx.lineTo(-100, 0);
  ctx.quadraticCurveTo(-122, 0, -128, -18);
  ctx.fill();
  pill(ctx, 0, -214, 396, 76, '#ff8468', 0);
  ctx.fillStyle = '#2b2140';
  for (const e of [-52, 52]) {
    const blink = Math.abs(((t + 0.4) % 2.2) - 1.1) < 0.06 ? 0.15 : 1;
    ctx.beginPath();
    ctx.ellipse(e, -112, 14, 18 * blink, 0, 0, env.TAU);
    ctx.fill();
  }
  ctx.strokeStyle = '#2b2140';
  ctx.lineWidth = 9;
  ctx.lineCap = 'round';
  ctx.beginPath();
  ctx.arc(0, -92, 34, 0.25, Math.PI - 0.25);
  ctx.stroke();
  ctx.restore();
}

function disc(ctx, env, x, y, r, fill) {
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.arc(x, y, Math.max(0, r), 0, env.TAU);
  ctx.fill();
}

function pill(ctx, x, y, w, h, fill, turn) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(turn);
  ctx.fillStyle = fill;
  ctx.beginPath();
  ctx.roundRect(-w / 2, -h / 2, w, h, h / 2);
  ctx.fill();
  ctx.restore();
}
