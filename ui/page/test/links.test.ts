import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const log = (page: Page) => page.getByRole("complementary", { name: "Trace" });

/** A conversation with sub-agents at depth three, and many events before and after. */
async function deep(): Promise<{ contextId: string; innermost: string }> {
  const { api } = env.server;
  const { contextId } = await api.createContext({ title: "Deep" });
  const lines = Array.from({ length: 60 }, (_, i) => `- line ${i}`).join("\n");
  for (const content of [
    `say ${lines}`,
    "delegate delegate delegate think about tea to data to writer to research",
    `say ${lines}`,
  ]) {
    await api.send(contextId, { content, agentId: "agent-code" });
  }
  while ((await api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { items } = await api.tasks(contextId);
  const below = (id: string | undefined) => items.find((task) => task.parentTaskId === id);
  const root = items.find((task) => task.prompt?.startsWith("delegate") && !task.parentTaskId);
  const innermost = below(below(below(root?.taskId)?.taskId)?.taskId);
  assert.equal(innermost?.agentId, "agent-data");
  return { contextId, innermost: innermost.taskId };
}

async function inSight(element: Locator): Promise<void> {
  await element.waitFor();
  await element.evaluate(
    (one) =>
      new Promise<void>((resolve) => {
        const seen = new IntersectionObserver((all) => {
          if (all.some((entry) => entry.isIntersecting)) {
            seen.disconnect();
            resolve();
          }
        });
        seen.observe(one);
      }),
  );
}

test(
  "a link to a sub-agent three deep opens all above it and brings it into sight",
  options,
  async () => {
    const { contextId, innermost } = await deep();
    const { page, errors } = await env.open({ at: `#/c/${contextId}/t/${innermost}` });
    const card = page.locator(`[data-task="${innermost}"]`);
    await inSight(card);
    await page.locator(`[data-task="${innermost}"][data-marked] .subagent-thread`).waitFor();
    // The same from within the page, from another conversation.
    await page.evaluate(() => document.querySelector(".thread")?.scrollTo(0, 0));
    await page.evaluate((hash) => (location.hash = hash), `#/c/${contextId}/e/1`);
    await page.evaluate((hash) => (location.hash = hash), `#/c/${contextId}/t/${innermost}`);
    await inSight(card);
    assert.deepEqual(errors, []);
  },
);

test(
  "a link to an event of a sub-agent leads to it, in the conversation and in the log",
  options,
  async () => {
    const { contextId, innermost } = await deep();
    const { api } = env.server;
    const filter = { taskId: innermost, kinds: ["content-complete"] };
    const { events } = await api.events(contextId, { filter });
    const seq = events[0]?.seq ?? 0;
    const { page } = await env.open({ at: `#/c/${contextId}/e/${seq}` });
    const said = page.locator(`[data-task="${innermost}"] .row[data-kind="text"][data-marked]`);
    await inSight(said);
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const event = log(page).locator(`.event[data-seq="${seq}"][aria-selected="true"]`);
    await inSight(event);
    const raw = log(page).getByRole("region", { name: "Raw JSON" }).locator("pre");
    await raw.getByText('"content-complete"').waitFor();
    const told = JSON.parse(await raw.innerText()) as { seq: number };
    assert.equal(told.seq, seq);
  },
);

test(
  "what a sub-agent does is marked in the conversation, the tree and the log alike",
  options,
  async () => {
    const { contextId, innermost } = await deep();
    const { page } = await env.open({ at: `#/c/${contextId}/t/${innermost}` });
    const card = page.locator(`[data-task="${innermost}"]`);
    await inSight(card.locator(".subagent-thread"));
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    await log(page).locator(".event[data-seq]").first().waitFor();
    await card.locator('.row[data-kind="text"]').hover();
    await log(page).locator(".span[data-kind=model][data-marked]").waitFor();
    await log(page).locator(".event[data-marked]").first().waitFor();
    await log(page).locator(`.span[data-key="task-${innermost}"]`).hover();
    await page.locator(`[data-task="${innermost}"][data-pointed]`).waitFor();
    await card.locator(".subagent-open").first().click();
    // When collapsed, its card is highlighted.
    await log(page).locator(`.span[data-key^="model-${innermost}"]`).first().hover();
    await page.locator(`[data-task="${innermost}"][data-pointed]`).waitFor();
  },
);

test(
  "a link that leads nowhere says so, once, and leaves one in the conversation",
  options,
  async () => {
    const { api } = env.server;
    const { contextId } = await api.createContext({});
    await api.send(contextId, { content: "say hello", agentId: "agent-code" });
    while ((await api.context(contextId)).openTasks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const last = (await api.context(contextId)).position;
    const { page } = await env.open();
    for (const [link, words] of [
      ["e/9999", `The link points to event 9999, but this conversation has only ${last}.`],
      ["t/nope", "The link points to a task that is not in this conversation."],
      ["at/abc", "Part of the link is not valid."],
      ["e", "Part of the link is not valid."],
    ]) {
      await page.goto(`${env.server.url}/#/c/${contextId}/${link}`);
      await page
        .getByRole("status")
        .getByText(words ?? "")
        .waitFor();
      await page.locator('[data-kind="text"]').getByText("hello").waitFor();
      assert.equal(await page.locator("[data-marked]").count(), 0);
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.getByText(words ?? "").waitFor({ state: "detached" });
      await page.reload();
      await page.locator('[data-kind="text"]').getByText("hello").waitFor();
      assert.equal(await page.getByText(words ?? "").count(), 0);
    }
    await page.goto(`${env.server.url}/#/c/${contextId}/at/9999`);
    await page.getByText(`Event 9999 does not exist. As of event ${last}`).waitFor();
    await page.locator('[data-kind="text"]').getByText("hello").waitFor();
    await page.waitForURL(new RegExp(`/at/${last}$`));
    await page.getByText(`Event 9999 does not exist. As of event ${last}`).waitFor();
    await page.goto(`${env.server.url}/#/nothing/here`);
    await page.getByRole("status").getByText("The link is not valid.").waitFor();
    await page.goto(`${env.server.url}/#/`);
    await page.getByText("The link is not valid.").waitFor({ state: "detached" });
  },
);
