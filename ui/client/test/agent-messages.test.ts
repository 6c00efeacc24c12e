import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { ParleyApi, ParleyError } from "../src/index.js";
import {
  type AgentMessage,
  AgentMessages,
  type AgentMessagesOptions,
  messagesOf,
} from "../src/compat/index.js";
import { Random, seeds } from "./random.js";
import { TestClock } from "./fake-server.js";

function message(
  sequenceNumber: number,
  agentId = "a",
  more: Partial<AgentMessage> = {},
): AgentMessage {
  const createdAt = new Date(sequenceNumber * 1000).toISOString();
  const id = `${agentId}-${sequenceNumber}`;
  return {
    id,
    agentId,
    sequenceNumber,
    type: "assistant",
    content: `n${sequenceNumber}`,
    createdAt,
    ...more,
  };
}

function messages(...numbers: number[]): AgentMessage[] {
  return numbers.map((number) => message(number));
}

/** A message store, a socket and a page that shows one agent. */
class Setup {
  readonly socket = new EventEmitter();
  readonly clock = new TestClock();
  readonly asked: [string, number][] = [];
  stored: AgentMessage[] = [];
  failures: Error[] = [];
  /** Fetches wait for this. */
  gate: Promise<void> = Promise.resolve();
  readonly page: AgentMessages;

  constructor(options: AgentMessagesOptions = {}) {
    const times = { clock: this.clock, random: () => 0.5 };
    this.page = new AgentMessages(this.load, this.socket, { ...times, ...options });
  }

  private readonly load = async (agentId: string, since: number): Promise<AgentMessage[]> => {
    this.asked.push([agentId, since]);
    await this.gate;
    const failure = this.failures.shift();
    if (failure !== undefined) {
      throw failure;
    }
    return this.stored.filter((one) => one.agentId === agentId && one.sequenceNumber > since);
  };

  live(...of: AgentMessage[]): void {
    for (const one of of) {
      this.socket.emit("agent:message", { agentId: one.agentId, message: one, timestamp: "" });
    }
  }

  numbers(): number[] {
    return this.page.get().messages.map((one) => one.sequenceNumber);
  }

  async shows(...numbers: number[]): Promise<void> {
    await settled(this.page, () => JSON.stringify(this.numbers()) === JSON.stringify(numbers));
  }
}

/** Waits until `check` holds. */
function settled(page: AgentMessages, check: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const leave = page.subscribe(() => done());
    const done = (): void => {
      if (check()) {
        leave();
        resolve();
      }
    };
    done();
  });
}

/** A promise that is resolved manually. */
function gate(): { closed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const closed = new Promise<void>((resolve) => (open = resolve));
  return { closed, open };
}

test("AGENT-66, AGENT-74: the history is loaded, and the last number remembered", async () => {
  const setup = new Setup();
  setup.stored = messages(1, 2, 3);
  assert.deepEqual([setup.page.get().loading, setup.page.get().messages], [false, []]);
  setup.page.select("a");
  assert.equal(setup.page.get().loading, true);
  await setup.shows(1, 2, 3);
  await settled(setup.page, () => !setup.page.get().loading);
  const { loading, error, refetch } = setup.page.get();
  assert.deepEqual(
    [loading, error, typeof refetch, setup.page.lastSequence],
    [false, null, "function", 3],
  );
  assert.deepEqual(setup.asked, [["a", 0]]);
});

test("AGENT-67, AGENT-68: a known id is ignored, the next number is appended", async () => {
  const setup = new Setup();
  setup.stored = messages(1, 2);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.live(message(2), message(3), message(3), message(4));
  assert.deepEqual(setup.numbers(), [1, 2, 3, 4]);
  assert.equal(setup.asked.length, 1);
});

test("AGENT-68, AGENT-69: a gap is fetched and merged, and the last number is the highest", async () => {
  const setup = new Setup();
  setup.stored = messages(1, 2, 3);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.stored = messages(1, 2, 3, 4, 5, 6);
  setup.live(message(5));
  await setup.shows(1, 2, 3, 4, 5, 6);
  assert.equal(setup.page.lastSequence, 6);
  assert.deepEqual(setup.asked, [
    ["a", 0],
    ["a", 3],
  ]);
  setup.live(message(6), message(7));
  assert.deepEqual(setup.numbers(), [1, 2, 3, 4, 5, 6, 7]);
});

test("AGENT-70: a late message that nobody knew is inserted in order", async () => {
  const setup = new Setup();
  setup.stored = messages(1, 3);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.live(message(2));
  assert.deepEqual(setup.numbers(), [1, 2, 3]);
  assert.equal(setup.page.lastSequence, 3);
});

