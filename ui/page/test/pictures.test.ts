import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { begin, picture, say, settled, SKIP, stage } from "./page.js";

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

const it = stage({ own: true, files: { "tea-imports.csv": `${CSV}\n` } });
const options = { skip: SKIP };

test("a file of figures becomes a table and a chart, and one sees how that was done", options, async () => {
  const { page, trouble } = await it.open({ viewport: { width: 1280, height: 720 } });
  const contextId = await begin(page, "summarise the CSV files here");
  await settled(page);
  await it.server.api.updateContext(contextId, { title: "Where our tea comes from" });
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
  await picture(page, "artifacts");
  await page.getByRole("button", { name: "Close Artifacts" }).click();
  await say(page, "delegate count slowly to 12 to research, writer and data");
  await page.getByText("3 of 3 done").waitFor();
  await settled(page);
  await page.getByRole("button", { name: "Understanding", exact: true }).click();
  const insight = page.getByRole("complementary", { name: "Understanding" });
  await insight.getByRole("treeitem").filter({ hasText: "Writer" }).hover();
  await insight.locator(".event[data-marked]").first().waitFor();
  await insight.locator(".event[data-marked]").first().hover();
  await insight.getByRole("region", { name: "Raw JSON" }).getByText("agent-writer").first().waitFor();
  await picture(page, "understanding");
  assert.deepEqual(trouble, []);
});

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
    assert.ok(guides.some((text) => text.includes(`images/${name}`)), `${name} is not shown`);
  }
});
