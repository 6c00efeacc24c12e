import assert from "node:assert/strict";
import { test } from "node:test";
import { SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const TURNS = 5;
const EVENTS = 100_000;
const NODES_MAX = 8_000;

test(
  "a context of 100,000 events opens, and its log goes from top to bottom",
  options,
  async () => {
    const { api } = env.server;
    const { contextId } = await api.createContext({ title: "A long one" });
    const turn = { content: `count to ${EVENTS / TURNS}`, agentId: "agent-research" };
    for (let i = 0; i < TURNS; i++) {
      await api.send(contextId, turn);
    }
    const { page, errors } = await env.open({ at: `#/c/${contextId}` });
    for (const end = Date.now() + 120_000; (await api.context(contextId)).openTasks > 0; ) {
      assert.ok(Date.now() < end, "the run did not end");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { position } = await api.context(contextId);
    assert.ok(Number(position) > EVENTS);
    await page.reload();
    await page.getByRole("log").waitFor();
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Trace" });
    await panel.locator(`.event[data-seq="${position}"]`).waitFor();
    const box = panel.getByRole("listbox");
    const nodes = (): Promise<number> => page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok((await nodes()) < NODES_MAX, `${await nodes()} nodes`);
    await box.evaluate((one) => one.scrollTo(0, 0));
    await panel.locator('.event[data-seq="1"]').waitFor();
    await box.evaluate((one) => one.scrollTo(0, one.scrollHeight / 2));
    await panel.locator(".event[data-kind=content-delta]").first().waitFor();
    await box.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await panel.locator(`.event[data-seq="${position}"]`).waitFor();
    await panel.getByRole("spinbutton", { name: "Event number" }).fill("50000");
    await page.getByText("As of event 50000 of").waitFor();
    await panel.locator('.event[data-seq="50000"]').waitFor();
    await panel.getByRole("spinbutton", { name: "Event number" }).fill(String(position));
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    const thread = page.getByRole("log");
    for (let i = 0; i < 5; i++) {
      await thread.evaluate((one) => one.scrollTo(0, 0));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    }
    await page.getByRole("button", { name: "Newest" }).click();
    assert.ok((await nodes()) < NODES_MAX, `${await nodes()} nodes`);
    assert.deepEqual(errors, []);
  },
);
