// Runs the compiled tests. To run only some, pass their names: npm test -- stream rows
// To leave some out: npm test -- --without server
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runTestFiles } from "./test-files.mjs";

const SOURCES = new URL("../test/", import.meta.url);
const TESTS = new URL("../target/test/", import.meta.url);
const REPORTS = new URL("../target/reports/", import.meta.url);
const WORKERS = 2;

const names = process.argv.slice(2);
const without = names[0] === "--without";
const named = (file) => names.some((name) => file.startsWith(`${name}.`));
// From the sources, so that outdated compiled tests do not run.
const files = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => names.length === 0 || named(name) !== without)
  .map((name) => fileURLToPath(new URL(name.replace(/ts$/, "js"), TESTS)));
const passed = await runTestFiles({
  name: ["ui-client", ...(without ? [] : names)].join("-"),
  files,
  workers: Array.from({ length: WORKERS }, () => ({})),
  reports: REPORTS,
});
process.exitCode = passed ? 0 : 1;
