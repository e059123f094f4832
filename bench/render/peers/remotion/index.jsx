// The three scenes as Remotion compositions. Each draws in a layout effect from
// the frame's number, as Remotion's own canvas and three examples do.
import React, { useLayoutEffect, useRef, useState } from "react";
import { Composition, cancelRender, continueRender, delayRender, registerRoot, staticFile, useCurrentFrame } from "remotion";
import { fontFiles, frames } from "./settings.js"; // written by the bench
import * as canvas from "./scenes/canvas.js";
import * as dom from "./scenes/dom-content.js";
import * as webgl from "./scenes/webgl-content.js";

// The fonts are Proofreel's own, so that all draw the same letters.
const fonts = fontFiles.map((f) => new FontFace("Inter", `url(${staticFile(f.file)})`, { weight: f.weight }).load().then((face) => document.fonts.add(face)));

function useFonts() {
  const [handle] = useState(() => delayRender("fonts"));
  const [ready, setReady] = useState(false);
  useLayoutEffect(() => {
    Promise.all(fonts).then(() => { setReady(true); continueRender(handle); }, cancelRender);
  }, [handle]);
  return ready;
}

const Canvas = () => {
  const ref = useRef(null);
  const frame = useCurrentFrame();
  const ready = useFonts();
  useLayoutEffect(() => {
    if (ready) canvas.draw(ref.current.getContext("2d", { alpha: false }), frame / 30);
  }, [frame, ready]);
  return <canvas ref={ref} width={1920} height={1080} />;
};

const Dom = () => {
  const ref = useRef(null);
  const parts = useRef(null);
  const frame = useCurrentFrame();
  const ready = useFonts();
  useLayoutEffect(() => {
    parts.current ??= dom.build(ref.current, document);
    dom.update(parts.current, frame / 30);
  }, [frame, ready]);
  return <div ref={ref} style={{ position: "absolute", inset: 0 }} />;
};

const WebGL = () => {
  const ref = useRef(null);
  const render = useRef(null);
  const frame = useCurrentFrame();
  useLayoutEffect(() => {
    render.current ??= webgl.make(ref.current, undefined);
    render.current(frame / 30);
  }, [frame]);
  return <canvas ref={ref} width={1920} height={1080} />;
};

const size = { width: 1920, height: 1080, fps: 30, durationInFrames: frames };
registerRoot(() => (
  <>
    <Composition id="canvas" component={Canvas} {...size} />
    <Composition id="dom" component={Dom} {...size} />
    <Composition id="webgl" component={WebGL} {...size} />
  </>
));
