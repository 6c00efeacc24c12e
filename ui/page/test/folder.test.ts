import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sendMessage, SKIP, setUp, waitUntilIdle } from "./page.js";

const env = setUp();
const options = { skip: SKIP };

/** A conversation that works in a folder of its own. */
async function start(name: string, content: string) {
  const { api } = env.server;
  const { workingDirectory = "" } = await api.agentTypes();
  const folder = join(workingDirectory, name);
  mkdirSync(folder);
  const message = { content, agentId: "agent-code", workingDirectory: folder };
  const { contextId } = await api.begin(message);
  return { contextId, folder, workingDirectory };
}

const folders = async (contextId: string) =>
  (await env.server.api.tasks(contextId)).items
    .filter((task) => task.parentTaskId === undefined)
    .map((task) => [task.status, task.workingDirectory]);

test("a message whose folder is gone is run in the server's folder instead", options, async () => {
  const { contextId, folder, workingDirectory } = await start("gone-before", "say hello");
  const { page } = await env.open({ at: `#/c/${contextId}` });
  await waitUntilIdle(page);
  rmSync(folder, { recursive: true });
  await sendMessage(page, "say again");
  const failed = page.locator(".outgoing[data-failed]");
  await failed.getByText(`does not exist: ${folder}`).waitFor();
  await failed.getByRole("button", { name: `Run in ${workingDirectory}` }).click();
  await page.locator('[data-kind="text"]').getByText("again").waitFor();
  await waitUntilIdle(page);
  assert.equal(await page.locator(".outgoing").count(), 0);
  assert.deepEqual((await folders(contextId)).sort(), [
    ["completed", workingDirectory],
    ["completed", folder],
  ]);
});

test(
  "a task whose folder is gone when it goes on is run in the server's folder",
  options,
  async () => {
    const { contextId, folder, workingDirectory } = await start("gone-meanwhile", "run pwd");
    const { page } = await env.open({ at: `#/c/${contextId}` });
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    rmSync(folder, { recursive: true });
    await approve.click();
    const failed = page.locator(".outcome");
    await failed.getByText(`does not exist: ${folder}`).waitFor();
    await failed.getByRole("button", { name: `Run in ${workingDirectory}` }).click();
    await approve.click();
    await page.locator('.row[data-kind="text"]').getByText(workingDirectory).waitFor();
    await waitUntilIdle(page);
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.equal(await page.locator(".outcome").count(), 0);
  },
);
