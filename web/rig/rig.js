"use strict";

// The rig. One rule carries it: nothing changes on screen outside frame(), and
// frame() counts a painted frame exactly when something changed. Query parameters:
//   mode    idle, typing, scroll, anim, full            (idle)
//   rate    changes a second; typing counts keys        (typing 8, else every frame)
//   beacon  twin, or top: the upper strip alone, so that a small change stays a small
//           damage and a torn frame is seen only inside the strip       (twin)
//   start   the first painted number                    (0)
//   seed    of the typing rhythm and the noise          (1)
//   rects   present: element places are written into the document as JSON
(() => {
  const $ = id => document.getElementById(id);
  const query = new URLSearchParams(location.search);
  const whole = (name, fallback) => {
    const value = Number(query.get(name) ?? fallback);
    return Number.isFinite(value) && value >= 0 ? value : fallback;
  };
  const MODES = ["idle", "typing", "scroll", "anim", "full"];
  const SWEEP_SPEED = 240, SCROLL_SPEED = 480, FLASH_MS = 200, KEYS_PER_SECOND = 8, SPAN_KEPT = 10000;
  const INKS = ["#f4f3ee", "#ffd9d2", "#ffe7b8", "#f3f2a8", "#cdeec2", "#bfe9e6", "#cfdcff", "#ead2f7"];
  const twin = query.get("beacon") !== "top";
  const rate = whole("rate", 0);

  let painted = whole("start", 0) & beacon.MASK;
  let mode = "idle";
  const stamps = [], latencies = [], clicks = {};

  // Seeded, so that two runs type the same rhythm and paint the same noise.
  let state = whole("seed", 1) >>> 0;
  function random() {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  }

  // ---- the frame loop ----

  const pending = [];
  let scheduled = false, timer = 0;
  const painter = new MessageChannel();
  let probes = [];

  // change queues one alteration of the page for the next frame.
  function change(alter, event) {
    pending.push({alter, event});
    wake(0);
  }

  function wake(delay) {
    if (scheduled) return;
    clearTimeout(timer);
    if (delay > 20) {
      timer = setTimeout(() => wake(0), delay - 8);
      return;
    }
    scheduled = true;
    requestAnimationFrame(frame);
  }

  function frame(now) {
    scheduled = false;
    let changed = pending.length > 0, next = Infinity;
    for (const {alter, event} of pending.splice(0)) {
      alter(now);
      if (event) probes.push(event);
    }
    for (const actor of actors) {
      if (!actor.active()) continue;
      if (!(actor.due > now)) changed = actor.step(now) || changed;
      if (actor.active()) next = Math.min(next, Math.max(0, actor.due - now));
    }
    if (changed) paint(now);
    if (next < Infinity) wake(next);
  }

  function paint(now) {
    painted = painted + 1 & beacon.MASK;
    stamps.push(now);
    fps(now);
    readout(now);
    // The message arrives after this frame's style, layout and paint.
    if (probes.length) painter.port2.postMessage({events: probes.splice(0), number: painted});
  }

  painter.port1.onmessage = ({data}) => {
    const now = performance.now();
    for (const e of data.events) latencies.push({id: e.id, painted: data.number, ms: now - e.at});
    latencies.splice(0, latencies.length - SPAN_KEPT);
  };

  function fps(now) {
    while (stamps.length && stamps[0] <= now - 1000) stamps.shift();
    return stamps.length;
  }

  let readoutDue = 0;
  function readout(now) {
    $("painted").textContent = painted;
    beacon.draw($("beacon-top"), painted, twin);
    if (twin) beacon.draw($("beacon-foot"), painted, twin);
    if (now < readoutDue) return;
    readoutDue = now + 500;
    $("fps").textContent = actors.some(a => a.active()) ? fps(now) : "–";
    $("latency").textContent = latencies.length ? latencies.at(-1).ms.toFixed(1) + " ms" : "–";
  }

  // ---- what moves ----

  // every gives an actor its rhythm: the next change is due a period after the last
  // was, without drift, and at once when that is in the past.
  function every(actor, period, now) {
    actor.due = Math.max((actor.due || now) + period, now);
    if (period === 0) actor.due = 0;
  }
  const period = () => rate > 0 ? 1000 / rate : 0;

  const clock = {
    running: false, since: 0, kept: 0, due: 0,
    active: () => clock.running,
    step(now) {
      const centis = Math.floor((clock.kept + now - clock.since) / 10);
      const two = n => String(n).padStart(2, "0");
      const text = `${two(Math.floor(centis / 6000))}:${two(Math.floor(centis / 100) % 60)}.${two(centis % 100)}`;
      if ($("clock").textContent === text) return false;
      $("clock").textContent = text;
      return true;
    },
    toggle(now) {
      if (clock.running) clock.kept += now - clock.since;
      clock.since = now;
      clock.running = !clock.running;
      $("clock").classList.toggle("on", clock.running);
    },
  };

  const flash = {
    until: 0, due: 0,
    active: () => flash.until > 0,
    start(now) {
      flash.until = flash.due = now + FLASH_MS;
      document.body.classList.add("flash");
    },
    step() {
      flash.until = 0;
      document.body.classList.remove("flash");
      return true;
    },
  };

  const sweep = {
    since: 0, count: 0, due: 0,
    active: () => mode === "anim" || mode === "full",
    step(now) {
      const room = $("lane").clientWidth - $("box").offsetWidth;
      const x = Math.round((now - sweep.since) / 1000 * SWEEP_SPEED % Math.max(room, 1));
      $("box").style.transform = `translateX(${x}px)`;
      $("sweep-count").textContent = ++sweep.count;
      every(sweep, period(), now);
      return true;
    },
  };

  const PASSAGE = "A film that nobody can check proves nothing. This text is typed at a seeded rhythm, so two runs strike the same keys at the same distances, and a recorder that drops a stroke is found out by the number above.\n";
  const typing = {
    at: 0, due: 0,
    active: () => mode === "typing",
    step(now) {
      if (typing.at % PASSAGE.length === 0 && typing.at > 0) $("typed").textContent = "";
      $("typed").textContent += PASSAGE[typing.at++ % PASSAGE.length];
      every(typing, 1000 / (rate || KEYS_PER_SECOND) * (0.5 + random()), now);
      return true;
    },
  };

  const scroller = {
    since: 0, last: -1, due: 0,
    active: () => mode === "scroll",
    step(now) {
      const page = $("page"), room = page.scrollHeight - page.clientHeight;
      const way = (now - scroller.since) / 1000 * SCROLL_SPEED % (2 * Math.max(room, 1));
      const top = Math.round(way <= room ? way : 2 * room - way);
      every(scroller, period(), now);
      if (top === scroller.last) return false;
      page.scrollTop = scroller.last = top;
      return true;
    },
  };

  const full = {
    due: 0, at: 0,
    active: () => mode === "full",
    step(now) {
      const canvas = $("full"), c = canvas.getContext("2d"), image = full.image ||= c.createImageData(canvas.width, canvas.height);
      const words = new Uint32Array(image.data.buffer);
      for (let i = 0; i < words.length; i++) words[i] = 0xffa0a0a0 + (random() * 0x1000000 & 0x5f5f5f);
      c.putImageData(image, 0, 0);
      every(full, period(), now);
      return true;
    },
  };

  const actors = [clock, flash, sweep, typing, scroller, full];

  function setMode(name) {
    if (!MODES.includes(name)) throw new RangeError(`mode ${name}: one of ${MODES.join(", ")}`);
    change(now => {
      mode = name;
      document.body.dataset.mode = name;
      for (const b of document.querySelectorAll("nav button")) b.classList.toggle("on", b.dataset.mode === name);
      for (const actor of [sweep, typing, scroller, full]) actor.due = 0;
      sweep.since = scroller.since = now;
      readoutDue = 0;
    });
  }

  // ---- what is there ----

  const LINES = ["The quick brown fox jumps over the lazy dog 0123456789", "if (err != nil) { return fmt.Errorf(\"read: %w\", err) }"];
  function build() {
    for (let i = 1; i <= INKS.length; i++) {
      const b = document.createElement("button");
      b.id = `t${i}`;
      b.innerHTML = `T${i}<span>0</span>`;
      clicks[b.id] = 0;
      $("targets").append(b);
    }
    for (const size of [9, 10, 11, 12, 13, 14, 16, 20, 24]) {
      for (const mono of size === 12 ? [false, true] : [false]) {
        const p = document.createElement("p");
        p.style.fontSize = `${size}px`;
        p.className = mono ? "mono" : "";
        p.innerHTML = `<b>${size} px</b><span></span>`;
        p.lastChild.textContent = LINES[mono ? 1 : 0];
        p.lastChild.dataset.probe = `text-${size}${mono ? "-mono" : ""}`;
        $("ladder").append(p);
      }
    }
    const kinds = ["pass", "", "", "warn", "", "pass", "", "fail", "", ""];
    for (let i = 1; i <= 240; i++) {
      const li = document.createElement("li"), kind = kinds[i * 7 % kinds.length];
      li.className = kind;
      li.dataset.n = i;
      li.textContent = `${(kind || "info").padEnd(5)} request ${(i * 2654435761 >>> 0).toString(16).padStart(8, "0")}  GET /orders/${i * 37 % 991}  ${200 + i % 3}  ${(i * 131 % 977 / 10).toFixed(1)} ms`;
      $("log").append(li);
    }
    $("full").width = 160;
    $("full").height = 90;
    $("beacon-foot").hidden = !twin;
  }

  function listen() {
    document.addEventListener("click", e => {
      const b = e.target.closest("button");
      if (!b) return;
      clicks[b.id] = (clicks[b.id] || 0) + 1;
      const probe = {id: b.id, at: e.timeStamp};
      if (b.dataset.mode) return setMode(b.dataset.mode);
      if (b.id === "clock") return change(clock.toggle, probe);
      if (b.id === "flash") return change(flash.start, probe);
      change(() => {
        b.style.background = INKS[clicks[b.id] % INKS.length];
        b.lastChild.textContent = clicks[b.id];
      }, probe);
    });
    const touched = () => change(() => {});
    for (const kind of ["input", "focusin", "focusout"]) $("name").addEventListener(kind, touched);
    // A window tells of a resize that was none while it opens.
    let size = `${innerWidth}x${innerHeight}`;
    window.addEventListener("resize", () => {
      if (size !== (size = `${innerWidth}x${innerHeight}`)) touched();
    });
    $("page").addEventListener("scroll", () => {
      if ($("page").scrollTop !== scroller.last) touched();
    });
  }

  // rects gives the place of each [data-probe] element in CSS pixels of the viewport.
  function rects() {
    const out = {};
    for (const e of document.querySelectorAll("[data-probe]")) {
      const r = e.getBoundingClientRect();
      out[e.dataset.probe] = [r.left, r.top, r.right, r.bottom];
    }
    return out;
  }

  build();
  listen();
  readout(0);
  document.body.dataset.mode = mode;
  $("mode-idle").classList.add("on");
  const wanted = query.get("mode") || "idle";
  if (wanted !== "idle") setMode(wanted);
  if (query.has("rects")) {
    const s = document.createElement("script");
    s.type = "application/json";
    s.id = "rects";
    s.textContent = JSON.stringify(rects());
    document.body.append(s);
  }

  window.rig = {
    get painted() { return painted; },
    get fps() { return fps(performance.now()); },
    get mode() { return mode; },
    get clicks() { return {...clicks}; },
    get latencies() { return latencies.slice(); },
    get running() { return clock.running; },
    setMode, rects,
  };
})();
