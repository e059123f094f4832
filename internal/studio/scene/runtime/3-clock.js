// The scene's clock: it stands still while a frame is drawn, and goes on by a
// frame between two. Timers and animation frames are driven by it.

const clock = (() => {
  const MOST = 20000; // callbacks between two frames
  const timers = new Map(); // id to {due, every, call, args, order}
  let frames = new Map(); // id to callback
  let running = new Map(); // those that are being called
  let last = 0;
  let order = 0;

  function add(call, delay, args, every) {
    if (typeof call !== 'function') {
      fail('scene_unsupported', 'a timer of text is refused: give it a function');
    }
    state.sequential = true;
    delay = Number(delay);
    if (!(delay > 0)) delay = 0; // NaN as well
    const id = ++last;
    // An interval of nothing would never let the clock go on.
    timers.set(id, { due: state.now + delay, every: every ? Math.max(delay, 1) : 0, call, args, order: ++order });
    return id;
  }

  function next(until) {
    let best;
    let bestID = 0;
    for (const [id, t] of timers) {
      if (t.due <= until && (!best || t.due < best.due || (t.due === best.due && t.order < best.order))) {
        best = t;
        bestID = id;
      }
    }
    return best && { id: bestID, timer: best };
  }

  // advance runs what is due up to the new time, in order of time, then the
  // animation frames that were asked for before.
  function advance(to) {
    let n = 0;
    for (let due = next(to); due; due = next(to)) {
      if (++n > MOST) {
        fail('scene_unsupported', `more than ${MOST} timers fired between two frames: timers that start timers without delay never end`);
      }
      const { id, timer } = due;
      state.now = Math.max(state.now, timer.due);
      if (timer.every) {
        timer.due += timer.every;
        timer.order = ++order;
      } else {
        timers.delete(id);
      }
      timer.call.apply(G, timer.args);
    }
    state.now = to;
    running = frames;
    frames = new Map();
    for (const call of running.values()) call.call(G, to); // without those that one before it cancelled
  }

  function install() {
    fix(G, 'setTimeout', (call, delay, ...args) => add(call, delay, args, false));
    fix(G, 'setInterval', (call, delay, ...args) => add(call, delay, args, true));
    const clear = (id) => void timers.delete(id);
    fix(G, 'clearTimeout', clear);
    fix(G, 'clearInterval', clear);
    fix(G, 'requestAnimationFrame', (call) => {
      if (typeof call !== 'function') throw new TypeError('requestAnimationFrame takes a function');
      state.sequential = true;
      frames.set(++last, call);
      return last;
    });
    fix(G, 'cancelAnimationFrame', (id) => {
      frames.delete(id);
      running.delete(id);
    });
    // Libraries that think they run in Node ask for these: once a frame is often
    // enough, and can't go on for ever.
    fix(G, 'setImmediate', (call, ...args) => G.requestAnimationFrame(() => call(...args)));
    fix(G, 'clearImmediate', G.cancelAnimationFrame);
    fix(G, 'requestIdleCallback', (call) => add(() => call({ didTimeout: false, timeRemaining: () => 50 }), 0, [], false));
    fix(G, 'cancelIdleCallback', clear);
  }

  return { install, advance };
})();

const wall = () => EPOCH + Math.floor(state.now);

function installDate() {
  const Real = native.Date;
  const parts = Real.prototype;
  function Date(...args) {
    if (!new.target) return new Real(wall()).toString();
    return Reflect.construct(Real, args.length === 0 ? [wall()] : args, new.target === Date ? Real : new.target);
  }
  Date.prototype = parts;
  Object.defineProperty(Date, 'prototype', { writable: false });
  fix(Date, 'now', () => wall());
  fix(Date, 'parse', Real.parse);
  fix(Date, 'UTC', Real.UTC);
  Object.defineProperty(Date, 'length', { value: 7 });
  Object.defineProperty(parts, 'constructor', { value: Date, writable: false, configurable: false });
  fix(G, 'Date', Date);

  // Without a date, these format the real now.
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format').get;
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    configurable: false,
    get() {
      const bound = format.call(this);
      return (date) => bound(date === undefined ? wall() : date);
    },
  });
  const toParts = Intl.DateTimeFormat.prototype.formatToParts;
  fix(Intl.DateTimeFormat.prototype, 'formatToParts', function formatToParts(date) {
    return toParts.call(this, date === undefined ? wall() : date);
  });
  if (G.Temporal && G.Temporal.Now) {
    const T = G.Temporal;
    const instant = () => T.Instant.fromEpochMilliseconds(wall());
    const zoned = (zone = 'UTC') => instant().toZonedDateTimeISO(zone);
    const Now = T.Now;
    fix(Now, 'instant', instant);
    fix(Now, 'timeZoneId', () => 'UTC');
    fix(Now, 'zonedDateTimeISO', zoned);
    fix(Now, 'plainDateTimeISO', (zone) => zoned(zone).toPlainDateTime());
    fix(Now, 'plainDateISO', (zone) => zoned(zone).toPlainDate());
    fix(Now, 'plainTimeISO', (zone) => zoned(zone).toPlainTime());
  }
}

