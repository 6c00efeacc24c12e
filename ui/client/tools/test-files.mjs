// Runs test files in parallel, and writes their results to a report that ./check reads.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const REPORTER = fileURLToPath(new URL("test-reporter.mjs", import.meta.url));
/** Ends a file that hangs. The tests themselves have shorter limits for what they wait for. */
const TIMEOUT_MS = 900_000;

/**
 * Runs each file in a process. Each element of `workers` is the environment of a worker, which runs
 * one file at a time. Returns whether all tests passed.
 */
export async function runTestFiles({ name, files, workers, reports }) {
  const folder = mkdtempSync(join(tmpdir(), "parley-tests-"));
  const queue = [...files];
  const results = [];
  const work = async (env) => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      results.push(...(await runTestFile(file, env, folder)));
    }
  };
  await Promise.all(workers.map(work));
  rmSync(folder, { recursive: true, force: true });
  writeReport(name, results, reports);
  const failed = results.filter((result) => result.failed);
  console.log(`${name}: ${results.length} tests, ${failed.length} failed`);
  for (const { file, test } of failed) {
    console.log(`  failed: ${file}: ${test}`);
  }
  return results.length > 0 && failed.length === 0;
}

async function runTestFile(path, env, folder) {
  const file = basename(path, ".test.js");
  const output = join(folder, `${file}.jsonl`);
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      `--test-reporter=${REPORTER}`,
      `--test-reporter-destination=${output}`,
      path,
    ],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const printed = [];
  child.stdout.on("data", (bytes) => printed.push(bytes));
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  process.stdout.write(`${file}\n${Buffer.concat(printed).toString("utf8")}`);
  const lines = readFileSync(output, { encoding: "utf8", flag: "a+" });
  const results = lines.split("\n").filter((line) => line !== "");
  const tests = results.map((line) => ({ file, ...JSON.parse(line) }));
  if (code !== 0 && !tests.some((test) => test.failed)) {
    // The process was killed, or the file failed before its tests.
    const seconds = (performance.now() - started) / 1_000;
    tests.push({ file, test: "ends without an error", seconds, failed: true, skipped: false });
  }
  return tests;
}

function writeReport(name, results, reports) {
  const count = (key) => results.filter((result) => result[key]).length;
  const lines = results.map(
    ({ file, test, seconds }) =>
      `<testcase classname="${name} ${xml(file)}" name="${xml(test)}" time="${seconds.toFixed(3)}"/>`,
  );
  const numbers = `tests="${results.length}" failures="${count("failed")}" errors="0"`;
  const head = `<testsuite name="${name}" ${numbers} skipped="${count("skipped")}">`;
  mkdirSync(reports, { recursive: true });
  const report = `${[head, ...lines, "</testsuite>"].join("\n")}\n`;
  writeFileSync(new URL(`TEST-${name}.xml`, reports), report);
}

function xml(text) {
  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => escapes[character]).replace(/\s+/g, " ");
}
