import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Json } from "@parley/client";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { SKIP, screenshot, sendMessage, setUp, startConversation, waitUntilIdle } from "./page.js";
import { Replay } from "./replay.js";

const env = setUp({
  files: {
    "reading.csv": "name,amount\nAda,3\nBob,5\n",
    "reading.ts": "const a = 1;\n\nexport const b = '<img src=x onerror=alert(1)>';\n",
  },
});
const options = { skip: SKIP };
const replays: Replay[] = [];
after(() => {
  for (const replay of replays) {
    replay.stop();
  }
});
const call = (page: Page) => page.locator('.thread-rows > [data-kind="call"]').last();

test(
  "an agent has its name above what it says, and ended steps are one line",
  options,
  async () => {
    const { page, errors } = await env.open();
    const contextId = await startConversation(page, "summarise the CSV files here");
    await waitUntilIdle(page);
    const author = page.locator(".author");
    assert.deepEqual(await author.locator("strong").allInnerTexts(), ["Research"]);
    const fold = page.locator(".fold");
    assert.match(
      await fold.locator("summary").first().innerText(),
      /steps[\s\S]*read_file[\s\S]*s$/,
    );
    assert.equal(await fold.locator(".call").first().isVisible(), false);
    await screenshot(page, "folded-steps");
    // A link to a step opens the line.
    const { events } = await env.server.api.events(contextId, {
      filter: { kinds: ["tool-start"] },
    });
    await page.goto(`${env.server.url}/#/c/${contextId}/e/${events[0]?.seq}`);
    await fold.locator("[data-marked] .call").waitFor();
    await fold.locator("summary").first().click();
    await page.waitForFunction(() => document.querySelector(".fold[open]") === null);
    // The next task has an author of its own.
    await sendMessage(page, "say done");
    await author.nth(1).waitFor();
    await waitUntilIdle(page);
    assert.equal(await author.count(), 2);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(errors, []);
  },
);

test("a result is a terminal, a file or a table, and never markup", options, async () => {
  const { page, errors } = await env.open();
  await startConversation(page, 'use read_file {"path": "reading.ts"}');
  await waitUntilIdle(page);
  await call(page).locator("summary").click();
  const file = call(page).locator(".file-text");
  assert.equal(await file.locator(".line-numbers").innerText(), "1\n2\n3");
  await file.getByText("<img src=x onerror=alert(1)>").waitFor();
  await file.locator(".hljs-keyword").first().waitFor();
  assert.equal(await page.locator(".thread img").count(), 0);
  assert.deepEqual(await violations(page), []);
  // The server's own shell has removed the colors; those of other tools have not.
  await shows(page, { output: "10 %\r100 %\n\u001b[32mok <b>x</b>\u001b[0m", exitCode: 0 });
  const terminal = call(page).locator(".terminal pre");
  assert.equal(await terminal.innerText(), "100 %\nok <b>x</b>");
  assert.equal(await terminal.locator(".ansi-2").innerText(), "ok <b>x</b>");
  assert.deepEqual(await violations(page), []);
  await shows(page, [
    { name: "<img src=x onerror=alert(1)>", amount: 3 },
    { name: "Bob", amount: 5 },
  ]);
  await call(page).getByRole("button", { name: "amount" }).click();
  await call(page).getByRole("button", { name: "amount" }).click();
  assert.deepEqual(await call(page).locator("tbody td").allInnerTexts(), [
    "Bob",
    "5",
    "<img src=x onerror=alert(1)>",
    "3",
  ]);
  assert.equal(await page.locator(".thread img").count(), 0);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(errors, []);
});

/** Shows the open conversation as if its tool had returned this result, and opens the call. */
async function shows(page: Page, result: Json): Promise<void> {
  const { api } = env.server;
  const contextId = contextIdOf(page.url());
  const { events } = await api.events(contextId, { filter: { internal: true }, limit: 1_000 });
  const changed = events.map((event) =>
    event.kind === "tool-complete" ? { ...event, result } : event,
  );
  const replay = await Replay.start(contextId, changed, await api.agentTypes());
  replays.push(replay);
  replay.advance(changed.length);
  await page.goto(`${replay.url}/#/c/${contextId}`);
  await call(page).locator("summary").click();
}

function contextIdOf(url: string): string {
  return decodeURIComponent(/#\/c\/([^/]+)/.exec(url)?.[1] ?? "");
}
