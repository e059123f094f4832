// The contract, all of env and worked examples: docs/scene.md of Proofreel.
export const meta = { width: 1920, height: 1080, fps: 30, duration: 4, style: "STYLE" };

// draw paints one frame from the time alone: nothing may carry over from one
// frame to the next, for frames are drawn in any order.
export function draw(ctx, t, frame, env) {
  const { width, height, style } = env;
  const { palette, motion, space } = style;
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, width, height);

  const enter = env.progress(t, 0.3, motion.enter.duration, motion.enter.ease);
  const leave = env.progress(t, env.duration - 0.2 - motion.leave.duration, motion.leave.duration, motion.leave.ease);
  ctx.globalAlpha = enter * (1 - leave);

  ctx.fillStyle = palette.accent;
  ctx.fillRect(space.margin, height / 2 - 120, 160 * enter, 8);
  ctx.fillStyle = palette.text;
  ctx.textBaseline = "alphabetic";
  ctx.font = env.font("display", 128);
  ctx.fillText("TITLE", space.margin, height / 2 + 40 + 40 * (1 - enter));
  ctx.fillStyle = palette.muted;
  ctx.font = env.font("body", 40);
  ctx.fillText("A scene that is waiting for you", space.margin, height / 2 + 120 + 60 * (1 - enter));
}
