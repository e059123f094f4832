(() => {
  'use strict';
  const video = document.querySelector('video');
  const list = document.querySelector('ol');
  const steps = [...document.querySelectorAll('ol button')].map((button) => ({
    button, at: Number(button.dataset.t), outcome: button.parentNode.className,
  }));
  const play = () => { const p = video.play(); if (p) p.catch(() => {}); };
  // A hair later: a player may round down into the frame before the step. The
  // list follows at once: the next key counts from there.
  const go = (step) => { video.currentTime = step.at + 0.001; show(); play(); };
  // With a motion that was asked not to be, nothing starts by itself.
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) { video.autoplay = false; video.pause(); }

  let bar = null;
  const fills = [];
  const build = () => {
    if (bar || steps.length < 2 || steps.length > 120 || !(video.duration > 0)) return;
    bar = document.createElement('div');
    bar.className = 'bar';
    steps.forEach((step, i) => {
      const from = i ? step.at : 0;
      const to = i + 1 < steps.length ? steps[i + 1].at : video.duration;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = step.outcome;
      button.style.flexGrow = Math.max(to - from, 0.01);
      button.title = step.button.querySelector('bdi').textContent;
      button.tabIndex = -1;
      button.setAttribute('aria-hidden', 'true');
      const fill = document.createElement('s');
      const track = document.createElement('i');
      track.append(fill);
      button.append(track);
      button.addEventListener('click', () => go(step));
      bar.append(button);
      fills.push({ fill, from, to });
    });
    video.after(bar);
  };

  let current = -1;
  const show = () => {
    const now = video.currentTime;
    for (const f of fills) {
      f.fill.style.width = Math.min(Math.max((now - f.from) / (f.to - f.from), 0), 1) * 100 + '%';
    }
    let i = -1;
    while (i + 1 < steps.length && steps[i + 1].at <= now + 0.01) i++;
    if (i === current) return;
    if (current >= 0) steps[current].button.removeAttribute('aria-current');
    current = i;
    if (i < 0) return;
    const row = steps[i].button;
    row.setAttribute('aria-current', 'step');
    // Only the list scrolls: the page must stay where its reader put it.
    if (list.scrollHeight > list.clientHeight) list.scrollTop = row.parentNode.offsetTop - list.clientHeight / 3;
  };
  const tick = () => { show(); if (!video.paused) requestAnimationFrame(tick); };
  video.addEventListener('play', tick);
  video.addEventListener('seeked', show);
  video.addEventListener('timeupdate', show);
  // The file may be that near that its length is known already.
  const ready = (f) => { if (video.readyState > 0) f(); else video.addEventListener('loadedmetadata', f, { once: true }); };
  ready(() => { build(); show(); });

  // A missing file, or a frame that may not read files, says so.
  const missing = () => {
    if (document.querySelector('.missing')) return;
    const note = document.createElement('p');
    note.className = 'missing';
    note.append('This video can’t be played here: ', video.querySelector('a').cloneNode(true));
    video.after(note);
  };
  video.addEventListener('error', missing);
  if (video.error) missing();

  for (const step of steps) step.button.addEventListener('click', () => go(step));

  // #3 in the address begins at the third step.
  const link = /^#(\d+)$/.exec(location.hash);
  if (link) {
    const step = steps.find((s) => s.button.parentNode.value === Number(link[1]));
    if (step) ready(() => go(step));
  }

  // Times are written in UTC, which is right anywhere; a reader wants theirs.
  for (const time of document.querySelectorAll('time[datetime]')) {
    const date = new Date(time.dateTime);
    if (!isNaN(date)) time.title = date.toLocaleString();
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const on = event.target instanceof Element ? event.target.tagName : '';
    let known = true;
    switch (event.key) {
      case ' ': case 'k':
        if (event.key === ' ' && (on === 'BUTTON' || on === 'VIDEO')) return;
        if (video.paused) play(); else video.pause();
        break;
      case 'ArrowLeft': case 'ArrowRight':
        if (on === 'VIDEO') return;
        video.currentTime += event.key === 'ArrowLeft' ? -5 : 5;
        break;
      case 'n': case 'N':
        if (steps.length) go(steps[(current + 1) % steps.length]);
        break;
      case 'p': case 'P':
        if (steps.length) go(steps[Math.max(current - 1, 0)]);
        break;
      case 'f': case 'F':
        if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
        else if (video.requestFullscreen) video.requestFullscreen().catch(() => {});
        break;
      default:
        known = false;
    }
    if (known) event.preventDefault();
  });
})();
