import assert from "node:assert/strict";
import { test } from "node:test";
import { startConversation, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();

test("what failed after it had waited its turn is retried too, and nothing is lost", {
  skip: SKIP,
}, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "count slowly to 4000");
  await page.locator('[data-kind="text"]').getByText("1 2 3").waitFor();
  await sendMessage(page, "fail");
  await page.locator(".queue li", { hasText: "fail" }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await page.getByText("the model failed, as it was asked to").waitFor();
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "Retry" }).last().click();
  // It cannot be rewound without the task that was running then, so it is sent again.
  await page.waitForFunction(() => document.querySelectorAll(".message.user").length === 3);
  await page.waitForFunction(() => document.querySelectorAll(".task-footer").length === 3);
  assert.deepEqual(await page.locator(".message.user .bubble").allInnerTexts(), [
    "count slowly to 4000",
    "fail",
    "fail",
  ]);
  await page.locator('[data-kind="text"]').getByText("1 2 3").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  const { items } = await env.server.api.tasks(contextId);
  assert.deepEqual(
    items.filter((task) => task.parentTaskId === undefined).map((task) => task.status),
    ["canceled", "failed", "failed"],
  );
});
