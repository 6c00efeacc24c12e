import assert from "node:assert/strict";
import { test } from "node:test";
import { heldCommand, startConversation, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();

test("what failed after it had waited its turn is retried too, and nothing is lost", {
  skip: SKIP,
}, async (t) => {
  const { page } = await env.open();
  const held = heldCommand(t);
  const work = `run echo first; ${held.command}`;
  const contextId = await startConversation(page, work);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".progress", { hasText: "first" }).waitFor();
  await sendMessage(page, "fail");
  await page.locator(".queue li", { hasText: "fail" }).waitFor();
  held.end();
  await page.getByText("the model failed, as it was asked to").waitFor();
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "Retry" }).click();
  // It cannot be rewound without the task that was running then, so it is sent again.
  await page.waitForFunction(() => document.querySelectorAll(".message.user").length === 3);
  await page.waitForFunction(() => document.querySelectorAll(".task-footer").length === 3);
  assert.deepEqual(await page.locator(".message.user .bubble").allInnerTexts(), [
    work,
    "fail",
    "fail",
  ]);
  await page.locator('[data-kind="text"]').getByText("first").first().waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  const { items } = await env.server.api.tasks(contextId);
  assert.deepEqual(
    items.filter((task) => task.parentTaskId === undefined).map((task) => task.status),
    ["completed", "failed", "failed"],
  );
});
