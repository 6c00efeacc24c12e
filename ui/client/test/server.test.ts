import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  emptyContext,
  fromSnapshot,
  LiveContext,
  newKey,
  ParleyApi,
  type ParleyError,
  type ParleyEvent,
  corrected,
  reduceAll,
  streamContext,
  TaskStream,
  timelineOf,
  view,
  type ContextView,
  type WorkflowEvent,
} from "../src/index.js";
import { AgentMessages, aggregateTokens, messagesOf } from "../src/compat/index.js";
import { blocks } from "./guides.js";
import { Random } from "./random.js";
import { NO_SERVER, Server } from "./server.js";
import { shownOf } from "./snapshot-of.js";
import { FAST_CLOCK } from "./fake-server.js";
import { shape } from "./timeline-cases.js";

const AGENT = "agent-code";
const PATIENCE_MS = 60_000;

/** Cuts every stream after a while, like a bad mobile connection. */
function cutting(random: Random): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get("content-type") !== "text/event-stream" || response.body === null) {
      return response;
    }
    let left = 300 + random.int(3000);
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.slice(0, left));
        left -= chunk.length;
        if (left <= 0) {
          controller.error(new TypeError("terminated"));
        }
      },
    });
    return new Response(response.body.pipeThrough(cut), { headers: response.headers });
  };
}

/** Waits until a live context shows something. */
function until(live: LiveContext, check: (shown: ContextView) => boolean): Promise<ContextView> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const { context, error } = live.get();
      if (error !== undefined) {
        leave();
        reject(error);
      } else if (context !== undefined && !context.stale && check(view(context))) {
        leave();
        resolve(view(context));
      }
    };
    const leave = live.subscribe(look);
    look();
  });
}

function texts(shown: ContextView): string[] {
  return shown.conversation.flatMap((one) => (one.kind === "message" ? [one.message.content] : []));
}

async function allEvents(api: ParleyApi, contextId: string): Promise<ParleyEvent[]> {
  const events: ParleyEvent[] = [];
  for (let after: number | string = 0, more = true; more; ) {
    const page = await api.events(contextId, { after, filter: { internal: true } });
    events.push(...page.events);
    after = page.position;
    more = page.hasMore;
  }
  return events;
}

type Created = Extract<ParleyEvent, { kind: "task-created" }>;

/** The ids of the tasks that fit. */
function tasksOf(events: readonly ParleyEvent[], fits: (task: Created) => boolean): Set<string> {
  const created = events.filter((event) => event.kind === "task-created");
  return new Set(created.filter(fits).map((event) => event.taskId ?? ""));
}

