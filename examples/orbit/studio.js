import * as THREE from 'three';

// studio paints the pictures that the sculpture is lit by: for each material a
// ball, as it would look in a studio with a large light from the upper left, a
// warm one from below and a blue edge.
export function studio(env) {
  const { color } = env;
  return {
    coral: ball(env, { dark: '#4a0f08', body: '#f0492a', light: '#ffb08c', edge: '#ff6a8a', shine: 0.95, width: 0.16 }),
    ivory: ball(env, { dark: '#4d4a52', body: '#cfc8bd', light: '#fffaf0', edge: '#7f9bff', shine: 0.6, width: 0.3 }),
    steel: ball(env, { dark: '#0c1020', body: '#4d5a80', light: '#dfe8ff', edge: '#5e7cff', shine: 1, width: 0.13, band: '#aebbe6' }),
    gold: ball(env, { dark: '#2b1403', body: '#b8741c', light: '#ffe1a1', edge: '#ff7a4d', shine: 1, width: 0.14, band: '#ffd27a' }),
    backdrop: picture(env, 960, 540, (g, w, h) => {
      g.fillStyle = '#0c0e16';
      g.fillRect(0, 0, w, h);
      glow(env, g, w * 0.5, h * 0.46, w * 0.5, '#2a3566', 0.9);
      glow(env, g, w * 0.86, h * 1.05, w * 0.4, '#5a2a2a', 0.5);
      glow(env, g, w * 0.08, h * 0.02, w * 0.4, color.mix('#0c0e16', '#3f5bff', 0.4), 0.5);
    }),
  };
}

function picture(env, w, h, paint) {
  const canvas = new OffscreenCanvas(w, h);
  paint(canvas.getContext('2d'), w, h);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

function ball(env, m) {
  return picture(env, 256, 256, (g, s) => {
    const c = s / 2;
    g.fillStyle = m.dark;
    g.fillRect(0, 0, s, s);
    glow(env, g, c * 0.72, c * 0.62, s * 0.62, m.body, 1, 1.2);
    glow(env, g, c * 0.62, c * 0.5, s * 0.34, m.light, 0.85, 1.6);
    glow(env, g, c * 1.25, c * 1.75, s * 0.3, m.band || m.light, 0.4, 1.5);
    if (m.band) {
      // Metal: the studio's walls, as a horizon across the ball.
      const h = g.createLinearGradient(0, c * 0.85, 0, c * 1.3);
      h.addColorStop(0, env.color.alpha(m.band, 0));
      h.addColorStop(0.35, env.color.alpha(m.band, 0.55));
      h.addColorStop(0.5, env.color.alpha(m.dark, 0.85));
      h.addColorStop(1, env.color.alpha(m.dark, 0));
      g.fillStyle = h;
      g.fillRect(0, 0, s, s);
    }
    // The edge: blue light from behind.
    const rim = g.createRadialGradient(c * 0.9, c * 0.9, c * 0.72, c, c, c);
    rim.addColorStop(0, env.color.alpha(m.edge, 0));
    rim.addColorStop(0.75, env.color.alpha(m.edge, 0.35));
    rim.addColorStop(1, env.color.alpha(m.edge, 0.9));
    g.fillStyle = rim;
    g.fillRect(0, 0, s, s);
    // The window's reflection.
    glow(env, g, c * 0.58, c * 0.46, s * m.width, '#ffffff', m.shine, 1.1);
  });
}

function glow(env, g, x, y, r, c, a, fall = 2) {
  const l = g.createRadialGradient(x, y, 0, x, y, r);
  for (let i = 0; i <= 8; i++) l.addColorStop(i / 8, env.color.alpha(c, a * (1 - i / 8) ** fall));
  g.fillStyle = l;
  g.fillRect(x - r, y - r, 2 * r, 2 * r);
}
