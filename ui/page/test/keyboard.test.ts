import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stopByKeys, settled, SKIP, stage } from "./page.js";

const it = stage();
const options = { skip: SKIP };
const TABS_MAX = 150;

/** What the focus is on, as a screen reader would call it. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement === document.body ? null : document.activeElement;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
    return (element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "").trim();
  });
}

/** Presses Tab until the focus is on what is called so: no mouse, and no script that helps. */
async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let i = 0; i < TABS_MAX; i++) {
    await page.keyboard.press(key);
    const now = await focused(page);
    if (typeof name === "string" ? now === name : name.test(now)) {
      // Whoever presses keys has to see where they are. The box to write in has a frame of its own.
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
  const { page, trouble } = await it.open();
  await page.getByText("Three things to try").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await tabTo(page, /Options/);
  await page.keyboard.press("Enter");
  await tabTo(page, "Message", "Shift+Tab");
  await page.keyboard.type("run echo by hand");
  await page.keyboard.press("Enter");
  // What is asked is edited before it is approved.
  await page.locator(".dock .primary:enabled").waitFor();
  await tabTo(page, "Edit first");
  await page.keyboard.press("Enter");
  await tabTo(page, "Command", "Shift+Tab");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("echo with other words");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.getByText("approved, with changes").waitFor();
  await settled(page);
  // Its own name, at the start: titles in the list may have the word too.
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
  await tabTo(page, "Stop Research and all below");
  await page.keyboard.press("Enter");
  await page.locator('.subagent[data-status="canceled"]', { hasText: "Research" }).waitFor();
  await tabTo(page, "Message");
  await stopByKeys(page);
  await settled(page);
  assert.deepEqual(trouble, []);
});

test("the past, panels, forks and the end of a conversation need no mouse", options, async () => {
  const { page, trouble } = await it.open();
  await page.getByText("Three things to try").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("say alpha");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await settled(page);
  await tabTo(page, "Understanding");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent === "Understanding");
  await tabTo(page, "Event to look at");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.getByText("As it was after event").waitFor();
  await page.keyboard.press("Home");
  await page.getByText("As it was after event 1 of").waitFor();
  await tabTo(page, "What was done");
  await tabTo(page, /^\d+ events?$/);
  await page.keyboard.press("Home");
  const raw = page.getByRole("region", { name: "Raw JSON" });
  await raw.getByText("context-created").first().waitFor();
  await page.keyboard.press("Escape");
  await raw.waitFor({ state: "detached" });
  // Whoever was in the panel is back at what opened it.
  assert.equal(await focused(page), "Understanding");
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
  await tabTo(page, "Go back to before this");
  await page.keyboard.press("Enter");
  await page.locator(".said.user").waitFor({ state: "detached" });
  await tabTo(page, "Branches");
  await page.keyboard.press("Enter");
  await tabTo(page, "Go on from its end");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("alpha").waitFor();
  await tabTo(page, "Delete conversation");
  await page.keyboard.press("Enter");
  await tabTo(page, "Keep");
  await tabTo(page, "Delete");
  await page.keyboard.press("Enter");
  await page.getByText("What should be done?").waitFor();
  assert.deepEqual(trouble, []);
});
