import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { SKIP, stage } from "./page.js";
import { positionOf, Replay } from "./replay.js";

const it = stage({ files: { "fruit.csv": "name,price\napple,3\npear,2\n" } });
const PLACES = 40;
const AGAIN_MAX = 50;
const AGAIN_MS = 200;

/** What stands in the conversation and beside it when all up to `position` is taken in. */
async function shown(page: Page, position: string): Promise<string> {
  await page.locator(`.thread[data-position="${position}"][aria-busy="false"]`).waitFor();
  return page.evaluate(() => {
    const told = (node: Node): string => {
      if (!(node instanceof Element)) {
        // The same, said of the past.
        return (node.textContent ?? "")
          .replace(/^was (at work|being stopped)$/, "is $1")
          .replace(/^waited for /, "waits for ");
      }
      // What can be done is a matter of now, also while the past is looked at.
      const ofNow = node.tagName === "BUTTON" ? ["disabled", "title"] : [];
      const kept = [...node.attributes].filter(({ name }) => !ofNow.includes(name));
      const attributes = kept.map(({ name, value }) => `${name}="${value}"`).sort();
      const running = node.classList.contains("elapsed");
      const inner = running ? "" : [...node.childNodes].map(told).join("");
      return `\n<${node.tagName} ${attributes.join(" ")}>${inner}`;
    };
    return [".thread-rows", ".panel-body"]
      .map((one) => document.querySelector(one))
      .map((one) => (one === null ? "" : told(one)))
      .join("\n");
  });
}

test("the past is what was watched live, with its artifacts", { skip: SKIP }, async () => {
  const { api } = it.server;
  const { contextId } = await api.createContext({ title: "Past" });
  for (const content of [
    "delegate think about tea to research and writer",
    "summarise the CSV files here",
    "count to 50",
  ]) {
    await api.send(contextId, { content, agentId: "agent-code" });
  }
  while ((await api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { events } = await api.events(contextId, { limit: 1_000, filter: { internal: true } });
  const replay = await Replay.start(contextId, events, await api.agentTypes());
  try {
    const { page: then } = await it.open({ reducedMotion: "reduce" });
    const { page: now, trouble } = await it.open({
      reducedMotion: "reduce",
      at: `#/c/${contextId}/at/1`,
    });
    replay.advance(1);
    await then.goto(`${replay.url}/#/c/${contextId}`);
    for (const page of [then, now]) {
      await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    }
    // The last event of each number: what is internal goes with the public event before it.
    const ends = events.flatMap((event: ParleyEvent, i) =>
      events[i + 1]?.seq === event.seq ? [] : [i + 1],
    );
    for (let i = 0; i < PLACES; i++) {
      const end = ends[Math.floor((i * (ends.length - 1)) / PLACES)] ?? 1;
      const position = positionOf(events[end - 1]);
      replay.advance(end);
      const seq = events[end - 1]?.seq;
      await now.evaluate(`location.replace("#/c/${contextId}/at/${seq}")`);
      let [past, live] = [await shown(now, position), await shown(then, position)];
      // What agents are called may come later than what they did.
      for (let again = 0; past !== live && again < AGAIN_MAX; again++) {
        await now.waitForTimeout(AGAIN_MS);
        [past, live] = [await shown(now, position), await shown(then, position)];
      }
      assert.equal(past, live, `event ${position}`);
    }
    assert.deepEqual(trouble, []);
  } finally {
    replay.stop();
  }
});
