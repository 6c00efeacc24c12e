import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The violations that axe-core finds. The debugger injects it, which no policy blocks. */
export async function violations(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: AXE });
  const { result } = await client.send("Runtime.evaluate", {
    expression: "axe.run(document).then((found) => JSON.stringify(found.violations))",
    awaitPromise: true,
  });
  const found = JSON.parse(String(result.value)) as Violation[];
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}
