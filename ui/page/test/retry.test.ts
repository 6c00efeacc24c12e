import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, say, settled, SKIP, stage } from "./page.js";

const it = stage();

test("what failed after it had waited its turn is retried too, and nothing is lost", { skip: SKIP }, async () => {
  const { page } = await it.open();
  const contextId = await begin(page, "count slowly to 100");
  await page.locator(".doing").waitFor();
  await say(page, "fail");
  await page.locator(".queue li", { hasText: "fail" }).waitFor();
  await page.getByText("the model failed, as it was asked to").waitFor();
  await settled(page);
  await page.getByRole("button", { name: "Retry" }).click();
  // Where it stands it cannot be taken back without what was at work then: it is said again.
  await page.waitForFunction(() => document.querySelectorAll(".said.user").length === 3);
  await page.waitForFunction(() => document.querySelectorAll(".ended").length === 3);
  assert.deepEqual(await page.locator(".said.user .bubble").allInnerTexts(), [
    "count slowly to 100",
    "fail",
    "fail",
  ]);
  await page.locator('[data-kind="text"]').getByText("99 100").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  const { items } = await it.server.api.tasks(contextId);
  assert.deepEqual(
    items.filter((task) => task.parentTaskId === undefined).map((task) => task.status),
    ["completed", "failed", "failed"],
  );
});
