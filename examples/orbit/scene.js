// A still life in 3D by three.js: rings of ingots around a faceted core, and a
// camera that circles it once. All light is painted on small pictures
// (matcaps): as rich as a studio's, and cheap without a GPU.
import * as THREE from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { studio } from './studio.js';

export const meta = { title: 'Orbit', width: 1920, height: 1080, fps: 30, duration: 6, kind: 'webgl', background: '#0c0e16', seed: 21 };

const RINGS = [
  { r: 1.62, n: 40, look: 'ivory', tilt: [0.5, 0, 0.2] },
  { r: 2.16, n: 56, look: 'steel', tilt: [1.1, 0.4, -0.3] },
  { r: 2.7, n: 72, look: 'gold', tilt: [1.75, -0.2, 0.45] },
];

let renderer;
let scene;
let camera;
let core;
let rings;
let dust;
const part = new THREE.Object3D();

export function setup(env) {
  const looks = studio(env);
  scene = new THREE.Scene();
  scene.background = looks.backdrop;
  camera = new THREE.PerspectiveCamera(32, env.width / env.height, 0.1, 60);

  core = new THREE.Mesh(new THREE.IcosahedronGeometry(0.95, 0), new THREE.MeshMatcapMaterial({ matcap: looks.coral, flatShading: true }));
  scene.add(core);

  const ingot = new RoundedBoxGeometry(0.11, 0.34, 0.2, 2, 0.045);
  rings = RINGS.map((ring) => {
    const mesh = new THREE.InstancedMesh(ingot, new THREE.MeshMatcapMaterial({ matcap: looks[ring.look] }), ring.n);
    mesh.frustumCulled = false;
    scene.add(mesh);
    return mesh;
  });

  const n = 420;
  const places = new Float32Array(n * 3);
  for (let i = 0; i < n; i++) {
    const r = i % 2 ? env.lerp(3.4, 6.2, env.rand('dust', i)) : env.lerp(14, 20, env.rand('dust', i)); // none before the camera
    const a = env.TAU * env.rand('dust a', i);
    places.set([r * Math.cos(a), (env.rand('dust y', i) - 0.5) * 7, r * Math.sin(a)], i * 3);
  }
  const cloud = new THREE.BufferGeometry();
  cloud.setAttribute('position', new THREE.BufferAttribute(places, 3));
  dust = new THREE.Points(cloud, new THREE.PointsMaterial({ color: '#c9d2f5', size: 0.035, transparent: true, opacity: 0.6 }));
  scene.add(dust);
}

export function draw(ctx, t, frame, env) {
  if (!renderer) {
    renderer = new THREE.WebGLRenderer({ canvas: ctx.canvas, context: ctx.gl });
    renderer.setSize(env.width, env.height, false);
  }
  const { duration, TAU, ease } = env;
  const turn = t / duration;

  core.rotation.set(0.35 * Math.sin(turn * TAU), turn * TAU, 0.2);
  core.scale.setScalar(env.lerp(0.4, 1, env.progress(t, 0, 1.3, 'outBack')));

  rings.forEach((mesh, i) => {
    const ring = RINGS[i];
    const k = env.progress(t, 0.1 + i * 0.14, 1.7, 'outQuint');
    const way = i % 2 ? 1 : -1;
    mesh.rotation.set(ring.tilt[0] + way * turn * TAU * 0.5, ring.tilt[1] + way * turn * TAU, ring.tilt[2]);
    for (let j = 0; j < ring.n; j++) {
      const a = (j / ring.n) * TAU;
      // A wave goes around each ring and pulls its ingots out.
      const wave = ease.inCubic(Math.max(0, Math.cos((j / ring.n - turn * 2 * way + i * 0.3) * TAU)));
      const far = ring.r * env.lerp(1.8, 1, k) + 0.16 * wave;
      part.position.set(Math.cos(a) * far, 0, Math.sin(a) * far);
      part.rotation.set(0, -a + Math.PI / 2, 0);
      part.scale.set(k, k * (1 + 0.5 * wave), k * (1 + 0.6 * wave));
      part.updateMatrix();
      mesh.setMatrixAt(j, part.matrix);
    }
    mesh.instanceMatrix.needsUpdate = true;
  });

  dust.rotation.y = turn * 0.5;
  const a = -0.5 + turn * 1.15;
  const far = env.lerp(12.4, 9.9, env.progress(t, 0, duration, 'inOutSine'));
  camera.position.set(far * Math.sin(a), 1.9 + 1.1 * Math.sin(turn * Math.PI), far * Math.cos(a));
  camera.lookAt(0, 0, 0);
  renderer.render(scene, camera);
}
