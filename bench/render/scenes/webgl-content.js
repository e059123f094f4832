// The WebGL scene of the comparison: 160 lit, turning solids by three.js and a
// camera that circles them; a pure function of t.
import * as THREE from "three";

export function make(canvas, context) {
  const renderer = new THREE.WebGLRenderer({ canvas, context, antialias: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(1);
  renderer.setSize(1920, 1080, false);
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0x0b1020);
  const camera = new THREE.PerspectiveCamera(45, 1920 / 1080, 0.1, 100);
  scene.add(new THREE.HemisphereLight(0x9fb8ff, 0x201018, 1.2));
  const sun = new THREE.DirectionalLight(0xffffff, 2.4);
  sun.position.set(4, 8, 6);
  scene.add(sun);
  const kinds = [new THREE.BoxGeometry(1, 1, 1), new THREE.IcosahedronGeometry(0.7, 2), new THREE.TorusGeometry(0.5, 0.22, 16, 40)];
  const solids = Array.from({ length: 160 }, (_, i) => {
    const material = new THREE.MeshStandardMaterial({ color: new THREE.Color().setHSL((i * 0.137) % 1, 0.65, 0.55), roughness: 0.4, metalness: 0.2 });
    const mesh = new THREE.Mesh(kinds[i % 3], material);
    mesh.position.set(((i % 16) - 7.5) * 1.7, Math.sin(i * 1.7) * 2.2, (Math.floor(i / 16) - 4.5) * 1.7);
    scene.add(mesh);
    return mesh;
  });
  return (t) => {
    solids.forEach((m, i) => { m.rotation.set(t * (0.6 + (i % 5) * 0.2), t * 0.9 + i, 0); });
    camera.position.set(17 * Math.cos(t * 0.5), 7 + 2 * Math.sin(t), 17 * Math.sin(t * 0.5));
    camera.lookAt(0, 0, 0);
    renderer.render(scene, camera);
  };
}