describe("with a real server", { skip: NO_SERVER }, () => {
  let server: Server;
  let api: ParleyApi;

  before(async () => {
    server = await Server.start();
    api = new ParleyApi({ url: server.url });
  });

  after(() => server.stop());

  async function say(
    contextId: string,
    content: string,
    more: object = { agentId: AGENT },
  ): Promise<string> {
    const stream = await TaskStream.send(api, contextId, { content, ...more });
    return stream.text();
  }

  test("a stream that is cut again and again gives every event once", async () => {
    const random = new Random(1);
    const shaky = new ParleyApi({ url: server.url, fetch: cutting(random) });
    const { contextId } = await api.createContext();
    const message = { content: "count to 60", agentId: AGENT };
    const options = { clock: FAST_CLOCK };
    const stream = await TaskStream.send(shaky, contextId, message, options);
    const seen: ParleyEvent[] = [];
    for await (const event of stream) {
      seen.push(event);
    }
    assert.equal(stream.outcome, "completed");
    assert.ok(stream.state.reconnects > 2, `${stream.state.reconnects} reconnects`);
    const all = await api.events(contextId, {
      limit: 1000,
      filter: { rootTaskId: stream.accepted.taskId },
    });
    assert.deepEqual(
      seen.map((event) => event.eventId),
      all.events.map((event) => event.eventId),
    );
    const said = seen.map((event) => (event.kind === "content-delta" ? event.delta : "")).join("");
    assert.equal(said, (await api.task(contextId, stream.accepted.taskId)).content);
  });

  test("events and streams are filtered by parent task, agent and invocation", async () => {
    const { contextId } = await api.createContext();
    await say(contextId, "delegate tea to agent-research and agent-writer");
    const { events } = await api.events(contextId, { limit: 1000 });
    const root = events.find((event) => event.kind === "task-created");
    const child = events.find((event) => event.kind === "task-created" && event.parentTaskId);
    const parentTaskId = root?.taskId ?? "";
    const invocationId = child?.invocationId ?? "";
    const below = tasksOf(events, (task) => task.parentTaskId === parentTaskId);
    const written = tasksOf(events, (task) => task.agentId === "agent-writer");
    const called = tasksOf(events, (task) => task.invocationId === invocationId);
    assert.equal(below.size, 2);
    assert.equal(written.size, 1);
    assert.ok(called.size > 0 && !called.has(parentTaskId));
    for (const [filter, tasks] of [
      [{ parentTaskId }, below],
      [{ agentId: "agent-writer" }, written],
      [{ invocationId }, called],
    ] as const) {
      const wanted = events.filter((event) => tasks.has(event.taskId ?? ""));
      const read = await api.events(contextId, { limit: 1000, filter });
      assert.deepEqual(read.events, wanted, JSON.stringify(filter));
      const streamed: ParleyEvent[] = [];
      for await (const event of streamContext(api, contextId, { filter })) {
        streamed.push(event);
        if (event.seq >= (wanted.at(-1)?.seq ?? 0)) {
          break;
        }
      }
      assert.deepEqual(streamed, wanted, JSON.stringify(filter));
    }
  });

  test("an approval is shown, answered and gone, over a shaky line", async () => {
    const shaky = new ParleyApi({ url: server.url, fetch: cutting(new Random(2)) });
    const { contextId } = await api.createContext();
    const live = new LiveContext(shaky, contextId, { clock: FAST_CLOCK });
    try {
      await api.send(
        contextId,
        { content: "run echo hello", agentId: AGENT },
        { idempotencyKey: newKey() },
      );
      const asked = await until(
        live,
        (shown) => shown.pendingInputs.length === 1 && shown.active?.status === "waiting-input",
      );
      const question = asked.pendingInputs[0];
      assert.equal(question?.inputType, "confirmation");
      const inbox = await api.inbox();
      assert.ok(inbox.items.some((item) => item.inputId === question?.inputId));
      await api.answer(contextId, question?.inputId ?? "", true);
      const ended = await until(live, (shown) => shown.tasks[0]?.status === "completed");
      assert.deepEqual(ended.pendingInputs, []);
      assert.deepEqual(
        ended.tasks[0]?.calls.map((call) => call.status),
        ["succeeded"],
      );
      assert.match(texts(ended).at(-1) ?? "", /hello/);
      const late = api.answer(contextId, question?.inputId ?? "", false);
      await assert.rejects(
        late,
        (error: ParleyError) => error.status === 409 && error.code === "not-wanted",
      );
    } finally {
      live.close();
    }
  });

  test("a rewind takes back what was said, also for those who know a snapshot only", async () => {
    const { contextId } = await api.createContext();
    await say(contextId, "say left");
    await say(contextId, "say right");
    const started = new LiveContext(api, contextId, { from: "start" });
    const snapped = new LiveContext(api, contextId);
    try {
      const both = [started, snapped];
      await Promise.all(both.map((live) => until(live, (shown) => texts(shown).length === 4)));
      const second = (await api.messages(contextId)).items[2];
      await api.rewind(contextId, { beforeMessageId: second?.messageId ?? "" });
      const [full, short] = await Promise.all(
        both.map((live) => until(live, (shown) => texts(shown).length === 2)),
      );
      assert.deepEqual(full && texts(full), ["say left", "left"]);
      assert.deepEqual(short && texts(short), ["say left", "left"]);
      assert.deepEqual(
        full?.branches[0]?.messages.map((one) => one.content),
        ["say right", "right"],
      );
      await api.rewindAndSend(contextId, { toSeq: 1 }, { content: "say up", agentId: AGENT });
      await Promise.all(
        both.map((live) => until(live, (shown) => texts(shown).join() === "say up,up")),
      );
    } finally {
      started.close();
      snapped.close();
    }
  });

  test("at every position the server's snapshot is what the events up to there make, corrected", async () => {
    const { contextId } = await api.createContext({ metadata: { a: 1 } });
    await say(contextId, "count to 5");
    await say(contextId, "say hi", { strategy: "parallel" });
    const file = { text: "Hello.", name: "notes.md" };
    await api.writeArtifact(contextId, "notes", file);
    await api.writeArtifact(contextId, "notes", { text: "Hello again.", expectedVersion: 1 });
    const messages = (await api.messages(contextId)).items;
    await api.editMessage(contextId, messages[0]?.messageId ?? "", "say bye");
    await api.deleteMessage(contextId, messages[1]?.messageId ?? "");
    const middle = (await api.context(contextId)).position;
    await say(contextId, "say gone");
    await api.rewind(contextId, { toSeq: Number(middle) });
    await api.rewind(contextId, { toSeq: 1 });
    await api.rewind(contextId, { toSeq: Number(middle) });
    await say(contextId, "say again");

    const events = await allEvents(api, contextId);
    const last = events.at(-1)?.seq ?? 0;
    const end = shownOf(view(reduceAll(emptyContext(contextId), events)));
    let stale = 0;
    for (let at = 1; at <= last; at++) {
      const snapshot = await api.snapshot(contextId, { at });
      // The server's snapshot is after the internal events of its last public one, or before them.
      const upTo = events.filter(
        (event) => event.seq <= at && (event.k === undefined || event.seq < at),
      );
      // Past messages include later corrections.
      const mine = corrected(reduceAll(emptyContext(contextId), upTo), events);
      const known = fromSnapshot(snapshot);
      assert.deepEqual(
        withoutPlace(shownOf(view(known))),
        withoutPlace(shownOf(view(mine))),
        `at ${at}`,
      );
      const later = reduceAll(known, events);
      stale += later.stale ? 1 : 0;
      if (!later.stale) {
        assert.deepEqual(shownOf(view(later)), end, `after ${at}`);
      }
    }
    assert.ok(stale > 0 && stale < last);
  });

  test("the example of the README prints what that says", async () => {
    const program = fileURLToPath(new URL("example.js", import.meta.url));
    const options = { env: { ...process.env, PARLEY_URL: server.url }, timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [program], options);
    assert.deepEqual(blocks("README.md", "text"), [stdout]);
  });

  test("AGENT-66, AGENT-75: all messages of an agent are shown, also where no socket tells of them", async () => {
    const launch = { type: AGENT, prompt: "count to 20" };
    const call = { method: "POST", path: "/api/agents", body: launch } as const;
    const { agentId } = await api.http.json<{ agentId: string }>(call);
    const socket = new EventEmitter();
    const output = new AgentMessages(messagesOf(api), socket);
    output.select(agentId);
    const ended = (): boolean => output.get().messages.some((one) => one.type === "response");
    while (!ended()) {
      await output.get().refetch();
    }
    const { messages } = output.get();
    output.close();
    assert.deepEqual(
      messages.map((one) => one.sequenceNumber),
      messages.map((_, i) => i + 1),
    );
    const said = aggregateTokens(messages).find((one) => one.pieces > 1);
    assert.equal(said?.content, messages.at(-1)?.content);
  });

  test("both formats of the server give the same timeline, with sub-agents in it", async () => {
    const { contextId } = await api.createContext();
    await say(contextId, "say hi", { strategy: "parallel" });
    const native = await api.events(contextId, { limit: 1000, filter: { internal: true } });
    const workflow = await api.http.json<{ events: WorkflowEvent[] }>({
      path: `/api/contexts/${contextId}/events`,
      query: { limit: 1000, format: "workflow", debug: 1 },
    });
    const expected = shape(timelineOf(native.events));
    assert.deepEqual(shape(timelineOf(workflow.events)), expected);
    assert.ok(expected.items.some((item) => typeof item === "object" && item.threads.length > 0));
  });

  test("requests count once, refusals are typed, and the remaining endpoints answer", async () => {
    const { contextId } = await api.createContext({ title: "All" }, { idempotencyKey: newKey() });
    const once = { idempotencyKey: newKey() };
    const first = await api.send(
      contextId,
      { content: "count slowly to 400", agentId: AGENT },
      once,
    );
    assert.deepEqual(
      await api.send(contextId, { content: "count slowly to 400", agentId: AGENT }, once),
      first,
    );
    const other = api.send(contextId, { content: "other" }, once);
    await assert.rejects(other, (error: ParleyError) => error.code === "idempotency-key-reused");
    const busy = api.send(contextId, { content: "no", whenBusy: "reject" });
    await assert.rejects(
      busy,
      (error: ParleyError) => error.status === 409 && error.code === "busy" && !error.retryable,
    );
    assert.deepEqual(await api.contextOfTask(first.taskId), { contextId, taskId: first.taskId });
    const canceled = await api.cancelTask(contextId, first.taskId);
    assert.equal(canceled.taskId, first.taskId);
    const noTool = api.cancelTool(contextId, first.taskId, "x");
    await assert.rejects(noTool, (error: ParleyError) => error.status === 404);
    assert.equal((await api.updateContext(contextId, { title: "New" })).title, "New");
    assert.ok((await api.agentTypes()).items.some((one) => one.id === AGENT));
    assert.equal((await api.tasks(contextId)).items.length, 1);
    await api.writeArtifact(contextId, "a b".replace(" ", "-"), { data: { n: 1 } });
    assert.deepEqual(
      (await api.artifacts(contextId)).items.map((one) => one.artifactId),
      ["a-b"],
    );
    assert.deepEqual(await (await api.artifactContent(contextId, "a-b")).json(), { n: 1 });
    const fork = await api.fork(contextId, { title: "Fork", atSeq: 2 });
    assert.deepEqual(fork.forkedFrom, { contextId, atSeq: 2 });
    const shown = fromSnapshot(await api.snapshot(fork.contextId));
    assert.deepEqual([shown.title, shown.forkedFrom?.contextId], ["Fork", contextId]);
    await api.deleteContext(fork.contextId);
    const gone = api.context(fork.contextId);
    await assert.rejects(
      gone,
      (error: ParleyError) => error.status === 410 && error.code === "gone",
    );
    const nothing = new LiveContext(api, "no-such-context");
    await assert.rejects(
      until(nothing, () => false),
      (error: ParleyError) => error.status === 404,
    );
  });
});

function withoutPlace(shown: unknown): unknown {
  const { position: _, ...rest } = shown as Record<string, unknown>;
  return rest;
}
