import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agentToAsk,
  type Clock,
  type ContextInfo,
  groupsOf,
  ContextList,
  type ContextListState,
  ParleyApi,
  titleOf,
} from "../src/index.js";
import { FAST_CLOCK, TestClock } from "./fake-server.js";

function context(contextId: string, title: string, openTasks: number): ContextInfo {
  const time = "2026-11-15T12:00:00Z";
  const facts = { owner: "local", createdAt: time, updatedAt: time, position: 1, messageCount: 1 };
  return { contextId, title, openTasks, ...facts };
}

const CONTEXTS = [
  context("a", "Buy tea", 1),
  context("b", "Count to ten", 1),
  context("c", "Read tea leaves", 0),
];

function state(inbox: readonly string[]): ContextListState {
  const waiting = inbox.map((contextId) => ({
    contextId,
    kind: "input" as const,
    seq: 1,
    timestamp: "",
    prompt: "?",
  }));
  const none = { agents: [], searched: [] };
  const rest = { ...none, searching: false, loading: false, more: false, error: undefined };
  return { contexts: CONTEXTS, inbox: waiting, ...rest };
}

const ids = (list: readonly ContextInfo[]): string => list.map((one) => one.contextId).join("");

test("contexts stand under what they need", () => {
  const groups = groupsOf(state(["a"]));
  assert.deepEqual([groups.needsYou, groups.running, groups.done].map(ids), ["a", "b", "c"]);
});

test("the chosen agent is asked if it is there, or if nobody knows yet who is", () => {
  const agents = ["a", "b"].map((id) => ({
    id,
    name: id,
    type: "model",
    tools: [],
    taskTypes: [],
  }));
  assert.equal(agentToAsk(agents, "b"), "b");
  assert.equal(agentToAsk(agents, "gone"), undefined);
  assert.equal(agentToAsk([], "b"), "b");
  assert.equal(agentToAsk([], ""), undefined);
});

test("search finds all words, in any order and case", () => {
  const groups = groupsOf(state([]), "LEAVES tea");
  assert.deepEqual([groups.needsYou, groups.running, groups.done].map(ids), ["", "", "c"]);
  assert.equal(titleOf({ title: "  " }), "New conversation");
});

test("the list is looked at again, keeps what it knew, and is the same until it changes", async () => {
  let answers = 0;
  let broken = false;
  const answer: typeof fetch = async (input) => {
    const path = new URL(String(input)).pathname;
    if (broken) {
      throw new TypeError("no network");
    }
    answers += path === "/api/contexts" ? 1 : 0;
    return Response.json({ items: path === "/api/contexts" ? CONTEXTS : [] });
  };
  const contextList = new ContextList(new ParleyApi({ url: "http://x", fetch: answer }), {
    everyMs: 1,
  });
  const seen: ContextListState[] = [];
  const first = new Promise<void>((resolve) =>
    contextList.subscribe(() => {
      seen.push(contextList.get());
      resolve();
    }),
  );
  await first;
  while (answers < 4) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(seen.length, 1);
  broken = true;
  while (contextList.get().error === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(contextList.get().contexts.length, 3);
  contextList.close();
});

test("a list that nobody looks at is looked at seldom, and at once when somebody does", async () => {
  let looks = 0;
  const answer: typeof fetch = async (input) => {
    looks += new URL(String(input)).pathname === "/api/contexts" ? 1 : 0;
    return Response.json({ items: [] });
  };
  const long = new TestClock();
  const clock: Clock = {
    now: () => long.now(),
    sleep: (millis, signal) => (millis === 1 ? FAST_CLOCK : long).sleep(millis, signal),
  };
  const options = { everyMs: 1, seldomMs: 3_600_000, clock };
  const contextList = new ContextList(new ParleyApi({ url: "http://x", fetch: answer }), options);
  const moment = () => new Promise((resolve) => setTimeout(resolve, 1));
  const until = async (wanted: number): Promise<void> => {
    while (looks < wanted) {
      await moment();
    }
  };
  await until(2);
  contextList.pause();
  const before = looks;
  for (let i = 0; i < 20; i++) {
    await moment();
  }
  assert.ok(looks <= before + 1, `${looks - before} looks though nobody looks`);
  const paused = looks;
  long.pass();
  await until(paused + 1);
  contextList.resume();
  await until(paused + 3);
  contextList.pause();
  contextList.close();
});

test("what waits for a person is listed, however long ago its context was", () => {
  const old = { ...state(["a", "z"]), contexts: CONTEXTS.slice(0, 2) };
  assert.deepEqual(ids(groupsOf(old).needsYou), "az");
  assert.deepEqual(ids(groupsOf(old, "buy").needsYou), "a");
});

test("a search goes through all pages, also when one fails, and is forgotten afterwards", async () => {
  const all = Array.from({ length: 2_500 }, (_, i) => context(`c${i}`, `Number ${i}`, 0));
  let failures = 1;
  const answer: typeof fetch = async (input) => {
    const url = new URL(String(input));
    if (url.pathname !== "/api/contexts") {
      return Response.json({ items: [] });
    }
    const from = Number(url.searchParams.get("cursor") ?? 0);
    if (from === 1_000 && failures-- > 0) {
      throw new TypeError("no network");
    }
    const to = from + Number(url.searchParams.get("limit"));
    const next = to < all.length ? { nextCursor: String(to) } : {};
    return Response.json({ items: all.slice(from, to), ...next });
  };
  const contextList = new ContextList(new ParleyApi({ url: "http://x", fetch: answer }), {
    everyMs: 1,
  });
  const until = async (done: (now: ContextListState) => boolean): Promise<void> => {
    while (!done(contextList.get())) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await until(({ loading }) => !loading);
  assert.equal(contextList.get().contexts.length, 200);
  assert.deepEqual(groupsOf(contextList.get(), "2499").done, []);
  contextList.setSearching(true);
  await until(({ searching, searched }) => !searching && searched.length > 0);
  assert.deepEqual(ids(groupsOf(contextList.get(), "2499").done), "c2499");
  assert.equal(groupsOf(contextList.get()).done.length, 200);
  contextList.setSearching(false);
  assert.equal(contextList.get().searched.length, 0);
  contextList.close();
});
