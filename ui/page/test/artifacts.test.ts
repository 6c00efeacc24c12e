import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  downloadedText,
  startConversation,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
} from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const panel = (page: Page) => page.getByRole("complementary", { name: "Artifacts" });
const versions = (page: Page) =>
  panel(page).getByRole("combobox", { name: "Version", exact: true });
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
const PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
    "3 0 obj<</Type/Page/MediaBox[0 0 300 200]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n",
).toString("base64");

async function openPanel(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Artifacts", exact: true }).click();
  await panel(page).waitFor();
}

async function choose(page: Page, name: string): Promise<void> {
  const back = panel(page).getByRole("button", { name: "All artifacts" });
  if (await back.isVisible()) {
    await back.click();
  }
  await panel(page).locator(".artifact-entry", { hasText: name }).click();
  await panel(page).getByRole("article", { name }).waitFor();
}

async function saved(page: Page, name: string): Promise<{ name: string; text: string }> {
  const waiting = page.waitForEvent("download");
  await panel(page).getByRole("button", { name, exact: true }).click();
  const download = await waiting;
  const text = await downloadedText(download);
  return { name: download.suggestedFilename(), text };
}

test(
  "files are shown as what they are: Markdown, code, images, PDF; and saved",
  options,
  async () => {
    const { page, errors } = await env.open();
    const contextId = await startConversation(page, "say hello");
    await waitUntilIdle(page);
    await openPanel(page);
    await panel(page).getByText("No artifacts yet").waitFor();
    const put = (id: string, content: Parameters<typeof env.server.api.writeArtifact>[2]) =>
      env.server.api.writeArtifact(contextId, id, content);
    await put("notes", { text: "# Notes\n\n- one\n- **two**", name: "notes.md" });
    // A single artifact is shown immediately.
    await panel(page).locator(".markdown .h1", { hasText: "Notes" }).waitFor();
    await put("code", { text: "const a: number = 1;", name: "code.ts" });
    await put("dot", { data: PIXEL, name: "dot.png", mimeType: "image/png" });
    await put("paper", { data: PDF, name: "paper.pdf", mimeType: "application/pdf" });
    await put("html", { text: "<h1>hi</h1>", name: "page.html", mimeType: "text/html" });
    await put("blob", { data: "AAEC", name: "blob.bin", mimeType: "application/octet-stream" });
    await choose(page, "notes.md");
    await panel(page).getByRole("button", { name: "Source" }).click();
    await panel(page).locator("pre", { hasText: "**two**" }).waitFor();
    assert.deepEqual(await saved(page, "Download"), {
      name: "notes.md",
      text: "# Notes\n\n- one\n- **two**",
    });
    await choose(page, "code.ts");
    await panel(page).locator("pre .hljs-keyword").waitFor();
    await choose(page, "dot.png");
    const image = panel(page).getByRole("img", { name: "dot.png" });
    await image.waitFor();
    await page.waitForFunction(
      (one) => (one as HTMLImageElement).naturalWidth === 10,
      await image.elementHandle(),
    );
    await choose(page, "paper.pdf");
    // The page's policy allows the browser's PDF viewer, which uses its own frame.
    const viewer = page.waitForEvent("framenavigated", (one) =>
      one.url().startsWith("chrome-extension://"),
    );
    await panel(page).getByRole("button", { name: "Open in the browser’s PDF viewer" }).click();
    const frame = panel(page).locator("iframe");
    assert.match((await frame.getAttribute("src")) ?? "", /^blob:/);
    await viewer;
    await choose(page, "page.html");
    await panel(page).locator("pre", { hasText: "<h1>hi</h1>" }).waitFor();
    await choose(page, "blob.bin");
    await panel(page).getByText("cannot be displayed").waitFor();
    assert.deepEqual(errors, []);
  },
);

test("data is a tree, whose versions can be compared", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  const put = (expectedVersion: number, data: object) =>
    env.server.api.writeArtifact(contextId, "plan", {
      data: data as { [name: string]: string },
      name: "plan",
      expectedVersion,
    });
  await put(0, { title: "Tea", steps: ["boil", "pour"], deep: { a: { b: { c: "far" } } } });
  const steps = ["boil", "grind", "pour"];
  await put(1, { title: "Coffee", steps, deep: { a: { b: { c: "far" } } } });
  await openPanel(page);
  const tree = panel(page).locator(".json");
  await tree.getByText('"Coffee"').waitFor();
  assert.equal(await tree.getByText('"far"').count(), 0);
  await tree.getByRole("button", { name: "a: {1 field}" }).click();
  await tree.getByRole("button", { name: "b: {1 field}" }).click();
  await tree.getByText('"far"').waitFor();
  await panel(page).getByLabel("Compare with").selectOption("1");
  await panel(page).getByText("3 differences").first().waitFor();
  await tree.locator("[data-change=changed]", { hasText: '"Tea"' }).waitFor();
  await tree.locator("[data-change=added]", { hasText: '"pour"' }).waitFor();
  await panel(page).getByLabel("Compare with").selectOption("");
  await versions(page).selectOption("1");
  await tree.getByText('"Tea"').waitFor();
});

