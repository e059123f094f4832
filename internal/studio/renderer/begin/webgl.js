// The contract, all of env and worked examples: docs/scene.md of Proofreel.
import * as THREE from "three";

export const meta = { width: 1920, height: 1080, fps: 30, duration: 4, kind: "webgl", style: "STYLE" };

let stage;

// build makes what stays the same; what moves is set in draw.
function build({ canvas, gl }, env) {
  const { palette } = env.style;
  const renderer = new THREE.WebGLRenderer({ canvas, context: gl });
  renderer.setSize(env.width, env.height, false);
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(palette.background);
  const camera = new THREE.PerspectiveCamera(40, env.width / env.height, 0.1, 100);
  const sun = new THREE.DirectionalLight(0xffffff, 3);
  sun.position.set(3, 5, 4);
  scene.add(sun, new THREE.AmbientLight(0xffffff, 0.8));
  const knot = new THREE.Mesh(
    new THREE.TorusKnotGeometry(1, 0.34, 160, 24),
    new THREE.MeshStandardMaterial({ color: palette.accent, roughness: 0.35, metalness: 0.2 }),
  );
  scene.add(knot);
  return { renderer, scene, camera, knot };
}

// draw paints one frame from the time alone: everything that moves is set
// anew, for frames are drawn in any order.
export function draw(ctx, t, frame, env) {
  stage ??= build(ctx, env);
  const { renderer, scene, camera, knot } = stage;
  knot.rotation.set(t * 0.5, t * 0.8, 0);
  camera.position.set(0, 0.6, 6 - 1.2 * env.progress(t, 0, env.duration, "inOutCubic"));
  camera.lookAt(0, 0, 0);
  renderer.render(scene, camera);
}
