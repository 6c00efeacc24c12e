// Runs the compiled tests, and writes their counts to target/reports for ./check.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const SOURCES = new URL("../test/", import.meta.url);
const TESTS = new URL("../target/test/", import.meta.url);
const REPORTS = new URL("../target/reports/", import.meta.url);
const TIMEOUT_MS = 300_000;

// From the sources, so that outdated compiled tests do not run.
const files = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => name.replace(/ts$/, "js"))
  .map((name) => fileURLToPath(new URL(name, TESTS)));

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

const stream = run({ files, concurrency: 2, timeout: TIMEOUT_MS });
stream.on("test:pass", (result) => count(result, false));
stream.on("test:fail", (result) => count(result, true));
stream.on("end", () => {
  mkdirSync(REPORTS, { recursive: true });
  const { tests, failures, skipped } = counts;
  const numbers = `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}"`;
  const report = `<testsuite name="ui-client" ${numbers}/>\n`;
  writeFileSync(new URL("TEST-ui-client.xml", REPORTS), report);
  process.exitCode = failures > 0 || tests === 0 ? 1 : 0;
});
stream.compose(spec).pipe(process.stdout);
