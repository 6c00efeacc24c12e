import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { ModelServer } from "./model-server.js";
import { latch, type Opened, setUp, SKIP, waitUntilIdle } from "./page.js";

const model = await ModelServer.start();
after(() => model.stop());
const env = setUp({ config: model.config });
const options = { skip: SKIP };
const SECOND_MS = 1_000;
const MINUTE_S = 60;
const AXIS = ".legend-axis > :text('active')";

/** A task whose model is at work, with the trace beside it. */
async function start(): Promise<Opened> {
  const { api } = env.server;
  const { contextId } = await api.createContext({ title: "Slow" });
  const opened = await env.open();
  // The test advances the time of the page.
  await opened.page.clock.install();
  await opened.page.goto(`${env.server.url}/#/c/${contextId}`);
  await opened.page.getByRole("button", { name: "Trace", exact: true }).click();
  await api.send(contextId, { content: "take your time", agentId: "assistant" });
  await row(opened.page, "model").waitFor();
  return opened;
}

function row(page: Page, kind: string) {
  return page.locator(`.span[data-kind=${kind}]`);
}

async function secondsOf(page: Page, place: string): Promise<number> {
  const text = await page.locator(place).innerText();
  const [, minutes, seconds] = /(?:(\d+) min )?([\d.]+) s(?: active)?$/.exec(text.trim()) ?? [];
  return Number(minutes ?? 0) * MINUTE_S + Number(seconds ?? 0);
}

test("clocks run while a model is at work, and stop when it has answered", options, async () => {
  const answered = latch();
  model.answers = [
    async (reply) => {
      await answered.opened;
      reply.write("Here I am.");
      reply.end();
    },
  ];
  const { page, errors } = await start();
  const places = [
    ".task-status",
    ".span[data-kind=task] .span-facts",
    ".span[data-kind=model] .span-facts",
    AXIS,
  ];
  // From here on, the page has no time but what the test gives it.
  await page.clock.pauseAt(Date.now() + 10 * SECOND_MS);
  for (const step of [7, 40]) {
    const before = await Promise.all(places.map((place) => secondsOf(page, place)));
    await page.clock.fastForward(step * SECOND_MS);
    for (const [i, place] of places.entries()) {
      const grown = (await secondsOf(page, place)) - (before[i] ?? 0);
      assert.ok(Math.abs(grown - step) < 2, `${place} has grown by ${grown} s in ${step} s`);
    }
  }
  const active = await secondsOf(page, AXIS);
  const worked = await secondsOf(page, ".span[data-kind=task] .span-facts");
  assert.ok(Math.abs(active - worked) < 2, `${active} s active, but the task has ${worked} s`);
  await page.clock.resume();
  answered.open();
  await waitUntilIdle(page);
  assert.equal(await row(page, "model").getAttribute("data-status"), "done");
  const facts = row(page, "task").locator(".span-facts");
  const took = await facts.innerText();
  await page.clock.fastForward(9 * SECOND_MS);
  assert.equal(await facts.innerText(), took, "nothing runs any more");
  assert.deepEqual(errors, []);
});

test(
  "a model that is asked again is named with the reason, until it answers",
  options,
  async () => {
    const [asked, rest] = [latch(), latch()];
    model.answers = [
      async (reply) => reply.fail(503, "overloaded"),
      async (reply) => reply.fail(503, "overloaded"),
      async (reply) => {
        await asked.opened;
        reply.write("Here ");
        await rest.opened;
        reply.write("I am.");
        reply.end();
      },
    ];
    const { page } = await start();
    const words = /^Retrying \(3 of 5\): .*503.*overloaded/;
    await page.locator(".thread .task-status").getByText(words).waitFor();
    await row(page, "model").getByText(words).waitFor();
    asked.open();
    await page.locator(".thread [data-kind=text]").getByText("Here").waitFor();
    await page.locator(".retry").first().waitFor({ state: "detached" });
    await page.locator(".task-status").getByText("is working…").waitFor();
    rest.open();
    await waitUntilIdle(page);
  },
);
