// Chance that is the same every time: hashes of keys, and a generator that
// begins anew from (seed, frame) before each draw.

function mix32(h) {
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

const scratch = new DataView(new ArrayBuffer(8));

// absorb puts a key into a hash: numbers by their bits, all else as text.
function absorb(h, key) {
  if (typeof key === 'number') {
    scratch.setFloat64(0, key === 0 ? 0 : key); // -0 is 0
    h = mix32(h ^ scratch.getUint32(0));
    return mix32((h + 0x9e3779b9) ^ scratch.getUint32(4));
  }
  const text = String(key);
  h = mix32(h ^ text.length ^ 0x51ed270b);
  for (let i = 0; i < text.length; i++) h = mix32((h + 0x9e3779b9) ^ text.charCodeAt(i));
  return h;
}

const random = (() => {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  // sfc32, public domain: 128 bits of state, passes PractRand.
  function next() {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  }
  return {
    seed(...keys) {
      let h = 0x2545f491;
      for (const k of keys) h = absorb(h, k);
      a = h;
      b = mix32(h ^ 0x68bc21eb);
      c = mix32(h ^ 0x02e5be93);
      d = 1;
      for (let i = 0; i < 12; i++) next();
    },
    next,
    // 53 bits, as Math.random gives.
    float: () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992,
  };
})();

// keyed is env.rand: the same keys give the same number in [0, 1), whatever
// was drawn before.
function keyed(...keys) {
  let h = absorb(0x1b873593, state.seed);
  for (const k of keys) h = absorb(h, k);
  return h / 4294967296;
}

// noise is Perlin's, improved: smooth, 0 at whole numbers, within -1 to 1.
const noise = (() => {
  const perm = new Uint8Array(512);
  let of = -1;
  function shuffle() {
    of = state.seed;
    for (let i = 0; i < 256; i++) perm[i] = i;
    for (let i = 255; i > 0; i--) {
      const j = Math.floor(keyed('noise', i) * (i + 1));
      const p = perm[i];
      perm[i] = perm[j];
      perm[j] = p;
    }
    perm.copyWithin(256, 0, 256);
  }
  const fade = (t) => t * t * t * (t * (t * 6 - 15) + 10);
  const lerp = (t, x, y) => x + t * (y - x);
  function slope(hash, x, y, z) {
    const h = hash & 15;
    const u = h < 8 ? x : y;
    const v = h < 4 ? y : h === 12 || h === 14 ? x : z;
    return ((h & 1) === 0 ? u : -u) + ((h & 2) === 0 ? v : -v);
  }
  return (x, y = 0, z = 0) => {
    if (of !== state.seed) shuffle();
    const fx = Math.floor(x);
    const fy = Math.floor(y);
    const fz = Math.floor(z);
    const X = fx & 255;
    const Y = fy & 255;
    const Z = fz & 255;
    x -= fx;
    y -= fy;
    z -= fz;
    const u = fade(x);
    const v = fade(y);
    const w = fade(z);
    const A = perm[X] + Y;
    const B = perm[X + 1] + Y;
    const AA = perm[A] + Z;
    const AB = perm[A + 1] + Z;
    const BA = perm[B] + Z;
    const BB = perm[B + 1] + Z;
    return lerp(
      w,
      lerp(v, lerp(u, slope(perm[AA], x, y, z), slope(perm[BA], x - 1, y, z)), lerp(u, slope(perm[AB], x, y - 1, z), slope(perm[BB], x - 1, y - 1, z))),
      lerp(
        v,
        lerp(u, slope(perm[AA + 1], x, y, z - 1), slope(perm[BA + 1], x - 1, y, z - 1)),
        lerp(u, slope(perm[AB + 1], x, y - 1, z - 1), slope(perm[BB + 1], x - 1, y - 1, z - 1)),
      ),
    );
  };
})();

function installRandom() {
  random.seed(0, LOADING);
  const float = random.float;
  fix(Math, 'random', function random() {
    return float();
  });
  const proto = Object.getPrototypeOf(G.crypto);
  fix(proto, 'getRandomValues', function getRandomValues(array) {
    if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array) {
      throw new TypeError('getRandomValues takes an array of whole numbers');
    }
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.next() >>> 24;
    return array;
  });
  fix(proto, 'randomUUID', function randomUUID() {
    const b = G.crypto.getRandomValues(new Uint8Array(16));
    b[6] = (b[6] & 15) | 64;
    b[8] = (b[8] & 63) | 128;
    const hex = Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  });
  const subtle = proto && Object.getOwnPropertyDescriptor(proto, 'subtle');
  if (subtle && typeof SubtleCrypto === 'function') {
    // These put chance of their own into what they give, but for some algorithms.
    const same = {
      sign: ['HMAC', 'RSASSA-PKCS1-V1_5', 'ED25519'],
      encrypt: ['AES-CTR', 'AES-CBC', 'AES-GCM'],
      wrapKey: ['AES-CTR', 'AES-CBC', 'AES-GCM', 'AES-KW'],
      generateKey: [],
      encapsulateKey: [],
      encapsulateBits: [],
    };
    for (const [name, allowed] of Object.entries(same)) {
      const is = SubtleCrypto.prototype[name];
      if (typeof is !== 'function') continue;
      fix(SubtleCrypto.prototype, name, function (...args) {
        const algorithm = args[name === 'wrapKey' ? 3 : 0];
        const called = String((algorithm && algorithm.name) || algorithm).toUpperCase();
        if (!allowed.includes(called)) fail('scene_unsupported', `crypto.subtle.${name} by ${called} is refused: what it gives is never the same; take env.rand`);
        return is.apply(this, args);
      });
    }
  }
}
