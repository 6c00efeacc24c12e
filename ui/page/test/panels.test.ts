import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.js";
import type { Page } from "playwright-core";
import { startConversation, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();
const PANELS = ["Artifacts", "Trace", "Branches"];
const open = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe-core finds nothing wrong with panels, ${colorScheme}`, { skip: SKIP }, async () => {
    const { page } = await env.open({ colorScheme });
    const rows = Array.from({ length: 80 }, (_, i) => ({ city: `c${i % 5}`, people: i * i }));
    const contextId = await startConversation(
      page,
      `use dataset ${JSON.stringify({ name: "cities", rows })}`,
    );
    await waitUntilIdle(page);
    const { api } = env.server;
    await api.writeArtifact(contextId, "notes", { text: "# Notes", name: "notes.md" });
    await api.writeArtifact(contextId, "data", { data: { a: [1, "x", null, true] }, name: "data" });
    await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Artifacts" });
    await panel.locator(".artifact-entry").nth(2).waitFor();
    assert.deepEqual(await violations(page), [], "artifacts");
    for (const name of ["cities", "notes.md", "data"]) {
      await panel.getByRole("button", { name }).click();
      if (name === "cities") {
        await panel.getByRole("button", { name: "Chart" }).click();
      }
      assert.deepEqual(await violations(page), [], name);
      await panel.getByRole("button", { name: "All artifacts" }).click();
    }
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    await page.locator(".event[data-kind=task-complete]").last().hover();
    assert.deepEqual(await violations(page), [], "trace");
    await page.getByRole("button", { name: "Previous event" }).click();
    await page.getByText("As of event").waitFor();
    assert.deepEqual(await violations(page), [], "past");
  });
}

test("beside every panel the conversation can be told by its title", { skip: SKIP }, async () => {
  const { page } = await env.open();
  await startConversation(page, "say WWW, what a wide title this conversation has, and more");
  await waitUntilIdle(page);
  for (const width of [1280, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    for (const name of PANELS) {
      await open(page, name);
      await page.getByRole("complementary", { name }).waitFor();
      const fits = await page.locator(".title button").evaluate((title) => {
        const range = document.createRange();
        range.setStart(title.firstChild as Node, 0);
        range.setEnd(title.firstChild as Node, 12);
        return title.getBoundingClientRect().right - range.getBoundingClientRect().right;
      });
      assert.ok(fits >= 0, `${name} at ${width}: ${fits}`);
      const head = page.locator(".conversation-head");
      assert.ok(await head.evaluate((one) => one.scrollWidth <= one.clientWidth), `${width}`);
      await open(page, name);
    }
  }
  await page.getByLabel("Thoughts to show").selectOption("none");
  await page.getByLabel("Thoughts to show").selectOption("normal");
});

/** Elements that overflow the screen or scroll sideways. */
function beyond(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const told = (one: Element): string => `${one.tagName} ${one.className}`;
    const wide = [document.documentElement, document.body]
      .concat([...document.querySelectorAll<HTMLElement>(".main, .thread, .panel, .panel *")])
      .filter((one) => ["auto", "scroll", "visible"].includes(getComputedStyle(one).overflowX))
      .filter((one) => one.closest("pre, .table-box, svg, .sr-only") === null)
      .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1);
    const cut = [...document.querySelectorAll("button, a, input, select, textarea, summary")]
      .filter((one) => one.closest("pre, .table-box, .sr-only, .skip") === null)
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5);
    return [...wide.map(told), ...cut.map(told)];
  });
}

for (const width of [390, 320]) {
  test(`nothing reaches beyond a screen of ${width} pixels`, { skip: SKIP }, async () => {
    const { page } = await env.open({ viewport: { width, height: 740 } });
    await page.getByText("Try one of these").waitFor();
    assert.deepEqual(await beyond(page), [], "first screen");
    await page.locator(".options summary").click();
    assert.deepEqual(await beyond(page), [], "options");
    const rows = Array.from({ length: 30 }, (_, i) => ({ city: `c${i}`, people: i, area: i * i }));
    const contextId = await startConversation(
      page,
      `use dataset ${JSON.stringify({ name: "cities", rows })}`,
    );
    await waitUntilIdle(page);
    const { api } = env.server;
    const name = `${"notes-".repeat(12)}.md`;
    await api.writeArtifact(contextId, "notes", { text: "# Notes\n\ntext", name });
    await sendMessage(page, "delegate count to 3 to research and writer");
    await page.getByText("2 of 2 done").waitFor();
    await waitUntilIdle(page);
    await sendMessage(page, "run echo a rather long command that has a few words more than fit");
    await page.getByRole("button", { name: "Deny…" }).click();
    assert.deepEqual(await beyond(page), [], "approval");
    const send = await page.getByRole("button", { name: "Send" }).boundingBox();
    assert.ok((send?.x ?? 0) + (send?.width ?? 0) > width - 40, "under the thumb");
    await page.getByRole("textbox", { name: "Reason" }).press("Enter");
    await waitUntilIdle(page);
    await page.getByRole("button", { name: "Rewind to here" }).last().click();
    await page.locator(".thread").getByText("run echo").waitFor({ state: "detached" });
    assert.deepEqual(await beyond(page), [], "conversation");
    for (const panel of PANELS) {
      await open(page, panel);
      const aside = page.getByRole("complementary", { name: panel });
      await aside.locator(".event[data-seq], .artifact-entry, .branch").first().waitFor();
      assert.deepEqual(await beyond(page), [], panel);
      for (const entry of panel === "Artifacts" ? ["cities", name] : []) {
        await aside.getByRole("button", { name: entry }).click();
        await aside.getByRole("button", { name: "Download" }).waitFor();
        assert.deepEqual(await beyond(page), [], entry);
        await aside.getByRole("button", { name: "All artifacts" }).click();
      }
      if (panel === "Trace") {
        await aside.locator(".event[data-seq]").last().click();
        await aside.getByRole("button", { name: "Previous event" }).click();
        await page.getByText("As of event").waitFor({ state: "attached" });
        assert.deepEqual(await beyond(page), [], "past");
        const past = page.locator(".connection-text", { hasText: "Past" });
        assert.ok(await past.evaluate((one) => one.scrollWidth <= one.clientWidth), "says Past");
        await aside.getByRole("button", { name: "Next event" }).click();
      }
      await aside.getByRole("button", { name: `Close ${panel}` }).click();
      await aside.waitFor({ state: "detached" });
    }
  });
}

test("a panel stays open over a reload, of the past too, and closes with its conversation", {
  skip: SKIP,
}, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  const aside = page.getByRole("complementary", { name: "Trace" });
  await open(page, "Trace");
  await aside.getByRole("button", { name: "Previous event" }).click();
  await page.waitForURL(/\/at\/\d+$/);
  await page.reload();
  await page.getByText("As of event").waitFor();
  await aside.waitFor();
  assert.ok(await page.evaluate(() => document.activeElement?.closest(".panel") === null));
  await page.goto(`${env.server.url}/#/`);
  await page.getByText("Try one of these").waitFor();
  await page.goto(`${env.server.url}/#/c/${contextId}`);
  await waitUntilIdle(page);
  assert.equal(await aside.count(), 0);
  await open(page, "Trace");
  await open(page, "Trace");
  await page.reload();
  await waitUntilIdle(page);
  assert.equal(await aside.count(), 0, "closed stays closed");
});

