// The style "editorial": a page with a large quotation.
export const meta = { title: 'Editorial', width: 1920, height: 1080, fps: 30, duration: 5, style: 'editorial', seed: 9 };

const QUOTE = ['A film is', 'truth at thirty', 'frames a second.'];

export function draw(ctx, t, frame, env) {
  const { width: W, height: H, style } = env;
  const p = style.palette;
  const m = style.space.margin;
  const ease = style.motion.enter.ease;
  ctx.fillStyle = p.background;
  ctx.fillRect(0, 0, W, H);
  picture(ctx, t, env);

  const k = env.progress(t, 0, 1.1, ease);
  ctx.fillStyle = p.text;
  ctx.fillRect(m, 112, (1230 - m) * k, 3);
  ctx.globalAlpha = k;
  ctx.font = env.font('label', 24);
  ctx.letterSpacing = '2px';
  ctx.fillText('ESSAY', m, 90);
  ctx.textAlign = 'right';
  ctx.fillStyle = p.muted;
  ctx.fillText('P. 24', 1230, 90);
  ctx.textAlign = 'left';
  ctx.letterSpacing = '0px';
  ctx.globalAlpha = 1;

  const size = 208;
  QUOTE.forEach((l, i) => {
    const y = 380 + i * size * 0.92;
    const k = env.progress(t, 0.4 + i * 0.16, 1.2, ease);
    ctx.save();
    ctx.beginPath();
    ctx.rect(m - 20, y - size * 0.9, 1600, size * 1.16);
    ctx.clip();
    ctx.letterSpacing = '-5px';
    let x = m - 8;
    for (const w of l.split(' ')) {
      const special = w === 'truth';
      ctx.font = env.font('display', size, 400, special);
      ctx.fillStyle = special ? p.accent : p.text;
      ctx.fillText(w, x, y + size * 1.25 * (1 - k));
      x += ctx.measureText(`${w} `).width;
    }
    ctx.restore();
  });
  ctx.letterSpacing = '0px';
  ctx.font = env.font('body', 34, 400);
  ctx.fillStyle = p.muted;
  const s = env.progress(t, 1.3, 1, ease);
  ctx.globalAlpha = s;
  ctx.fillStyle = p.accent;
  ctx.fillRect(m, 918, 72 * s, 3);
  ctx.fillStyle = p.muted;
  ctx.fillText('On what a moving picture owes', m + 104, 922);
  ctx.fillText('to the pictures it is made of.', m + 104, 968);
  ctx.globalAlpha = 1;
}

// A plate that bleeds off the right edge: hills under a low sun, in five inks.
function picture(ctx, t, env) {
  const { width: W, height: H, style, color } = env;
  const p = style.palette;
  const x = 1330;
  const k = env.progress(t, 0.2, 1.4, style.motion.enter.ease);
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, H * (1 - k), W - x, H);
  ctx.clip();
  ctx.fillStyle = '#e9c9a0';
  ctx.fillRect(x, 0, W - x, H);
  ctx.fillStyle = p.accent;
  ctx.beginPath();
  ctx.arc(1650, 470 + 70 * (1 - k) + t * 6, 168, 0, env.TAU);
  ctx.fill();
  const inks = [color.mix('#e9c9a0', p.accent2, 0.35), color.mix('#e9c9a0', p.accent2, 0.6), p.accent2, color.mix(p.accent2, '#000000', 0.4)];
  inks.forEach((ink, i) => {
    ctx.fillStyle = ink;
    ctx.beginPath();
    ctx.moveTo(x, H);
    for (let px = x; px <= W + 8; px += 8) {
      const far = 1 - i / inks.length;
      ctx.lineTo(px, 560 + i * 130 + 110 * (0.5 + far * 0.5) * env.noise(px * 0.0042 + i * 9.37 + t * 0.03 * (i + 1), i * 4.71 + 0.43, 0.6) + 60 * (1 - k) * (i + 1));
    }
    ctx.lineTo(W + 8, H);
    ctx.fill();
  });
  ctx.restore();
}
