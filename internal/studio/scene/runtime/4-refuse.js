// What a scene can't have, because the same frame would not come out twice, or
// because nothing leaves. docs/scene.md lists the same names: a test compares.

const REFUSED = Object.freeze({
  scene_network: {
    why: 'a scene has no network: put the file in its folder and name it in meta.assets',
    calls: [
      'fetch', 'fetchLater', 'XMLHttpRequest', 'WebSocket', 'WebSocketStream', 'WebSocketError', 'EventSource', 'WebTransport',
      'RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'importScripts',
    ],
    navigator: ['sendBeacon'],
  },
  scene_unsupported: {
    why: 'it would not give the same frames every time',
    calls: [
      'Worker', 'SharedWorker', 'BroadcastChannel', 'MessageChannel', 'PerformanceObserver',
      'FontFace', 'Notification', 'ReportingObserver', 'PressureObserver', 'IdleDetector',
      'AudioContext', 'webkitAudioContext', 'OfflineAudioContext', 'Audio', 'MediaSource', 'MediaRecorder', 'MediaStream',
      'VideoDecoder', 'VideoEncoder', 'AudioDecoder', 'AudioEncoder', 'SpeechSynthesisUtterance',
      'postMessage', 'close', 'reportError', 'alert', 'confirm', 'prompt', 'open', 'print', 'queryLocalFonts',
      'showOpenFilePicker', 'showSaveFilePicker', 'showDirectoryPicker', 'requestFileSystem', 'webkitRequestFileSystem',
      'webkitRequestFileSystemSync', 'webkitResolveLocalFileSystemURL', 'webkitResolveLocalFileSystemSyncURL',
    ],
    objects: ['indexedDB', 'caches', 'localStorage', 'sessionStorage', 'cookieStore', 'scheduler', 'speechSynthesis', 'sharedStorage', 'launchQueue', 'crashReport'],
    navigator: [
      'storage', 'serviceWorker', 'locks', 'geolocation', 'mediaDevices', 'permissions', 'connection', 'clipboard', 'credentials',
      'getBattery', 'getGamepads', 'usb', 'hid', 'serial', 'bluetooth', 'gpu', 'wakeLock', 'mediaCapabilities', 'mediaSession',
      'userAgentData', 'scheduling', 'requestMIDIAccess', 'storageBuckets', 'webkitPersistentStorage', 'webkitTemporaryStorage',
      'userActivation', 'vibrate', 'share', 'presentation', 'keyboard', 'ink', 'xr', 'virtualKeyboard', 'windowControlsOverlay',
    ],
  },
});

const INSTEAD = Object.freeze({
  Worker: 'the renderer itself runs several frames at a time',
  MessageChannel: 'take a timer, or call the function',
  FontFace: 'the fonts in the library are there already: env.fonts lists them',
  postMessage: 'draw on ctx; what is drawn is the frame',
  gpu: 'WebGPU is not there; meta.kind "webgl" gives WebGL2',
  userAgentData: 'navigator.userAgent is the same everywhere',
  VideoDecoder: 'videos can not be played in a scene: name pictures in meta.assets',
  'URL.createObjectURL': 'its addresses are never the same; write a data: URL, or name the file in meta.assets',
  Audio: 'a film has no sound',
  AudioContext: 'a film has no sound',
});

function refusal(code, name) {
  const why = INSTEAD[name.replace('navigator.', '')] || REFUSED[code].why;
  return () => fail(code, `${name} is refused: ${why}`);
}

// refuseCall puts in a function that throws when it is called or constructed,
// so that a library may still ask whether there is one.
function refuseCall(owner, name, code, shown) {
  const no = refusal(code, shown || name);
  const stand = function () {
    no();
  };
  Object.defineProperty(stand, 'name', { value: name });
  replace(owner, name, { value: stand, writable: false, enumerable: false, configurable: false });
}

