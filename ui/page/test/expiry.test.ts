import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyApi, ParleyEvent } from "@parley/client";
import { SKIP, setUp } from "./page.js";
import { Replay } from "./replay.js";

const env = setUp({ config: 'limits: {inputTimeout: 1s}\nworkspaces: ["."]\n' });
const options = { skip: SKIP };
/** The replayed question expires after this time: the test moves on before. */
const EXPIRES_MS = 59_000;

/** The log of a conversation with a question that nobody answered. */
async function record(api: ParleyApi): Promise<{ contextId: string; events: ParleyEvent[] }> {
  const { contextId } = await api.createContext({});
  await api.send(contextId, { content: "ask me which colour", agentId: "agent-code" });
  while ((await api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { events } = await api.events(contextId, { after: 0, limit: 1_000 });
  return { contextId, events };
}

test("the time to answer is seen to pass, and what nobody answered says so", options, async () => {
  const { contextId, events } = await record(env.server.api);
  const expiresAt = new Date(Date.now() + EXPIRES_MS).toISOString();
  const later = events.map((event) =>
    event.kind === "input-required" ? { ...event, expiresAt } : event,
  );
  const lapse = later.findIndex((event) => event.kind === "input-lapsed");
  const replay = await Replay.start(contextId, later, await env.server.api.agentTypes());
  try {
    const { page } = await env.open();
    replay.advance(lapse);
    await page.goto(`${replay.url}/#/c/${contextId}`);
    const questionCard = page.locator(".question-card");
    const left = questionCard.locator("time.expiry");
    await left.getByText(/^[\d.]+ s left$/).waitFor();
    assert.equal(await left.getAttribute("data-soon"), "true");
    const first = await left.innerText();
    await page.waitForFunction(
      (before) => document.querySelector("time.expiry")?.textContent !== before,
      first,
    );
    await page.getByRole("textbox", { name: /Answer/ }).fill("bl");
    replay.advance(later.length);
    await questionCard.waitFor({ state: "detached" });
    await page.locator(".question[data-status=lapsed]", { hasText: "no longer needed" }).waitFor();
    await page.goto(`${env.server.url}/#/c/${contextId}`);
    await page.locator(`[data-group="done"] .entry[href="#/c/${contextId}"]`).waitFor();
  } finally {
    replay.stop();
  }
});
