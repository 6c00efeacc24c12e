import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { SKIP, setUp } from "./page.js";
import { positionOf, Replay } from "./replay.js";

const env = setUp({ files: { "fruit.csv": "name,price\napple,3\npear,2\n" } });
const PLACES = 40;

/** The content of the conversation and the panel once everything up to `position` is applied. */
async function shown(page: Page, position: string): Promise<string> {
  await page.locator(`.thread[data-position="${position}"][aria-busy="false"]`).waitFor();
  return page.evaluate(() => {
    const told = (node: Node): string => {
      if (!(node instanceof Element)) {
        // The same text in the past tense.
        return (node.textContent ?? "")
          .replace(/^was (working|stopping)$/, "is $1…")
          .replace(/^was waiting for you$/, "waiting for you")
          .replace(/^was (queued|waiting)/, "is $1");
      }
      // Actions apply to now, even if the past is shown.
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
  const { api } = env.server;
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
    const { page: then } = await env.open();
    const { page: now, errors } = await env.open({ at: `#/c/${contextId}/at/1` });
    replay.advance(1);
    await then.goto(`${replay.url}/#/c/${contextId}`);
    for (const page of [then, now]) {
      await page.getByRole("button", { name: "Artifacts", exact: true }).click();
      // Agent names may load after the events.
      const agent = page.locator(".composer option[value=agent-code]");
      await agent.waitFor({ state: "attached" });
    }
    // The last event of each number: internal events belong to the public event before them.
    const ends = events.flatMap((event: ParleyEvent, i) =>
      events[i + 1]?.seq === event.seq ? [] : [i + 1],
    );
    for (let i = 0; i < PLACES; i++) {
      const end = ends[Math.floor((i * (ends.length - 1)) / PLACES)] ?? 1;
      const position = positionOf(events[end - 1]);
      replay.advance(end);
      const seq = events[end - 1]?.seq;
      await now.evaluate(`location.replace("#/c/${contextId}/at/${seq}")`);
      const [past, live] = [await shown(now, position), await shown(then, position)];
      assert.equal(past, live, `event ${position}`);
    }
    assert.deepEqual(errors, []);
  } finally {
    replay.stop();
  }
});
