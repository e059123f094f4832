// HTML and CSS in the style "swiss": a grid of facts. The elements are made
// once; draw sets what moves.
import css from './card.css';

export const meta = { title: 'DOM card', width: 1920, height: 1080, fps: 30, duration: 6, kind: 'dom', style: 'swiss' };

const FACTS = [
  { value: 1080, unit: 'lines', text: 'in every frame, exact to the pixel' },
  { value: 30, unit: 'fps', text: 'none missing, none twice' },
  { value: 0, unit: 'requests', text: 'leave the machine while it draws' },
];

let parts;

export function draw(ctx, t, frame, env) {
  if (!parts) parts = build(ctx);
  const m = env.style.motion;

  // A red block wipes in from the left and stays as the column's ground.
  const wipe = env.progress(t, 0.1, 0.7, m.move.ease);
  parts.block.style.clipPath = `inset(0 ${100 - 100 * wipe}% 0 0)`;

  parts.letters.forEach((l, i) => {
    const k = env.progress(t, 0.45 + i * m.stagger, m.enter.duration, m.enter.ease);
    l.style.transform = `translateY(${(1 - k) * 105}%)`;
  });

  parts.facts.forEach((f, i) => {
    const k = env.progress(t, 1.0 + i * 0.28, 0.8, m.enter.ease);
    f.rule.style.transform = `scaleX(${k})`;
    f.inner.style.transform = `translateY(${(1 - k) * 100}%)`;
    const count = env.progress(t, 1.1 + i * 0.28, 1.4, 'outExpo');
    f.value.textContent = String(Math.round(FACTS[i].value * count));
  });

  const clock = env.progress(t, 0, env.duration, 'linear');
  parts.bar.style.transform = `scaleX(${clock})`;
  parts.time.textContent = `${t.toFixed(2)} s`;
}

function build(ctx) {
  const { root, document } = ctx;
  const style = document.createElement('style');
  style.textContent = css;
  const page = document.createElement('main');
  page.innerHTML = `
    <section class="block"></section>
    <header><span>Proofreel</span><span>Scene</span><span>Kind: dom</span><span class="time"></span></header>
    <h1>${[...'Facts.'].map((c) => `<span class="clip"><span class="letter">${c}</span></span>`).join('')}</h1>
    <p class="lead">HTML and CSS, drawn frame by frame. What the browser can lay out, a film can show.</p>
    <ol>${FACTS.map((f) => `<li><i></i><div class="clip"><div class="inner"><b>0</b><em>${f.unit}</em><span>${f.text}</span></div></div></li>`).join('')}</ol>
    <footer><div class="bar"></div></footer>`;
  root.append(style, page);
  const all = (s) => [...page.querySelectorAll(s)];
  return {
    block: page.querySelector('.block'),
    letters: all('.letter'),
    facts: all('li').map((li) => ({ rule: li.querySelector('i'), inner: li.querySelector('.inner'), value: li.querySelector('b') })),
    bar: page.querySelector('.bar'),
    time: page.querySelector('.time'),
  };
}