test("AGENT-71: what arrives while the history loads is kept", async () => {
  const setup = new Setup();
  const { closed, open } = gate();
  setup.gate = closed;
  setup.stored = messages(1, 2);
  setup.page.select("a");
  setup.live(message(3), message(2), message(4));
  assert.deepEqual(setup.numbers(), []);
  open();
  await setup.shows(1, 2, 3, 4);
  assert.equal(setup.asked.length, 1);
});

test("AGENT-72: one fetch at a time, and what revealed a gap survives failures", async () => {
  const setup = new Setup();
  setup.stored = messages(1);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.failures = [new TypeError("fetch failed"), new ParleyError(503, "no", "not now")];
  setup.stored = messages(1, 2, 3, 4);
  const { closed, open } = gate();
  setup.gate = closed;
  setup.live(message(3), message(4), message(5), message(7));
  await new Promise(setImmediate);
  assert.equal(setup.asked.length, 2);
  open();
  await settled(setup.page, () => setup.page.get().error !== null);
  await setup.shows(1, 2, 3, 4, 5);
  assert.deepEqual(setup.clock.slept.slice(0, 2), [188, 375]);
  // 7 has not reached the store yet; it waits for 6.
  setup.live(message(6));
  assert.deepEqual(setup.numbers(), [1, 2, 3, 4, 5, 6, 7]);
});

test("a number that never comes does not hold up what follows for ever", async () => {
  const setup = new Setup({ attemptsMax: 3 });
  setup.stored = messages(1);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.live(message(3));
  await setup.shows(1, 3);
  await settled(setup.page, () => setup.page.get().error !== null);
  assert.equal(setup.page.lastSequence, 1);
  setup.stored = messages(1, 2, 3, 4);
  setup.live(message(4));
  await setup.shows(1, 2, 3, 4);
  await settled(setup.page, () => setup.page.get().error === null);
});

test("a hole that the store has too is no gap", async () => {
  const setup = new Setup();
  setup.stored = messages(1, 4);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.stored = messages(1, 4, 9);
  setup.live(message(9));
  await setup.shows(1, 4, 9);
  assert.deepEqual([setup.page.lastSequence, setup.asked.length], [9, 2]);
});

test("AGENT-73: messages of other agents are ignored, and another agent begins afresh", async () => {
  const setup = new Setup();
  const sent: unknown[] = [];
  setup.socket.on("subscribe", (payload) => sent.push(payload));
  setup.stored = [...messages(1, 2), message(1, "b")];
  setup.page.select("a");
  await setup.shows(1, 2);
  setup.live(message(3, "b"));
  assert.deepEqual(setup.numbers(), [1, 2]);
  setup.page.select("b");
  assert.deepEqual(
    [setup.numbers(), setup.page.get().loading, setup.page.lastSequence],
    [[], true, 0],
  );
  await setup.shows(1);
  assert.equal(setup.page.get().messages[0]?.agentId, "b");
  await settled(setup.page, () => sent.length === 2);
  assert.deepEqual(sent, [
    { agentId: "a", since: 2 },
    { agentId: "b", since: 1 },
  ]);
  setup.page.close();
  setup.live(message(2, "b"));
  assert.deepEqual([setup.numbers(), setup.socket.listenerCount("agent:message")], [[], 0]);
});

test("an answer for the agent that was shown before is not mixed in", async () => {
  const setup = new Setup();
  const { closed, open } = gate();
  setup.gate = closed;
  setup.stored = [...messages(1, 2), message(1, "b")];
  setup.page.select("a");
  setup.page.select("b");
  open();
  await setup.shows(1);
  await settled(setup.page, () => !setup.page.get().loading);
  assert.deepEqual(
    setup.page.get().messages.map((one) => one.id),
    ["b-1"],
  );
});

test("an agent that does not exist is an error, and refetch tries again", async () => {
  const setup = new Setup();
  setup.failures = [new ParleyError(404, "not-found", "no such agent")];
  setup.page.select("a");
  await settled(setup.page, () => setup.page.get().error !== null && !setup.page.get().loading);
  assert.equal(setup.page.get().error?.message, "no such agent");
  setup.stored = messages(1, 2);
  await setup.page.get().refetch();
  assert.deepEqual([setup.numbers(), setup.page.get().error], [[1, 2], null]);
});

test("AGENT-65: a socket that fell behind or came back makes it look for what it missed", async () => {
  const setup = new Setup();
  setup.stored = messages(1);
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  setup.stored = messages(1, 2, 3);
  setup.socket.emit("agent:gap", { agentId: "a", from: 2 });
  await setup.shows(1, 2, 3);
  setup.stored = messages(1, 2, 3, 4);
  setup.socket.emit("connect");
  await setup.shows(1, 2, 3, 4);
});

