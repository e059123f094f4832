// Renders one composition: node render.mjs BUNDLE COMPOSITION OUT BROWSER OPTIONS-JSON
import { renderMedia, selectComposition } from "@remotion/renderer";

const [serveUrl, id, outputLocation, browserExecutable, options] = process.argv.slice(2);
const { gl, ...rest } = JSON.parse(options);
const common = { serveUrl, browserExecutable, chromeMode: "headless-shell", logLevel: "error", chromiumOptions: { enableMultiProcessOnLinux: true, ...(gl ? { gl } : {}) } };
const composition = await selectComposition({ ...common, id });
await renderMedia({ ...common, composition, codec: "h264", outputLocation, muted: true, overwrite: true, ...rest });