function installPerformance() {
  const proto = Performance.prototype;
  fix(proto, 'now', () => state.now);
  fixGetter(proto, 'timeOrigin', () => EPOCH);
  for (const name of ['mark', 'measure', 'clearMarks', 'clearMeasures', 'clearResourceTimings', 'setResourceTimingBufferSize']) {
    if (name in proto) fix(proto, name, () => undefined);
  }
  for (const name of ['getEntries', 'getEntriesByName', 'getEntriesByType']) {
    if (name in proto) fix(proto, name, () => []);
  }
  for (const name of ['memory', 'timing', 'navigation', 'eventCounts', 'interactionCount']) {
    if (name in performance) {
      const owner = name in proto ? proto : performance;
      const d = Object.getOwnPropertyDescriptor(owner, name);
      if (!d || d.configurable) fixGetter(owner, name, () => undefined);
    }
  }
  fix(proto, 'toJSON', () => ({ timeOrigin: EPOCH }));
  if (typeof Event === 'function') fixGetter(Event.prototype, 'timeStamp', () => state.now);
  if (typeof PerformanceEntry === 'function') {
    fixGetter(PerformanceEntry.prototype, 'startTime', () => state.now);
    fix(PerformanceEntry.prototype, 'toJSON', () => ({}));
  }
  if (typeof AnimationTimeline === 'function') fixGetter(AnimationTimeline.prototype, 'currentTime', () => state.now);
  if (typeof Document === 'function') fixGetter(Document.prototype, 'lastModified', () => '01/01/2026 00:00:00');
  if ('memory' in console) fixGetter(console, 'memory', () => undefined);
}

// installDated has what carries a time, or waits for one, do so by the scene's.
function installDated() {
  if (typeof File === 'function') {
    const Real = File;
    const Dated = new Proxy(Real, {
      construct(target, args, newTarget) {
        if (args.length >= 2) args[2] = { lastModified: wall(), ...args[2] };
        return Reflect.construct(target, args, newTarget === Dated ? target : newTarget);
      },
    });
    Object.defineProperty(Real.prototype, 'constructor', { value: Dated, writable: false, configurable: false });
    fix(G, 'File', Dated);
  }
  fix(AbortSignal, 'timeout', function timeout(ms) {
    const controller = new AbortController();
    G.setTimeout(() => controller.abort(new DOMException('signal timed out', 'TimeoutError')), ms);
    return controller.signal;
  });
}

// The rest of the realm must stand in one place: an author's machine must not
// show in a film.
function installPlace() {
  const wrong = [];
  if (new native.Date(1e12).getTimezoneOffset() !== 0) wrong.push('the time zone is not UTC');
  if (Intl.NumberFormat().resolvedOptions().locale !== 'en-US') wrong.push(`the language is ${Intl.NumberFormat().resolvedOptions().locale}, not en-US`);
  const constant = {
    hardwareConcurrency: 4,
    deviceMemory: 4,
    language: 'en-US',
    languages: Object.freeze(['en-US']),
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    appVersion: '5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    platform: 'Linux x86_64',
    onLine: false,
  };
  const proto = Object.getPrototypeOf(G.navigator);
  for (const [name, value] of Object.entries(constant)) {
    if (name in proto) fixGetter(proto, name, () => value);
  }
  return wrong;
}
