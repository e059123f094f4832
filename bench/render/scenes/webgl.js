// The WebGL scene, as ours: the content is shared with the other renderers.
import { make } from "./webgl-content.js";

export const meta = { width: 1920, height: 1080, fps: 30, duration: 5, kind: "webgl" };

let render;

export function draw(ctx, t) {
  render ??= make(ctx.canvas, ctx.gl);
  render(t);
}
