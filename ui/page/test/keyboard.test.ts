import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stopByKeys, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const TABS_MAX = 150;

/** The accessible name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement === document.body ? null : document.activeElement;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
    return (element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "").trim();
  });
}

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let i = 0; i < TABS_MAX; i++) {
    await page.keyboard.press(key);
    const now = await focused(page);
    if (typeof name === "string" ? now === name : name.test(now)) {
      // The focus must be visible. The composer has its own frame.
      const shown = await page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        const framed = element.matches(".composer > textarea");
        return framed || getComputedStyle(element).outlineStyle !== "none";
      });
      assert.ok(shown, `the focus on ${now} is not seen`);
      return;
    }
    seen.push(now.slice(0, 30));
  }
  assert.fail(`${name} was not reached: ${[...new Set(seen)].join(", ")}`);
}

test("a whole visit needs no mouse", options, async () => {
  const { page, errors } = await env.open();
  await page.getByText("Try one of these").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await tabTo(page, /Options/);
  await page.keyboard.press("Enter");
  await tabTo(page, "Message", "Shift+Tab");
  await page.keyboard.type("run echo by hand");
  await page.keyboard.press("Enter");
  // Arguments are edited before approval.
  await page.locator(".question-card .primary:enabled").waitFor();
  await tabTo(page, "Edit");
  await page.keyboard.press("Enter");
  await tabTo(page, "Command", "Shift+Tab");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("echo with other words");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.getByText("approved, with changes").waitFor();
  await waitUntilIdle(page);
  // Its own name at the start, because other titles may contain the word.
  await tabTo(page, /^shell/);
  await page.keyboard.press("Enter");
  await page.locator(".call-body").getByText("with other words").last().waitFor();
  // Sub-agents, opened and stopped.
  await tabTo(page, "Message");
  await page.keyboard.type("delegate count slowly to 4000 to research and writer");
  await page.keyboard.press("Enter");
  await page.getByText("0 of 2 done").waitFor();
  await tabTo(page, /^Research/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.locator(".subagent-thread", { hasText: "1 2 3" }).waitFor();
  await tabTo(page, "Stop Research and its sub-agents");
  await page.keyboard.press("Enter");
  await page.locator('.subagent[data-status="canceled"]', { hasText: "Research" }).waitFor();
  await tabTo(page, "Message");
  await stopByKeys(page);
  await waitUntilIdle(page);
  assert.deepEqual(errors, []);
});

test("the past, panels, forks and the end of a conversation need no mouse", options, async () => {
  const { page, errors } = await env.open();
  await page.getByText("Try one of these").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("say alpha");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await waitUntilIdle(page);
  await tabTo(page, "Trace");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent === "Trace");
  await tabTo(page, "Event to show");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.getByText("As of event").waitFor();
  await page.keyboard.press("Home");
  await page.getByText("As of event 1 of").waitFor();
  await tabTo(page, "Tasks");
  await tabTo(page, /^\d+ events?$/);
  await page.keyboard.press("Home");
  const raw = page.getByRole("region", { name: "Raw JSON" });
  await raw.getByText("context-created").first().waitFor();
  await page.keyboard.press("Escape");
  await raw.waitFor({ state: "detached" });
  // The focus returns to the button that opened the panel.
  assert.equal(await focused(page), "Trace");
  await tabTo(page, "Back to now");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  const before = page.url();
  await tabTo(page, "Fork from here");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== before && url.hash.startsWith("#/c/"));
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await tabTo(page, "Branches");
  await page.keyboard.press("Enter");
  await tabTo(page, "say alpha");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href.startsWith(before.replace(/\/at.*/, "")));
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await tabTo(page, "Rewind to here");
  await page.keyboard.press("Enter");
  await page.locator(".message.user").waitFor({ state: "detached" });
  await tabTo(page, "Branches");
  await page.keyboard.press("Enter");
  await tabTo(page, "Restore");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await tabTo(page, "Delete conversation");
  await page.keyboard.press("Enter");
  await tabTo(page, "Cancel");
  await tabTo(page, "Delete");
  await page.keyboard.press("Enter");
  await page.getByText("What would you like done?").waitFor();
  assert.deepEqual(errors, []);
});