test(
  "a dataset is a table that grows: sorted, filtered, drawn, and saved as CSV",
  options,
  async () => {
    const { page, errors } = await env.open();
    const rows = Array.from({ length: 900 }, (_, i) => ({
      fruit: ["apple", "fig", "pear"][i % 3],
      price: ((i * 7) % 100) + (i % 3 === 0 ? 0.5 : 0),
      note: i === 5 ? '=HYPERLINK("http://x")' : `n${i}`,
    }));
    await startConversation(page, `use dataset ${JSON.stringify({ name: "fruit", rows })}`);
    await openPanel(page);
    await panel(page).getByText("900 rows").waitFor();
    const cells = (n: number) =>
      panel(page)
        .locator(`.table-box tbody tr:not(.gap) td:nth-child(${n})`)
        .evaluateAll((all) => all.map((one) => one.textContent ?? ""));
    assert.ok((await cells(1)).length < 60, "only rows in sight are in the page");
    const first = panel(page).locator(".table-box tbody tr:not(.gap) td:nth-child(2)").first();
    await panel(page).getByRole("button", { name: "price" }).click();
    await first.getByText("0", { exact: true }).waitFor();
    await panel(page).getByRole("button", { name: "price" }).click();
    await first.getByText("99.5", { exact: true }).waitFor();
    await panel(page).locator("th[aria-sort=descending]").waitFor();
    const box = panel(page).getByRole("region", { name: "Rows" });
    await box.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await panel(page).locator("tr[aria-rowindex='901']").waitFor();
    assert.equal((await cells(2)).at(-1), "0");
    const filter = panel(page).getByRole("searchbox", { name: "Filter rows" });
    await filter.fill(">=98");
    await panel(page).getByLabel("Filter in column").selectOption("price");
    await panel(page).getByText("18 rows of 900").waitFor();
    await filter.fill("");
    await panel(page).getByRole("button", { name: "Chart" }).click();
    const chart = panel(page).getByRole("figure", { name: "Chart of price by fruit" });
    await chart.waitFor();
    assert.equal(await chart.locator(".bars li").count(), 3);
    await chart.getByRole("button", { name: "Line" }).click();
    await chart.locator("polyline").waitFor();
    const csv = await saved(page, "CSV");
    assert.equal(csv.name, "fruit.csv");
    const lines = csv.text.trim().split("\r\n");
    assert.equal(lines.length, 901);
    assert.equal(lines[0], "fruit,price,note");
    assert.ok(csv.text.startsWith("\ufeff"));
    assert.ok(csv.text.includes(`"'=HYPERLINK(""http://x"")"`));
    assert.deepEqual(errors, []);
  },
);

test("a new version takes the place of the one before, once it is begun", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "write a report on tea");
  await waitUntilIdle(page);
  await openPanel(page);
  const article = panel(page).getByRole("article");
  await article.locator(".markdown .h1").waitFor();
  await sendMessage(page, "write a report on tea");
  await versions(page).waitFor();
  assert.equal(await versions(page).inputValue(), "2");
  await waitUntilIdle(page);
  assert.equal(await article.getAttribute("aria-busy"), "false");
});

test(
  "what an agent writes is announced where it was made, and opens when pressed",
  options,
  async () => {
    const { page, errors } = await env.open();
    await startConversation(page, "write a report on tea");
    await waitUntilIdle(page);
    const made = page.locator('.thread-rows > [data-kind="artifact"]').getByRole("button");
    assert.match(await made.innerText(), /\.md\s+text\/markdown\s+[\d.]+ K?B$/);
    const order = await page
      .locator(".thread-rows > .row")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-kind")));
    assert.deepEqual(order, ["message", "thought", "call", "artifact", "text", "end"]);
    await sendMessage(page, "write a report on tea");
    await made.nth(1).getByText("version 2").waitFor();
    await waitUntilIdle(page);
    // By keyboard, in the clicked version, and back.
    await made.first().focus();
    await page.keyboard.press("Enter");
    const article = panel(page).getByRole("article");
    await article.locator(".markdown .h1").waitFor();
    assert.equal(await versions(page).inputValue(), "1");
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
    assert.ok(await made.first().evaluate((one) => one === document.activeElement));
    // From among others, with the panel open.
    const contextId = decodeURIComponent(page.url().split("/c/")[1] ?? "");
    await env.server.api.writeArtifact(contextId, "notes", { text: "# Notes", name: "notes.md" });
    await openPanel(page);
    await choose(page, "notes.md");
    assert.equal(await made.count(), 2, "what a person puts there is no step of an agent's");
    await made.nth(1).click();
    await versions(page).waitFor();
    assert.equal(await versions(page).inputValue(), "2");
    assert.deepEqual(errors, []);
  },
);

test("what a sub-agent writes stands in its thread", options, async () => {
  const { page } = await env.open();
  await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
  await startConversation(page, "delegate write a report on tea to writer");
  await waitUntilIdle(page);
  await page.locator(".subagent-open").click();
  await page.locator('.subagent-thread > [data-kind="artifact"]').getByRole("button").click();
  await panel(page).getByRole("article").locator(".markdown .h1").waitFor();
});
