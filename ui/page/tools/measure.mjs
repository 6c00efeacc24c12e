// Measures the page with many events: ./bench page
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

await build({
  absWorkingDir: fileURLToPath(new URL("../", import.meta.url)),
  entryPoints: ["test/measure.ts"],
  outdir: "target/measure",
  bundle: true,
  packages: "external",
  external: ["../tools/build.mjs"],
  alias: { "@parley/client": "../client/src/index.ts" },
  platform: "node",
  format: "esm",
  target: "node20",
});
await import(new URL("../target/measure/measure.js", import.meta.url).href);
