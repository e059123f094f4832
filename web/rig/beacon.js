"use strict";

// The frame beacon: the page's number of painted frames as a strip of black and
// white cells. Layout and checksum are described in beacon/layout.go; the two are
// held together by a test.
const beacon = (() => {
  const CELLS = 50, MASK = (1 << 24) - 1, FIDUCIAL = [1, 0, 1, 1, 1, 0, 1];

  function checksum(bytes) {
    let sum = 0xff;
    for (const byte of bytes) {
      sum ^= byte;
      for (let i = 0; i < 8; i++) sum = sum & 0x80 ? (sum << 1 ^ 0x07) & 0xff : sum << 1;
    }
    return sum;
  }

  function payload(number, twin) {
    const gray = number ^ number >>> 1;
    const sum = checksum([twin ? 1 : 0, gray >>> 16, gray >>> 8 & 0xff, gray & 0xff]);
    const bits = (value, count) => Array.from({length: count}, (_, i) => value >>> count - 1 - i & 1);
    return [twin ? 1 : 0, ...bits(gray, 24), ...bits(sum, 8)];
  }

  function draw(canvas, number, twin) {
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const c = canvas.getContext("2d", {alpha: false});
    c.fillStyle = "#fff";
    c.fillRect(0, 0, width, height);
    const quiet = Math.floor(height / 8), top = quiet, foot = height - quiet, middle = Math.floor((top + foot) / 2);
    const edge = at => Math.round(at * width / CELLS);
    c.fillStyle = "#000";
    const cell = (at, y0, y1) => c.fillRect(edge(at), y0, edge(at + 1) - edge(at), y1 - y0);
    FIDUCIAL.forEach((black, i) => {
      if (!black) return;
      cell(0.5 + i, top, foot);
      cell(42.5 + i, top, foot);
    });
    payload(number, twin).forEach((black, i) => cell(8.5 + i, black ? top : middle, black ? middle : foot));
  }

  return {draw, MASK};
})();
