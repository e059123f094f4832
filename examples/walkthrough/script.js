// What happens when, and where: places are pixels of the app's window, which
// lies at (260, 110) and is 1400 x 830 large.
export const script = {
  clicks: [
    { t: 1.75, x: 1530, y: 200 }, // New film
    { t: 4.55, x: 1110, y: 693 }, // Render
  ],
  typing: { from: 2.5, text: 'launch-teaser.js', rate: 17 }, // characters a second
  dialog: { open: 1.85, close: 4.7 },
  progress: { from: 5.0, to: 6.5 },
  captions: [
    { from: 0.7, to: 1.9, text: 'Start a new film' },
    { from: 2.1, to: 3.75, text: 'Name the scene it is drawn by' },
    { from: 3.9, to: 4.85, text: 'Render' },
    { from: 5.05, to: 6.35, text: 'Every frame is counted' },
    { from: 6.55, to: 7.85, text: 'Verified: the same bytes, every time' },
  ],
};

const STOPS = [
  { t: 0.5, x: 760, y: 820 },
  { t: 1.6, x: 1530, y: 200 },
  { t: 2.0, x: 1530, y: 200 },
  { t: 2.6, x: 1190, y: 540 },
  { t: 3.6, x: 1190, y: 548 },
  { t: 4.35, x: 1110, y: 693 },
  { t: 4.9, x: 1110, y: 693 },
  { t: 5.9, x: 1250, y: 470 },
];

// pointer is where the pointer is: from stop to stop in a slight arc.
export function pointer(t, env) {
  let i = 0;
  while (i < STOPS.length - 2 && t >= STOPS[i + 1].t) i++;
  const a = STOPS[i];
  const b = STOPS[i + 1];
  const k = env.progress(t, a.t, b.t - a.t, [0.65, 0, 0.2, 1]);
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const bow = Math.sin(k * Math.PI) * 0.07;
  let press = 1;
  for (const c of script.clicks) press -= 0.18 * Math.exp(-(((t - c.t) / 0.08) ** 2));
  return { x: a.x + dx * k - dy * bow, y: a.y + dy * k + dx * bow, press };
}

// camera is the point in the middle of the picture, and how near it is.
export function camera(t, env) {
  const e = [0.7, 0, 0.15, 1];
  const [x, y, zoom] = env.keys(t, [
    [0, [960, 575, 0.92]],
    [1.0, [960, 575, 0.93]],
    [1.8, [1060, 520, 1.06], e],
    [2.0, [1060, 520, 1.06]],
    [2.7, [960, 585, 1.4], e],
    [4.6, [960, 590, 1.44], 'linear'],
    [5.3, [1000, 480, 1.12], e],
    [6.3, [996, 480, 1.14], 'linear'],
    [7.0, [960, 575, 0.92], e],
  ]);
  return { x, y, zoom };
}
