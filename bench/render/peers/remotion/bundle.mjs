// Bundles the compositions once, before anything is measured: node bundle.mjs
import { bundle } from "@remotion/bundler";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
await bundle({ entryPoint: here("index.jsx"), outDir: here("bundle"), publicDir: here("public") });
