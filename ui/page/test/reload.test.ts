import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, ParleyApi, ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { SKIP, setUp } from "./page.js";
import { positionOf, Replay } from "./replay.js";

const env = setUp({ own: true, files: { "cities.csv": "city,people\nBern,134\nOslo,709\n" } });
/** The number of events that are recorded at least. */
const EVENTS_MIN = 500;
const LONG = process.env["PARLEY_LONG"] !== undefined;
/** Without PARLEY_LONG, one of this many events is a place to compare, and each new transition. */
const STEP = 8;
const PATIENCE_MS = 15_000;
/** Sometimes the whole page is reloaded, not only the conversation. */
const WHOLE = 25;

/** Sends a message, answers questions, and waits for the end. */
async function run(api: ParleyApi, contextId: string, content: string, value?: Json) {
  const { taskId } = await api.send(contextId, { content, agentId: "agent-code" });
  for (;;) {
    const { pendingInputs } = await api.snapshot(contextId);
    const [asked] = pendingInputs;
    if (asked !== undefined && value !== undefined) {
      await api.answer(contextId, asked.inputId, value).catch(() => undefined);
    }
    const { status } = await api.task(contextId, taskId);
    if (["completed", "failed", "canceled"].includes(status)) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A run with sub-agents, approvals, questions, artifacts, a failure and a rewind. */
async function record(api: ParleyApi): Promise<{ contextId: string; events: ParleyEvent[] }> {
  const { contextId } = await api.createContext({});
  await run(api, contextId, "delegate think about tea to research and writer");
  await run(api, contextId, "run echo approved", true);
  await run(api, contextId, "run echo denied", { approved: false, reason: "no" });
  await run(api, contextId, "ask me which colour", "blue");
  await run(api, contextId, "write a report on the weather");
  await run(api, contextId, "summarise the CSV files here");
  await run(api, contextId, "fail");
  await run(api, contextId, "say # Done\n\n- one\n- two\n\n```js\nlet a = 1;\n```\n\n> end");
  await run(api, contextId, "count to 200");
  const said = (await api.messages(contextId)).items.filter((one) => one.role === "user");
  await api.rewind(contextId, { beforeMessageId: said.at(-2)?.messageId ?? "" });
  await run(api, contextId, "delegate delegate run echo deep to writer to research", true);
  const events: ParleyEvent[] = [];
  for (let after: number | string = 0, more = true; more; ) {
    const wanted = { after, limit: 1_000, filter: { internal: true } };
    const page = await api.events(contextId, wanted);
    events.push(...page.events);
    after = page.position;
    more = page.hasMore;
  }
  return { contextId, events };
}

/**
 * A checksum of the conversation at a position, without times. With `hash`, the page navigates away
 * and back, which reloads everything.
 */
function shown(page: Page, position: string, hash?: string): Promise<string> {
  return page.evaluate(look, { position, hash, patienceMs: PATIENCE_MS });
}

/** The full text of the last checksum. */
function whole(page: Page): Promise<string> {
  return page.evaluate("window.told");
}

interface Look {
  readonly position: string;
  readonly hash: string | undefined;
  readonly patienceMs: number;
}

/** Runs in the page in one call and returns a checksum: separate calls would take too long. */
async function look({ position, hash, patienceMs }: Look): Promise<string> {
  const found = async (selector: string): Promise<void> => {
    for (const end = Date.now() + patienceMs; document.querySelector(selector) === null; ) {
      if (Date.now() > end) {
        throw new Error(`there is no ${selector}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  // The order of attributes does not matter.
  const told = (node: Node): string => {
    if (!(node instanceof Element)) {
      return node.textContent ?? "";
    }
    const attributes = [...node.attributes].map(({ name, value }) => `${name}="${value}"`).sort();
    const inner = node.classList.contains("elapsed") ? "" : [...node.childNodes].map(told).join("");
    return `\n<${node.tagName} ${attributes.join(" ")}>${inner}`;
  };
  if (hash !== undefined) {
    location.hash = "#/";
    await found(".welcome");
    location.hash = hash;
  }
  await found(`.thread[data-position="${position}"][aria-busy="false"]`);
  const rows = document.querySelector(".thread-rows");
  const card = document.querySelector<HTMLElement>(".bottom")?.innerText ?? "";
  const text = `${rows === null ? "" : told(rows)}\n${card}`;
  Object.assign(window, { told: text });
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].join(".");
}

/** The numbers of events after which the live page and a loaded page are compared. */
function places(events: readonly ParleyEvent[]): number[] {
  const seen = new Set<string>();
  return events.flatMap((event, i) => {
    const transition = `${events[i - 1]?.kind} ${event.kind}`;
    const chosen = LONG || i % STEP === 0 || !seen.has(transition) || i + 1 === events.length;
    seen.add(transition);
    return chosen ? [i + 1] : [];
  });
}

test("a reload at any event shows what was watched live", { skip: SKIP }, async (t) => {
  const { contextId, events } = await record(env.server.api);
  const kinds = new Set(events.map((event) => event.kind));
  for (const kind of ["subtask-created", "input-required", "file-write", "dataset-write"]) {
    assert.ok(kinds.has(kind as ParleyEvent["kind"]), `nothing of ${kind} was recorded`);
  }
  assert.ok(events.length >= EVENTS_MIN, `only ${events.length} events were recorded`);
  const replay = await Replay.start(contextId, events, await env.server.api.agentTypes());
  try {
    const { page: watching } = await env.open();
    const { page: loading, errors } = await env.open();
    replay.advance(1);
    const at = `${replay.url}/#/c/${contextId}`;
    await watching.goto(at);
    await watching.getByRole("log").waitFor();
    await loading.goto(at);
    let compared = 0;
    for (const end of places(events)) {
      replay.advance(end);
      const position = positionOf(events[end - 1]);
      const reloads = compared % WHOLE === 0;
      if (reloads) {
        await loading.reload();
      }
      const [live, loaded] = await Promise.all([
        shown(watching, position),
        shown(loading, position, reloads ? undefined : `#/c/${contextId}`),
      ]);
      if (loaded !== live) {
        assert.equal(await whole(loading), await whole(watching), `at event ${position}`);
      }
      compared++;
    }
    t.diagnostic(`${compared} places of a log of ${events.length} events were compared`);
    assert.ok(compared > 0);
    assert.deepEqual(errors, []);
  } finally {
    replay.stop();
  }
});
