import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { startConversation, screenshot, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";

const TONNES: Readonly<Record<string, readonly number[]>> = {
  Kenya: [412, 388, 431, 467, 452, 440],
  India: [355, 362, 349, 371, 390, 402],
  "Sri Lanka": [298, 305, 311, 287, 276, 301],
  China: [184, 192, 176, 201, 214, 208],
  Malawi: [96, 88, 103, 110, 97, 92],
  Japan: [31, 28, 35, 42, 39, 36],
};
const MONTHS = ["January", "February", "March", "April", "May", "June"];
const CSV = [
  "country,month,tonnes,price_per_kg",
  ...MONTHS.flatMap((month, m) =>
    Object.entries(TONNES).map(([country, tonnes], i) => {
      const price = (2.1 + i * 0.45 + m * 0.04).toFixed(2);
      return `${country},${month},${tonnes[m]},${price}`;
    }),
  ),
].join("\n");

const DOCS = new URL("../../../../docs/", import.meta.url);
const BYTES_MAX = 150_000;

const env = setUp({ own: true, files: { "tea-imports.csv": `${CSV}\n` } });
const options = { skip: SKIP };

test(
  "a file of figures becomes a table and a chart, and one sees how that was done",
  options,
  async () => {
    const { page, errors } = await env.open({ viewport: { width: 1280, height: 720 } });
    const contextId = await startConversation(page, "summarise the CSV files here");
    await waitUntilIdle(page);
    await env.server.api.updateContext(contextId, { title: "Where our tea comes from" });
    await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    const artifacts = page.getByRole("complementary", { name: "Artifacts" });
    await artifacts.locator(".artifact-entry", { hasText: "csv-rows" }).click();
    await artifacts.getByText("36 rows").waitFor();
    await artifacts.getByRole("button", { name: "Chart" }).click();
    const chart = artifacts.getByRole("figure");
    await chart.getByLabel("Values").selectOption("tonnes");
    await chart.getByLabel("Labels").selectOption("country");
    const bars = await chart.locator(".bars li").allInnerTexts();
    const sum = (TONNES["Kenya"] ?? []).reduce((all, one) => all + one, 0);
    assert.ok(
      bars.some((bar) => bar.includes("Kenya") && bar.includes(sum.toLocaleString("en"))),
      bars.join("; "),
    );
    await artifacts.getByRole("button", { name: "tonnes" }).dblclick();
    await screenshot(page, "artifacts");
    await page.getByRole("button", { name: "Close Artifacts" }).click();
    await sendMessage(page, "delegate count slowly to 12 to research, writer and data");
    await page.getByText("3 of 3 done").waitFor();
    await waitUntilIdle(page);
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const trace = page.getByRole("complementary", { name: "Trace" });
    await trace.getByRole("treeitem").filter({ hasText: "Writer" }).hover();
    await trace.locator(".event[data-marked]").first().waitFor();
    await trace.locator(".event[data-marked]").first().hover();
    await trace
      .getByRole("region", { name: "Raw JSON" })
      .getByText("agent-writer")
      .first()
      .waitFor();
    await screenshot(page, "understanding");
    assert.deepEqual(errors, []);
  },
);

test("each picture is small, and shown in a guide", () => {
  const guides = [
    new URL("../README.md", DOCS),
    ...readdirSync(DOCS)
      .filter((name) => name.endsWith(".md"))
      .map((name) => new URL(name, DOCS)),
  ].map((file) => readFileSync(file, "utf8"));
  const pictures = readdirSync(new URL("images/", DOCS));
  assert.ok(pictures.length > 10);
  for (const name of pictures) {
    const { size } = statSync(new URL(`images/${name}`, DOCS));
    assert.ok(size <= BYTES_MAX, `${name} has ${size} bytes`);
    assert.ok(
      guides.some((text) => text.includes(`images/${name}`)),
      `${name} is not shown`,
    );
  }
});
