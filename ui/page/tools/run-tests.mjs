// Compiles and runs the tests, and writes their counts to target/reports for ./check.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const TESTS = new URL("../target/test/", import.meta.url);
const REPORTS = new URL("../target/reports/", import.meta.url);
const TIMEOUT_MS = 300_000;
const APART = ["reload.test", "screens.test"];

// To run only some tests, pass their names: npm test -- thread list
const wanted = process.argv.slice(2);
const names = readdirSync(new URL("../test/", import.meta.url))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => name.slice(0, -".ts".length))
  .filter((name) => wanted.length === 0 || wanted.some((one) => name.startsWith(`${one}.`)));
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
// Tests that need no server of their own share one, because starting a server is slow.
const shared = await share();

const files = names.map((name) => fileURLToPath(new URL(`${name}.js`, TESTS)));
const counts = { tests: 0, failures: 0, skipped: 0 };

function count(result, failed) {
  const skipped = result.skip !== undefined && result.skip !== false;
  const broken = failed && result.details?.error?.failureType !== "subtestsFailed";
  // A suite or file counts as a test only if it fails before its tests.
  const group = result.details?.type === "suite" || files.includes(result.name);
  counts.tests += !group || skipped || broken ? 1 : 0;
  counts.failures += !group || broken ? Number(failed) : 0;
  counts.skipped += skipped ? 1 : 0;
}

// One file at a time, because they share a server and its lists. Slow tests with their own server
// run in parallel.
const lines = [
  files.filter((_, i) => !APART.includes(names[i])),
  files.filter((_, i) => APART.includes(names[i])),
].filter((line) => line.length > 0);
await Promise.all(
  lines.map((line) => {
    const stream = run({ files: line, concurrency: 1, timeout: TIMEOUT_MS });
    stream.on("test:pass", (result) => count(result, false));
    stream.on("test:fail", (result) => count(result, true));
    stream.compose(spec).pipe(process.stdout);
    return once(stream, "end");
  }),
);
mkdirSync(REPORTS, { recursive: true });
const { tests, failures, skipped } = counts;
const numbers = `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}"`;
const report = `<testsuite name="ui-page" ${numbers}/>\n`;
writeFileSync(new URL("TEST-ui-page.xml", REPORTS), report);
process.exitCode = failures > 0 || tests === 0 ? 1 : 0;
shared.stop();

async function share() {
  const program = process.env.PARLEY_PROGRAM;
  if (program === undefined) {
    return { stop: () => undefined };
  }
  const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  mkdirSync(join(folder, "work"));
  const keys = /^(ANTHROPIC|OPENAI|PARLEY)_/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.test(name)));
  const child = spawn(program, ["serve", "--port", "0", "--data", join(folder, "data")], {
    cwd: join(folder, "work"),
    // The server exits with this process, even if it is killed.
    env: { ...env, PARLEY_PARENT_PID: String(process.pid) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the server ended at once: ${code}`)));
    createInterface(child.stdout).on("line", (line) => {
      const found = /https?:\/\/\S+/.exec(line)?.[0];
      if (found !== undefined) {
        resolve(found);
      }
    });
  });
  process.env.PARLEY_PAGE_URL = url;
  process.env.PARLEY_PAGE_WORK = join(folder, "work");
  return {
    stop: () => {
      child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
      child.kill("SIGTERM");
    },
  };
}