test("whatever is lost, doubled or out of order on the way, all messages are shown once, in order", async () => {
  for (const seed of seeds(150)) {
    const random = new Random(seed);
    const setup = new Setup({ attemptsMax: 1000 });
    const all = messages(...Array.from({ length: 30 }, (_, i) => i + 1));
    setup.stored = all.slice(0, random.int(10));
    setup.failures = Array.from({ length: random.int(4) }, () => new TypeError("fetch failed"));
    setup.page.select("a");
    const rest = all.slice(setup.stored.length);
    for (const [i, next] of rest.entries()) {
      setup.stored = [...setup.stored, next];
      const last = i === rest.length - 1;
      const sent = last || random.chance(0.7) ? [next] : [];
      const old = random.chance(0.3) ? [random.pick(all.slice(0, setup.stored.length))] : [];
      setup.live(...random.shuffled([...sent, ...old]));
      if (random.chance(0.5)) {
        await Promise.resolve();
      }
    }
    await setup.shows(...all.map((one) => one.sequenceNumber));
  }
});

test("a page that ends early because its messages are long is not the last", async () => {
  const pages = [messages(1, 2), messages(3)];
  const answer: typeof fetch = async () => {
    const headers =
      pages.length > 1 ? { link: '</api/agents/a/messages?since=2>; rel="next"' } : undefined;
    return Response.json(pages.shift(), headers && { headers });
  };
  const load = messagesOf(new ParleyApi({ url: "http://x", fetch: answer }));
  assert.deepEqual(await load("a", 0, new AbortController().signal), messages(1, 2, 3));
});

test("messages are loaded a page at a time", async () => {
  const asked: string[] = [];
  const all = messages(...Array.from({ length: 2500 }, (_, i) => i + 1));
  const answer: typeof fetch = async (input) => {
    const url = new URL(String(input));
    asked.push(url.pathname + url.search);
    const since = Number(url.searchParams.get("since"));
    return Response.json(all.slice(since, since + Number(url.searchParams.get("limit"))));
  };
  const load = messagesOf(new ParleyApi({ url: "http://x", fetch: answer }));
  assert.deepEqual(await load("a", 10, new AbortController().signal), all.slice(10));
  assert.deepEqual(asked, [
    "/api/agents/a/messages?since=10&limit=1000",
    "/api/agents/a/messages?since=1010&limit=1000",
    "/api/agents/a/messages?since=2010&limit=1000",
  ]);
});

test("AGENT-66: an agent may have more messages than a call can have arguments", async () => {
  const setup = new Setup();
  const count = 200_000;
  setup.stored = Array.from({ length: count }, (_, i) => message(i + 1));
  setup.page.select("a");
  await settled(setup.page, () => !setup.page.get().loading);
  assert.deepEqual(
    [setup.page.get().messages.length, setup.page.lastSequence, setup.page.get().error],
    [count, count, null],
  );
});

test("AGENT-66: a connection that comes back is told only what follows the last message", async () => {
  const setup = new Setup();
  const sent: unknown[] = [];
  setup.socket.on("subscribe", (payload) => sent.push(payload));
  setup.stored = messages(1, 2);
  setup.page.select("a");
  await setup.shows(1, 2);
  setup.live(message(3));
  setup.socket.emit("connect");
  assert.deepEqual(sent, [
    { agentId: "a", since: 2 },
    { agentId: "a", since: 3 },
  ]);
});

test("a server that does not know since is asked again when it has confirmed", async () => {
  const setup = new Setup();
  setup.stored = messages(1);
  setup.page.select("a");
  await setup.shows(1);
  // This message arrived between the history and the subscription.
  setup.stored = messages(1, 2);
  setup.socket.emit("subscribed", { agentId: "a", messageCount: 1 });
  assert.equal(setup.asked.length, 1);
  setup.socket.emit("subscribed", { agentId: "a" });
  await setup.shows(1, 2);
});

test("AGENT-66: messages are copied only when somebody reads them, and stay as they were read", async () => {
  const setup = new Setup();
  setup.stored = messages(1);
  setup.page.select("a");
  await setup.shows(1);
  const { slice } = Array.prototype;
  let copied = 0;
  Array.prototype.slice = function (this: unknown[], ...range) {
    copied += 1;
    return slice.apply(this, range);
  };
  try {
    for (let number = 2; number <= 1000; number++) {
      setup.live(message(number));
    }
    assert.equal(copied, 0);
    const before = setup.page.get().messages;
    assert.deepEqual([before.length, copied], [1000, 1]);
    assert.equal(setup.page.get().messages, before);
    setup.live(message(1001));
    assert.deepEqual([before.length, setup.page.get().messages.length], [1000, 1001]);
  } finally {
    Array.prototype.slice = slice;
  }
});
