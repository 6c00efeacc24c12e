import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Rules whose result depends on colours. */
export const COLOUR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

/**
 * The violations that axe-core finds, of all rules or of these. The debugger injects it, which no
 * policy blocks.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  const options = JSON.stringify({
    resultTypes: ["violations"],
    ...(rules === undefined ? {} : { runOnly: { type: "rule", values: rules } }),
  });
  await client.send("Runtime.evaluate", { expression: `globalThis.axe ?? (() => {${AXE}})()` });
  const { result } = await client.send("Runtime.evaluate", {
    expression: `axe.run(document, ${options}).then((found) => JSON.stringify(found.violations))`,
    awaitPromise: true,
  });
  await client.detach();
  const found = JSON.parse(String(result.value)) as Violation[];
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}
