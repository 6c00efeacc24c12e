import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { begin, settled, SKIP, stage } from "./page.js";

const it = stage({ config: "limits: {inputTimeout: 15s}\nworkspaces: [\".\"]\n" });
const options = { skip: SKIP };
const dock = (page: Page) => page.locator(".dock");

test("the time to answer is seen to pass, and what nobody answered says so", options, async () => {
  const { page } = await it.open();
  const contextId = await begin(page, "ask me which colour");
  const left = dock(page).locator("time.expiry");
  await left.getByText(/^[\d.]+ s left$/).waitFor();
  assert.equal(await left.getAttribute("data-soon"), "true");
  await page.getByRole("textbox", { name: /Answer/ }).fill("bl");
  await dock(page).waitFor({ state: "detached" });
  await page.locator(".asked[data-status=lapsed]", { hasText: "no longer asked" }).waitFor();
  await settled(page);
  await page.locator(`[data-group="done"] .entry[href="#/c/${contextId}"]`).waitFor();
});
