import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { SKIP, setUp } from "./page.js";
import { positionOf, Replay } from "./replay.js";

const env = setUp();
const options = { skip: SKIP };
const panel = (page: Page) => page.getByRole("complementary", { name: "Artifacts" });

async function recorded(content: string): Promise<ParleyEvent[]> {
  const { api } = env.server;
  const { contextId } = await api.createContext({});
  await api.send(contextId, { content, agentId: "agent-code" });
  while ((await api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return (await api.events(contextId, { limit: 1_000, filter: { internal: true } })).events;
}

/** Samples the artifact while it grows: the result of `measure`, and whether it is complete. */
async function growth(
  page: Page,
  events: readonly ParleyEvent[],
  kind: string,
  measure: () => Promise<number>,
): Promise<{ sizes: number[]; whole: boolean[] }> {
  const ends = events.flatMap((event, i) => (event.kind === kind ? [i + 1] : []));
  assert.ok(ends.length >= 3, `only ${ends.length} of ${kind}`);
  const agents = await env.server.api.agentTypes();
  const replay = await Replay.start(events[0]?.contextId ?? "", events, agents);
  try {
    const places = [ends[0] ?? 0, ends[Math.floor(ends.length / 2)] ?? 0, events.length];
    replay.advance(places[0] ?? 0);
    await page.goto(`${replay.url}/#/c/${replay.contextId}`);
    await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    const found = { sizes: [] as number[], whole: [] as boolean[] };
    for (const end of places) {
      replay.advance(end);
      const at = positionOf(events[end - 1]);
      await page.locator(`.thread[data-position="${at}"][aria-busy="false"]`).waitFor();
      found.sizes.push(await measure());
      const busy = await panel(page).getByRole("article").getAttribute("aria-busy");
      found.whole.push(busy === "false");
    }
    return found;
  } finally {
    replay.stop();
  }
}

const grows = ([first = 0, second = 0, last = 0]: readonly number[]): boolean =>
  first > 0 && first < second && second < last;

test("a report can be read while it is being written", options, async () => {
  const { page, errors } = await env.open();
  const events = await recorded("write a report on the history of tea");
  const length = async () => (await panel(page).locator(".markdown").innerText()).length;
  const { sizes, whole } = await growth(page, events, "file-write", length);
  assert.ok(grows(sizes), sizes.join(", "));
  assert.deepEqual(whole, [false, false, true]);
  assert.deepEqual(errors, []);
});

test("a table is sorted, counted and drawn while rows come in", options, async () => {
  const { page, errors } = await env.open();
  const rows = Array.from({ length: 900 }, (_, i) => ({ city: `c${i % 4}`, people: i }));
  const events = await recorded(`use dataset ${JSON.stringify({ name: "cities", rows })}`);
  const sums: number[] = [];
  let opened = false;
  const count = async (): Promise<number> => {
    if (!opened) {
      opened = true;
      await panel(page).getByRole("button", { name: "people" }).dblclick();
      await panel(page).getByRole("button", { name: "Chart" }).click();
    }
    const bars = await panel(page).locator(".bar-value").allInnerTexts();
    sums.push(bars.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0));
    const shown = await panel(page).locator(".dataset-count").innerText();
    const top = await panel(page).locator(".table-box tbody tr:not(.gap) td").nth(1).innerText();
    const all = Number(/^([\d,]+) rows/.exec(shown)?.[1]?.replaceAll(",", ""));
    // Sorting includes rows that have just arrived.
    assert.equal(Number(top), all - 1);
    return all;
  };
  const { sizes } = await growth(page, events, "dataset-write", count);
  assert.ok(grows(sizes), sizes.join(", "));
  assert.equal(sizes.at(-1), 900);
  assert.ok(grows(sums), sums.join(", "));
  assert.deepEqual(errors, []);
});

test(
  "in the conversation it says that it grows, and stays as high as it was",
  options,
  async () => {
    const { page } = await env.open();
    const events = await recorded("write a report on the history of tea");
    const made = page.locator('.thread-rows > [data-kind="artifact"]');
    const heights: unknown[] = [];
    const busy: boolean[] = [];
    const look = async (): Promise<number> => {
      heights.push((await made.boundingBox())?.height);
      busy.push(await made.getByRole("img", { name: "writing" }).isVisible());
      const size = /([\d.]+) (K?)B$/.exec(await made.innerText());
      return Number(size?.[1]) * (size?.[2] === "K" ? 1_024 : 1);
    };
    const { sizes } = await growth(page, events, "file-write", look);
    assert.ok(grows(sizes), sizes.join(", "));
    assert.deepEqual(busy, [true, true, false]);
    assert.deepEqual(heights, Array(3).fill(heights[0]));
  },
);