test("Back closes a panel that covers the conversation, and leaves one beside it alone", {
  skip: SKIP,
}, async () => {
  const { page } = await env.open({ viewport: { width: 390, height: 844 } });
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  const { api } = env.server;
  await api.writeArtifact(contextId, "one", { text: "# One", name: "one.md" });
  await api.writeArtifact(contextId, "two", { text: "# Two", name: "two.md" });
  const aside = page.getByRole("complementary");
  await open(page, "Artifacts");
  await aside.getByRole("button", { name: "two.md" }).click();
  await aside.getByRole("heading", { name: "Two", exact: true }).waitFor();
  await page.reload();
  await aside.getByRole("heading", { name: "Two", exact: true }).waitFor();
  await page.goBack();
  await aside.waitFor({ state: "detached" });
  assert.ok(page.url().endsWith(`#/c/${contextId}`));
  await page.goForward();
  await aside.getByRole("heading", { name: "Artifacts" }).waitFor();
  await aside.getByRole("button", { name: "Close Artifacts" }).click();
  await aside.waitFor({ state: "detached" });
  await open(page, "Artifacts");
  // When reopened, it starts with the list.
  await aside.getByRole("button", { name: "one.md" }).waitFor();
  await page.goBack();
  await aside.waitFor({ state: "detached" });
  // A panel opened right after another was closed stays open, and Back closes it.
  await open(page, "Artifacts");
  await page.evaluate(() => {
    document.querySelector<HTMLElement>('[aria-label="Close Artifacts"]')?.click();
    document.querySelector<HTMLElement>('.conversation-head [aria-label="Branches"]')?.click();
  });
  await aside.getByRole("heading", { name: "Branches" }).waitFor();
  await page.waitForFunction(() => history.state?.panel === "branches");
  await page.goBack();
  await aside.waitFor({ state: "detached" });
  // A choice made in a panel stays after it is closed, in any way.
  for (const close of [
    () => page.goBack(),
    () => aside.getByRole("button", { name: "Close Trace" }).click(),
  ]) {
    await open(page, "Trace");
    await aside.getByRole("button", { name: "Previous event" }).click();
    await page.waitForURL(/\/at\/\d+$/);
    await close();
    await aside.waitFor({ state: "detached" });
    await page.getByText("As of event").waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByText("As of event").waitFor({ state: "detached" });
  }
  await page.goBack();
  await page.getByText("Try one of these").waitFor();

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${env.server.url}/#/c/${contextId}`);
  await open(page, "Artifacts");
  await aside.getByRole("button", { name: "one.md" }).waitFor();
  await page.evaluate((hash) => (location.hash = hash), `#/c/${contextId}/e/2`);
  await page.locator("[data-marked]").first().waitFor();
  await aside.waitFor();
  await page.reload();
  await aside.waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByText("Try one of these").waitFor();
});
