// Compiles and runs the tests. To run only some, pass their names: npm test -- thread list
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { runTestFiles } from "../../client/tools/test-files.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const TESTS = new URL("../target/test/", import.meta.url);
const REPORTS = new URL("../target/reports/", import.meta.url);
const WORKERS = 2;
/** The slowest files, which start first. */
const SLOWEST = [
  "screens.test",
  "thread.test",
  "reload.test",
  "typing.test",
  "long.test",
  "accessibility.test",
  "questions.test",
  "list.test",
  "connection.test",
  "panels.test",
  "trace.test",
];
const CHROMIUM =
  process.env.CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Otherwise each page starts two renderers: one for its empty start, one for its address.
  "--disable-site-isolation-trials",
  "--process-per-site",
];

const wanted = process.argv.slice(2);
const all = readdirSync(new URL("../test/", import.meta.url))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => name.slice(0, -".ts".length))
  .filter((name) => wanted.length === 0 || wanted.some((one) => name.startsWith(`${one}.`)));
const names = [
  ...SLOWEST.filter((name) => all.includes(name)),
  ...all.filter((name) => !SLOWEST.includes(name)),
];
rmSync(TESTS, { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  entryPoints: names.map((name) => `test/${name}.ts`),
  outdir: "target/test",
  bundle: true,
  packages: "external",
  alias: { "@parley/client": "../client/src/index.ts" },
  external: ["../tools/build.mjs"],
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
});

const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker));
const passed = await runTestFiles({
  name: "ui-page",
  files: names.map((name) => fileURLToPath(new URL(`${name}.js`, TESTS))),
  workers: workers.map(({ env }) => env),
  reports: REPORTS,
});
await Promise.all(workers.map((worker) => worker.stop()));
process.exitCode = passed ? 0 : 1;

/**
 * A browser and a server for the files that one worker runs one after another, because starting
 * them is slow. Files that need a server of their own start it.
 */
async function startWorker() {
  const program = process.env.PARLEY_PROGRAM;
  if (program === undefined || CHROMIUM === undefined) {
    return { env: {}, stop: async () => undefined };
  }
  const browser = await chromium.launchServer({ executablePath: CHROMIUM, args: FLAGS });
  const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  const work = join(folder, "work");
  mkdirSync(work);
  const keys = /^(ANTHROPIC|OPENAI|PARLEY)_/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name)));
  const server = spawn(program, ["serve", "--port", "0", "--data", join(folder, "data")], {
    cwd: work,
    // The server exits with this process, even if it is killed.
    env: { ...env, PARLEY_PARENT_PID: String(process.pid) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`the server ended at once: ${code}`)));
    createInterface(server.stdout).on("line", (line) => {
      const found = /https?:\/\/\S+/.exec(line)?.[0];
      if (found !== undefined) {
        resolve(found);
      }
    });
  });
  return {
    env: {
      PARLEY_PAGE_URL: url,
      PARLEY_PAGE_WORK: work,
      PARLEY_PAGE_BROWSER: browser.wsEndpoint(),
    },
    stop: async () => {
      await browser.close();
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
