import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ config: 'limits: {inputTimeout: 15s}\nworkspaces: ["."]\n' });
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");

test("the time to answer is seen to pass, and what nobody answered says so", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "ask me which colour");
  const left = questionCard(page).locator("time.expiry");
  await left.getByText(/^[\d.]+ s left$/).waitFor();
  assert.equal(await left.getAttribute("data-soon"), "true");
  await page.getByRole("textbox", { name: /Answer/ }).fill("bl");
  await questionCard(page).waitFor({ state: "detached" });
  await page.locator(".question[data-status=lapsed]", { hasText: "no longer needed" }).waitFor();
  await waitUntilIdle(page);
  await page.locator(`[data-group="done"] .entry[href="#/c/${contextId}"]`).waitFor();
});
