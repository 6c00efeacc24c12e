import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";
import { Replay } from "./replay.js";

const env = setUp();
const options = { skip: SKIP };

test(
  "sub-agents three deep are watched live, and stopped from the middle down",
  options,
  async () => {
    const { page, errors } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    const content = "delegate delegate delegate count slowly to 4000 to data to writer to research";
    const contextId = await startConversation(page, content);
    const card = (name: string) =>
      page.locator(".subagent", {
        has: page.locator(`> .subagent-head strong:text-is("${name}")`),
      });
    for (const name of ["Research", "Writer", "Data"]) {
      await card(name).locator("> .subagent-head .subagent-open").click();
    }
    const said = card("Data").locator("> .subagent-thread");
    await said.getByText("1 2 3").waitFor();
    const before = (await said.innerText()).length;
    await page.waitForFunction(
      ([element, length]) => ((element as HTMLElement).innerText.length ?? 0) > Number(length),
      [await said.elementHandle(), before] as const,
    );
    await page.getByRole("button", { name: "Stop Writer and its sub-agents" }).click();
    for (const name of ["Writer", "Data"]) {
      await card(name).and(page.locator('[data-status="canceled"]')).waitFor();
    }
    // The parent task is notified and ends on its own.
    await card("Research").and(page.locator('[data-status="completed"]')).waitFor();
    await waitUntilIdle(page);
    const { items } = await env.server.api.tasks(contextId);
    const status = (id: string) => items.find((task) => task.agentId === id)?.status;
    assert.deepEqual(["agent-code", "agent-research", "agent-writer", "agent-data"].map(status), [
      "completed",
      "completed",
      "canceled",
      "canceled",
    ]);
    await page.getByRole("combobox", { name: "Agent" }).selectOption("");
    assert.deepEqual(errors, []);
  },
);

test(
  "what models cost stands beside each of them, each task and all together",
  options,
  async () => {
    const { api } = env.server;
    const { contextId } = await api.createContext({});
    const content = "delegate say hello to research and writer";
    await api.send(contextId, { content, agentId: "agent-code" });
    while ((await api.context(contextId)).openTasks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { events } = await api.events(contextId, { limit: 1_000, filter: { internal: true } });
    // The offline model is free, so each call gets a price here.
    const paid = events.map(
      (event): ParleyEvent => (event.kind === "usage" ? { ...event, costUsd: 0.25 } : event),
    );
    const calls = paid.filter((event) => event.kind === "usage").length;
    const replay = await Replay.start(contextId, paid, await api.agentTypes());
    try {
      replay.advance(paid.length);
      const { page } = await env.open();
      await page.goto(`${replay.url}/#/c/${contextId}`);
      await page.getByRole("button", { name: "Trace", exact: true }).click();
      const panel = page.getByRole("complementary", { name: "Trace" });
      const all = `$${(calls * 0.25).toFixed(2)}`;
      await panel.locator(".legend", { hasText: all }).waitFor();
      await panel.getByRole("treeitem").first().getByText(all).waitFor();
      const writer = panel.getByRole("treeitem").filter({ hasText: "Writer" });
      await writer.getByText("$0.25").waitFor();
      assert.match((await writer.getAttribute("title")) ?? "", /task, Writer, .*\$0\.25/);
      assert.ok((await panel.locator(".span[data-kind=model]", { hasText: "$0.25" }).count()) >= 3);
      await page.locator(".task-footer .task-facts").getByText("$").waitFor();
    } finally {
      replay.stop();
    }
  },
);
