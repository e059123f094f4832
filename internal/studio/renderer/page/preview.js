// The preview's page. Frames come from the renderer, so that they are those of
// the film; the scene's own code never runs here.
const $ = (id) => document.getElementById(id);
const film = $("film");
const pen = film.getContext("2d", { alpha: false });

let scene = null; // what the server last said of it
let frame = 0;
let playing = null; // the controller of the running stream

function show(bitmap, n) {
  film.width = bitmap.width;
  film.height = bitmap.height;
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  mark(n);
}

function mark(n) {
  frame = n;
  $("scrub").value = String(n);
  $("time").value = scene ? `${(n / scene.fps).toFixed(2)} s · frame ${n}` : "";
}

function fail(text) {
  $("error").hidden = !text;
  $("error").textContent = text || "";
}

// One request at a time; of those that come meanwhile the last one counts.
let wanted = null;
let asking = false;

async function seek(n) {
  stop();
  mark(n);
  wanted = n;
  if (asking) return;
  asking = true;
  try {
    while (wanted !== null) {
      const now = wanted;
      wanted = null;
      const answer = await fetch(`frame?n=${now}&full=1&version=${scene.version}`);
      if (answer.status === 409) continue; // the scene has changed meanwhile
      if (!answer.ok) {
        fail(await answer.text());
        continue;
      }
      const bitmap = await createImageBitmap(await answer.blob());
      if (wanted === null) show(bitmap, now);
      else bitmap.close();
    }
  } catch {
    $("state").textContent = "the preview has ended";
  } finally {
    asking = false;
  }
}

function stop() {
  playing?.abort();
  playing = null;
  $("play").textContent = "▶";
  $("play").ariaLabel = "Play";
}

async function play() {
  if (!scene) return;
  stop();
  const mine = new AbortController();
  playing = mine;
  $("play").textContent = "❚❚";
  $("play").ariaLabel = "Pause";
  const from = frame >= scene.frames - 1 ? 0 : frame;
  const full = $("full").checked ? 1 : 0;
  try {
    const answer = await fetch(`play?from=${from}&full=${full}&version=${scene.version}`, { signal: mine.signal });
    if (!answer.ok) {
      if (answer.status !== 409) fail(await answer.text());
      return;
    }
    const start = performance.now();
    let n = from;
    for await (const jpeg of parts(answer.body.getReader())) {
      const bitmap = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" }));
      // Never faster than the film; slower when drawing is.
      const due = start + ((n - from) * 1000) / scene.fps;
      const early = due - performance.now();
      if (early > 2) await new Promise((done) => setTimeout(done, early));
      if (playing !== mine) return bitmap.close();
      show(bitmap, n);
      $("state").textContent = `${Math.round(((n - from + 1) * 1000) / (performance.now() - start + 1000 / scene.fps))} frames a second`;
      n++;
    }
  } catch (e) {
    if (e.name !== "AbortError") $("state").textContent = "the preview has ended";
  } finally {
    if (playing === mine) stop();
  }
}

// parts reads pictures from a stream, each after its length in four bytes. A
// length of 0 announces an error's text.
async function* parts(reader) {
  let have = new Uint8Array(0);
  const take = async (n) => {
    while (have.length < n) {
      const { done, value } = await reader.read();
      if (done) return null;
      const joined = new Uint8Array(have.length + value.length);
      joined.set(have);
      joined.set(value, have.length);
      have = joined;
    }
    const out = have.slice(0, n);
    have = have.slice(n);
    return out;
  };
  const length = (b) => new DataView(b.buffer).getUint32(0);
  for (;;) {
    const head = await take(4);
    if (!head) return;
    if (length(head) === 0) {
      const size = await take(4);
      const text = size && (await take(length(size)));
      if (text) fail(new TextDecoder().decode(text));
      return;
    }
    const jpeg = await take(length(head));
    if (!jpeg) return;
    yield jpeg;
  }
}

function loaded(news) {
  const was = scene;
  $("state").textContent = news.loading ? "loading…" : "";
  fail(news.error);
  if (!news.frames) return;
  scene = news;
  $("name").textContent = news.name;
  document.title = `${news.name} – Proofreel preview`;
  $("facts").textContent = `${news.width}×${news.height}, ${news.fps} fps, ${news.seconds} s, ${news.kind}`;
  $("scrub").max = String(news.frames - 1);
  if (!was || was.version !== news.version) {
    if (news.error) return;
    seek(Math.min(was ? frame : 0, news.frames - 1));
  }
}

$("play").addEventListener("click", () => (playing ? stop() : play()));
$("back").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
$("scrub").addEventListener("input", () => seek(Number($("scrub").value)));

function step(by) {
  if (scene) seek(Math.min(Math.max(frame + by, 0), scene.frames - 1));
}

document.addEventListener("keydown", (e) => {
  if (e.target === $("scrub") && e.key !== " ") return; // it has keys of its own
  if (e.key === " ") (playing ? stop() : play());
  else if (e.key === "ArrowLeft") step(e.shiftKey ? -10 : -1);
  else if (e.key === "ArrowRight") step(e.shiftKey ? 10 : 1);
  else if (e.key === "Home") seek(0);
  else if (e.key === "End" && scene) seek(scene.frames - 1);
  else return;
  e.preventDefault();
});

const events = new EventSource("events");
events.onmessage = (e) => loaded(JSON.parse(e.data));
events.onerror = () => { $("state").textContent = "the preview has ended"; };
