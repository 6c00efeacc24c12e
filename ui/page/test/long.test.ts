import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyContext,
  formatPosition,
  reduceAll,
  type Span,
  view,
  waterfallOf,
} from "@parley/client";
import { waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const TURNS = 420;
const AT_ONCE = 20;
/** The height of a row of the tree. */
const ROW_HEIGHT = 26;
interface Long {
  readonly contextId: string;
  readonly firstTask: string;
}
let made: Promise<Long> | undefined;

/** A conversation so long that the page loads only its end; shared by all tests. */
function longOne(): Promise<Long> {
  made ??= talk();
  return made;
}

async function talk(): Promise<Long> {
  const { api } = env.server;
  const { contextId } = await api.createContext({ title: "Many turns" });
  await api.writeArtifact(contextId, "early", { text: "# Early", name: "early.md" });
  const left = { content: "say this was left behind", agentId: "agent-writer" };
  const { messageId } = await api.send(contextId, left);
  while ((await api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await api.rewind(contextId, { beforeMessageId: messageId });
  let firstTask = "";
  for (let turn = 0; turn < TURNS; turn += AT_ONCE) {
    for (let i = turn; i < turn + AT_ONCE; i++) {
      const content = `say this is answer ${i}`;
      const { taskId } = await api.send(contextId, { content, agentId: "agent-writer" });
      firstTask ||= taskId;
    }
    while ((await api.context(contextId)).openTasks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return { contextId, firstTask };
}

/** The rows of the trace of a client that has read all events. */
async function traceOf(contextId: string): Promise<readonly Span[]> {
  let context = emptyContext(contextId);
  for (let more = true; more; ) {
    const after = formatPosition(context);
    const options = { after, limit: 1_000, filter: { internal: true } };
    const page = await env.server.api.events(contextId, options);
    context = reduceAll(context, page.events);
    more = page.hasMore;
  }
  return waterfallOf(view(context)).rows;
}

test("a long conversation has no answers without what was asked", options, async () => {
  const { contextId } = await longOne();
  const { page, errors } = await env.open({ at: `#/c/${contextId}` });
  await page.locator('.thread[aria-busy="false"]').waitFor();
  await page.getByText(`this is answer ${TURNS - 1}`, { exact: true }).waitFor();
  const kinds = await page
    .locator(".thread-rows > .row")
    .evaluateAll((rows) => rows.map((row) => row.getAttribute("data-kind")));
  assert.ok(!kinds.some((kind, i) => kind === "end" && kinds[i - 1] === "end"), kinds.join(" "));
  assert.deepEqual(errors, []);
});

test("what comes above when one scrolls up leaves what is read where it is", options, async () => {
  const { contextId } = await longOne();
  const { page } = await env.open({ at: `#/c/${contextId}` });
  const thread = page.locator('.thread[aria-busy="false"]');
  await thread.waitFor();
  await page.getByText(`this is answer ${TURNS - 1}`, { exact: true }).waitFor();
  // Scrolls up until everything is loaded, one screen at a time.
  let seen = Infinity;
  for (let i = 0; i < 200 && seen > 0; i++) {
    await thread.evaluate((one) => (one.scrollTop = 0));
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))),
    );
    await thread.waitFor();
    const now = await thread.evaluate((one) => {
      const top = one.getBoundingClientRect().top;
      const first = [...one.querySelectorAll('[data-kind="text"]')].find(
        (row) => row.getBoundingClientRect().top >= top,
      );
      return Number(/\d+/.exec(first?.textContent ?? "")?.[0]);
    });
    // The position never jumps by more than one step.
    assert.ok((now <= seen && seen - now <= 100) || seen === Infinity, `${seen}, then ${now}`);
    seen = now;
  }
  assert.equal(seen, 0);
});

test("a link to a task of long ago loads it, and shows it", options, async () => {
  const { contextId, firstTask } = await longOne();
  const { page } = await env.open({ at: `#/c/${contextId}/t/${firstTask}` });
  const marked = page.locator(".row[data-marked]");
  await marked.waitFor();
  await page.getByText("this is answer 0", { exact: true }).waitFor();
  assert.ok(await marked.isVisible());
});

test(
  "what streams for long is forgotten above, and read again for who looks up",
  options,
  async () => {
    const { api } = env.server;
    const { contextId } = await api.createContext({ title: "Days" });
    const say = (content: string) => api.send(contextId, { content, agentId: "agent-writer" });
    await say("say this was first");
    const { page, errors } = await env.open({ at: `#/c/${contextId}` });
    await page.getByText("this was first", { exact: true }).waitFor();
    const thread = page.locator('.thread[aria-busy="false"]');
    const earlier = page.getByRole("button", { name: "Earlier" });
    assert.equal(await earlier.count(), 0);

    await say("count to 17000");
    await page.getByText("16999 17000").waitFor();
    await say("say this was last");
    await page.getByText("this was last", { exact: true }).waitFor();
    await earlier.waitFor({ state: "attached" });
    await waitUntilIdle(page);
    const live = await page.locator(".thread-rows > .row").allInnerTexts();
    assert.equal(await page.locator(".connection-text").innerText(), "Live");

    await thread.evaluate((one) => (one.scrollTop = 0));
    await earlier.waitFor({ state: "detached" });
    await page.getByText("this was first", { exact: true }).waitFor();
    await page.reload();
    await thread.waitFor();
    assert.deepEqual(await page.locator(".thread-rows > .row").allInnerTexts(), live);
    assert.deepEqual(errors, []);
  },
);

test("the trace has the steps of all tasks, also of a fork", options, async () => {
  const { contextId } = await longOne();
  const { api } = env.server;
  const fork = await api.fork(contextId, { title: "Fork" });
  for (const id of [contextId, fork.contextId]) {
    const expected = await traceOf(id);
    assert.ok(expected.length >= 2 * TURNS, `${expected.length}`);
    const { page, errors } = await env.open({ at: `#/c/${id}` });
    const deltas: string[] = [];
    page.on("request", (one) => {
      if (/[/]events[?].*kinds=.*content-delta/.test(one.url())) {
        deltas.push(one.url());
      }
    });
    await page.getByText(`this is answer ${TURNS - 1}`, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const trace = page.getByRole("complementary", { name: "Trace" });
    await page.waitForFunction(
      (height) => document.querySelector(".waterfall-box > .rows")?.clientHeight === height,
      expected.length * ROW_HEIGHT,
    );
    const spans = trace.getByRole("treeitem");
    const keys = await spans.evaluateAll((rows) => rows.map((one) => one.dataset["key"]));
    assert.ok(keys.length >= 4);
    assert.deepEqual(
      keys,
      expected.slice(0, keys.length).map((row) => row.key),
    );
    for (const place of [0, 1]) {
      assert.match(await spans.nth(place).innerText(), /\d tok/);
    }
    await trace.getByText("Loading the steps").waitFor({ state: "detached" });
    assert.ok(await page.getByRole("button", { name: "Earlier" }).count(), "nothing was scrolled");
    assert.deepEqual([deltas, errors], [[], []]);
  }
});

test("of what is not loaded it is said, and it is loaded when it can be", options, async () => {
  const { contextId } = await longOne();
  const { page } = await env.open({ at: `#/c/${contextId}` });
  await page.getByText(`this is answer ${TURNS - 1}`, { exact: true }).waitFor();
  await page.route("**/artifacts/early**", (route) => route.abort());
  await page.getByRole("button", { name: "Artifacts", exact: true }).click();
  await page.getByText("Retrying automatically").waitFor();
  await page.unroute("**/artifacts/early**");
  await page.getByRole("heading", { name: "Early", exact: true }).waitFor();

  await page.getByRole("button", { name: "Branches", exact: true }).click();
  const branches = page.getByRole("complementary", { name: "Branches" });
  await branches.getByText(/Earlier versions before event \d+ are not loaded/).waitFor();
  assert.equal(await branches.getByText("No earlier versions yet").count(), 0);
  await branches.getByRole("button", { name: "Load earlier" }).click();
  await branches.getByText("say this was left behind").waitFor();
  assert.equal(await branches.getByText("are not loaded").count(), 0);
});