// refuseObject puts in an object that throws when anything of it is used.
function refuseObject(owner, name, code, shown) {
  const no = refusal(code, shown || name);
  const stand = new Proxy(Object.create(null), {
    get: (_, key) => (typeof key === 'symbol' ? undefined : no()),
    set: no,
    has: () => false,
    deleteProperty: no,
    defineProperty: no,
  });
  replace(owner, name, { get: () => stand, set: undefined, enumerable: false, configurable: false });
}

// replace hides a property wherever in the chain of prototypes it lies.
function replace(object, name, descriptor) {
  for (let o = object; o; o = Object.getPrototypeOf(o)) {
    const d = Object.getOwnPropertyDescriptor(o, name);
    if (!d) continue;
    if (d.configurable) Object.defineProperty(o, name, descriptor);
    else if (d.writable) o[name] = 'value' in descriptor ? descriptor.value : descriptor.get();
  }
  const own = Object.getOwnPropertyDescriptor(object, name);
  if (!own || own.configurable) Object.defineProperty(object, name, descriptor);
}

function installRefusals(kind) {
  for (const [code, group] of Object.entries(REFUSED)) {
    for (const name of group.calls || []) if (name in G) refuseCall(G, name, code);
    for (const name of group.objects || []) if (name in G) refuseObject(G, name, code);
    for (const name of group.navigator || []) {
      if (!(name in G.navigator)) continue;
      const is = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(G.navigator), name);
      if (is && typeof is.value === 'function') refuseCall(G.navigator, name, code, `navigator.${name}`);
      else refuseObject(G.navigator, name, code, `navigator.${name}`);
    }
  }
  refuseCall(URL, 'createObjectURL', 'scene_unsupported', 'URL.createObjectURL');
  refuseCall(Performance.prototype, 'measureUserAgentSpecificMemory', 'scene_unsupported', 'performance.measureUserAgentSpecificMemory');
  installMemory();
  if (typeof Atomics === 'object') {
    for (const name of ['wait', 'waitAsync', 'pause']) {
      if (name in Atomics) refuseCall(Atomics, name, 'scene_unsupported', `Atomics.${name}`);
    }
  }
  for (const Context of [G.WebGLRenderingContext, G.WebGL2RenderingContext]) {
    if (typeof Context !== 'function') continue;
    const getExtension = Context.prototype.getExtension;
    fix(Context.prototype, 'getExtension', function (name) {
      return /timer_query/i.test(name) ? null : getExtension.call(this, name); // it would read the real time
    });
  }
  if (kind === 'dom') refuseElements();
}

// When memory is collected differs from run to run. Libraries hold caches by
// these two: here nothing is ever collected before its realm ends.
function installMemory() {
  fix(
    G,
    'WeakRef',
    class WeakRef {
      #target;
      constructor(target) {
        this.#target = target;
      }
      deref() {
        return this.#target;
      }
    },
  );
  fix(
    G,
    'FinalizationRegistry',
    class FinalizationRegistry {
      register() {}
      unregister() {
        return false;
      }
    },
  );
}

const ELEMENTS = Object.freeze(['video', 'audio', 'iframe', 'frame', 'object', 'embed', 'script', 'portal', 'fencedframe']);

// refuseElements refuses the parts of a page that load, play or run on their own.
function refuseElements() {
  const check = (name) => {
    if (ELEMENTS.includes(String(name).toLowerCase())) fail('scene_unsupported', `<${String(name).toLowerCase()}> is refused: it would not give the same frames every time`);
  };
  const create = Document.prototype.createElement;
  fix(Document.prototype, 'createElement', function createElement(name, options) {
    check(name);
    return create.call(this, name, options);
  });
  const createNS = Document.prototype.createElementNS;
  fix(Document.prototype, 'createElementNS', function createElementNS(ns, name, options) {
    check(name);
    return createNS.call(this, ns, name, options);
  });
  fix(Document.prototype, 'write', () => fail('scene_unsupported', 'document.write is refused: add elements to ctx.root'));
  fix(Document.prototype, 'writeln', () => fail('scene_unsupported', 'document.writeln is refused: add elements to ctx.root'));
}
