// The DOM scene of the comparison: a dashboard of HTML, SVG and CSS whose state
// is a pure function of t. build makes the elements once; update sets all that
// moves, so that any time can follow any other.
const css = `
.board { position: absolute; inset: 0; overflow: hidden; font-family: Inter; color: #101828; background: linear-gradient(120deg, #f5f7ff, #eef6f1 55%, #fff6ee); }
.board h1 { position: absolute; left: 96px; top: 48px; margin: 0; font-size: 72px; font-weight: 700; letter-spacing: -2px; }
.board p { position: absolute; left: 100px; top: 142px; margin: 0; font-size: 30px; color: #475467; }
.card { position: absolute; width: 400px; height: 196px; border-radius: 24px; background: #fff; box-shadow: 0 12px 32px rgba(16, 24, 40, 0.14); }
.card .name { position: absolute; left: 28px; top: 22px; font-size: 26px; color: #667085; }
.card .value { position: absolute; left: 28px; top: 58px; font-size: 60px; font-weight: 700; font-variant-numeric: tabular-nums; }
.card .bar { position: absolute; left: 28px; right: 28px; bottom: 26px; height: 16px; border-radius: 8px; background: #eaecf5; overflow: hidden; }
.card .fill { height: 100%; border-radius: 8px; transform-origin: 0 50%; }
.board svg { position: absolute; left: 96px; bottom: 60px; }
.ball { position: absolute; width: 56px; height: 56px; border-radius: 50%; left: 0; top: 0; }
`;

export function build(root, document) {
  const style = document.createElement("style");
  style.textContent = css;
  const board = document.createElement("div");
  board.className = "board";
  board.innerHTML = `<h1>Quarter in review</h1><p class="sub"></p>` +
    Array.from({ length: 12 }, (_, i) => `<div class="card" style="left:${96 + (i % 4) * 440}px;top:${212 + Math.floor(i / 4) * 220}px">
      <div class="name">Region ${i + 1}</div><div class="value"></div>
      <div class="bar"><div class="fill" style="background:hsl(${i * 29}, 72%, 52%)"></div></div></div>`).join("") +
    `<svg width="1720" height="110" viewBox="0 0 1720 110"><path fill="none" stroke="#4f46e5" stroke-width="6" stroke-linejoin="round"/></svg>` +
    Array.from({ length: 8 }, (_, i) => `<div class="ball" style="background:radial-gradient(circle at 35% 35%, hsl(${i * 45}, 90%, 75%), hsl(${i * 45}, 80%, 48%))"></div>`).join("");
  root.replaceChildren(style, board);
  return {
    cards: [...board.querySelectorAll(".card")],
    values: [...board.querySelectorAll(".value")],
    fills: [...board.querySelectorAll(".fill")],
    balls: [...board.querySelectorAll(".ball")],
    path: board.querySelector("path"),
    sub: board.querySelector(".sub"),
  };
}

export function update(parts, t) {
  parts.sub.textContent = `Twelve regions, ${t.toFixed(2)} seconds in`;
  parts.values.forEach((el, i) => {
    el.textContent = Math.round((400 + 137 * i) * (0.2 + 0.8 * rise(t, i))).toLocaleString("en-US");
  });
  parts.fills.forEach((el, i) => { el.style.transform = `scaleX(${(0.08 + 0.84 * rise(t, i)).toFixed(5)})`; });
  parts.cards.forEach((el, i) => { el.style.transform = `translateY(${(6 * Math.sin(t * 2 + i)).toFixed(3)}px) rotate(${(0.6 * Math.sin(t * 1.3 + i * 2)).toFixed(4)}deg)`; });
  let d = "";
  for (let x = 0; x <= 1720; x += 20) d += `${x ? "L" : "M"}${x} ${(55 + 40 * Math.sin(x / 130 + t * 3) * Math.cos(x / 410 - t)).toFixed(2)}`;
  parts.path.setAttribute("d", d);
  parts.balls.forEach((el, i) => {
    const a = t * 1.4 + i * Math.PI / 4;
    el.style.transform = `translate(${(932 + 860 * Math.cos(a)).toFixed(3)}px, ${(512 + 470 * Math.sin(a)).toFixed(3)}px)`;
  });
}

function rise(t, i) {
  const x = Math.min(Math.max((t - i * 0.15) / 3, 0), 1);
  return 1 - (1 - x) ** 3;
}
