// The contract, all of env and worked examples: docs/scene.md of Proofreel.
export const meta = { width: 1920, height: 1080, fps: 30, duration: 4, kind: "dom", style: "STYLE" };

let parts;

// build makes the elements; what moves is set in draw.
function build({ root, document }, env) {
  const { palette, space, type } = env.style;
  root.innerHTML = `<style>
    .scene { position: absolute; inset: 0; background: ${palette.background}; color: ${palette.text}; }
    .card { position: absolute; left: ${space.margin}px; top: 340px; right: ${space.margin}px; padding: 72px;
      background: ${palette.surface}; border-radius: ${space.radius}px; border: ${space.stroke}px solid ${palette.line}; }
    h1 { margin: 0; font: ${type.display.weight} 120px "${type.display.family}"; }
    p { margin: 24px 0 0; font: ${type.body.weight} 40px "${type.body.family}"; color: ${palette.muted}; }
  </style>
  <div class="scene"><div class="card"><h1>TITLE</h1><p></p></div></div>`;
  return { card: root.querySelector(".card"), line: root.querySelector("p") };
}

// draw sets everything that moves from the time alone, for frames are drawn in
// any order.
export function draw(ctx, t, frame, env) {
  parts ??= build(ctx, env);
  const { motion } = env.style;
  const enter = env.progress(t, 0.2, motion.enter.duration, motion.enter.ease);
  parts.card.style.opacity = String(enter);
  parts.card.style.transform = `translateY(${(60 * (1 - enter)).toFixed(2)}px)`;
  parts.line.textContent = `A scene that is waiting for you, ${t.toFixed(1)} s in`;
}
