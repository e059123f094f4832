// The DOM scene, as ours: the content is shared with the other renderers.
import { build, update } from "./dom-content.js";

export const meta = { width: 1920, height: 1080, fps: 30, duration: 5, kind: "dom" };

let parts;

export function draw(ctx, t) {
  parts ??= build(ctx.root, ctx.document);
  update(parts, t);
}
