import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startConversation, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ own: true });
const options = { skip: SKIP };

/** Touch targets that are too small; links in text and lines of long lists are exempt. */
function small(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pressed = "button, a[href], summary, select, textarea, input, .segments label";
    const lines =
      ".markdown, .sr-only, .skip, .checkbox, .waterfall, .log, .json, .table-box tbody";
    return [...document.querySelectorAll<HTMLElement>(pressed)]
      .filter((one) => one.closest(lines) === null && one.checkVisibility())
      .map((one) => ({ one, box: one.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.width < 39.5 || box.height < 39.5))
      .map(({ one, box }) => {
        const name = `${one.tagName} ${one.className} ${one.getAttribute("aria-label") ?? ""}`;
        return `${name} ${one.textContent?.slice(0, 20)} ${box.width} x ${box.height}`;
      });
  });
}

async function check(page: Page, screen: string): Promise<void> {
  assert.deepEqual(await small(page), [], screen);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `${screen}: ${beyond}`);
  const head = page.locator(".conversation-head");
  if (await head.isVisible()) {
    assert.ok(await head.evaluate((one) => one.scrollWidth <= one.clientWidth), screen);
  }
}

for (const [what, size] of [
  ["a small phone", { viewport: { width: 320, height: 740 }, isMobile: true, hasTouch: true }],
  ["a phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ["a tablet", { viewport: { width: 1024, height: 768 }, isMobile: true, hasTouch: true }],
  ["a narrow window", { viewport: { width: 390, height: 844 } }],
] as const) {
  test(`everything that is pressed has room for a finger, on ${what}`, options, async () => {
    const { page } = await env.open(size);
    await page.getByText("Try one of these").waitFor();
    await check(page, "the first screen");
    await page.locator(".options summary").click();
    await check(page, "options");
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await startConversation(page, "delegate write a report on tea to research and writer");
    await waitUntilIdle(page);
    await page.locator(".subagent-open").first().click();
    await page.locator('.subagent-thread [data-kind="artifact"]').waitFor();
    await check(page, "sub-agents");
    await sendMessage(page, "run echo hello");
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await check(page, "an approval");
    for (const name of ["Artifacts", "Trace", "Branches"]) {
      await page.getByRole("button", { name, exact: true }).click();
      const aside = page.getByRole("complementary", { name });
      await aside.waitFor();
      await check(page, name);
      if (name === "Trace") {
        await aside.getByRole("button", { name: "Previous event" }).click();
        await page.getByText("As of event").waitFor({ state: "attached" });
        await check(page, "the past");
        await aside.getByRole("button", { name: "Next event" }).click();
      }
      await aside.getByRole("button", { name: `Close ${name}` }).click();
    }
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await waitUntilIdle(page);
  });
}

test("on a phone, what needs you comes before what one could try", options, async () => {
  const { api } = env.server;
  const { contextId } = await api.createContext({});
  await api.send(contextId, { content: "ask me which colour" });
  const { page } = await env.open({ viewport: { width: 390, height: 844 } });
  const needs = page.locator('[data-group="needs"]');
  await needs.getByText("ask me which colour").waitFor();
  assert.equal(await needs.count(), 1);
  const below = (await page.getByText("Try one of these").boundingBox())?.y ?? 0;
  assert.ok(((await needs.boundingBox())?.y ?? Infinity) < below);
  await page.getByRole("searchbox").fill("colour");
  await page.locator('.sidebar [data-group="needs"]').getByText("ask me which colour").waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator('.welcome [data-group="needs"]').waitFor({ state: "detached" });
  await page.locator('.sidebar [data-group="needs"]').waitFor();
  assert.equal(await needs.count(), 1);
});
