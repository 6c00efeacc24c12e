import assert from "node:assert/strict";
import { test } from "node:test";
import { Conversation, type ConversationState, ParleyApi, view } from "../src/index.js";
import { opening, TestClock } from "./fake-server.js";

const TIME = "2026-11-15T12:00:00.000Z";
const message = (seq: number, messageId: string, content: string) => ({
  kind: "message",
  seq,
  eventId: `e${seq}`,
  contextId: "c",
  timestamp: TIME,
  messageId,
  role: "user",
  content,
});
const frame = (event: { seq: number; kind: string }): string =>
  `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;

/** A server with three messages; `answer` responds to requests. */
function stage(answer: (path: string, body: unknown) => Promise<Response>) {
  let push: (text: string) => void = () => undefined;
  const encoder = new TextEncoder();
  const log = [
    { ...message(1, "", ""), kind: "context-created", owner: "local" },
    message(2, "m2", "alpha"),
    message(3, "m3", "beta"),
    message(4, "m4", "gamma"),
  ];
  const answered: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname;
    if (init?.method !== undefined && init.method !== "GET") {
      return answer(path, JSON.parse(String(init.body ?? "null")));
    }
    if (path === "/api/contexts/c") {
      return Response.json({ contextId: "c", position: log.length });
    }
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        push = (text) => stream.enqueue(encoder.encode(text));
        push(opening("0") + log.map(frame).join(""));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const api = new ParleyApi({ url: "http://x", fetch: answered });
  const conversation = new Conversation(api, "c", { clock: new TestClock() });
  return { api, conversation, push: (text: string) => push(text) };
}

function until(
  conversation: Conversation,
  check: (state: ConversationState) => boolean,
): Promise<ConversationState> {
  return new Promise((resolve) => {
    const leave = conversation.subscribe(() => look());
    const look = (): void => {
      if (check(conversation.get())) {
        leave();
        resolve(conversation.get());
      }
    };
    look();
  });
}

const texts = ({ shown }: ConversationState): string =>
  (shown === undefined ? [] : view(shown).conversation)
    .map((one) => (one.kind === "message" ? one.message.content : one.text))
    .join(" ");
const REFUSED = () => Response.json({ code: "busy", detail: "a task runs" }, { status: 409 });

test("SESSION-28, SESSION-29: going back is shown at once, and undone when it is refused", async () => {
  let refuse = (): void => undefined;
  const { conversation } = stage(async () => {
    await new Promise<void>((resolve) => (refuse = resolve));
    return REFUSED();
  });
  await until(conversation, (state) => texts(state) === "alpha beta gamma");
  const done = conversation.rewind({ messageId: "m3", seq: 3 });
  assert.equal(texts(conversation.get()), "alpha");
  await new Promise((resolve) => setTimeout(resolve, 0));
  refuse();
  assert.equal(await done, false);
  assert.equal(texts(conversation.get()), "alpha beta gamma");
  assert.equal(conversation.get().refused, "a task runs");
  conversation.dismiss();
  assert.equal(conversation.get().refused, undefined);
  conversation.close();
});

test("SESSION-27: what went back stays so when the log says it", async () => {
  const { conversation, push } = stage(async () => Response.json({ contextId: "c", seq: 5 }));
  await until(conversation, (state) => texts(state) === "alpha beta gamma");
  assert.equal(await conversation.rewind({ messageId: "m3", seq: 3 }), true);
  assert.equal(texts(conversation.get()), "alpha");
  push(frame({ ...message(5, "", ""), kind: "context-rewound", toSeq: 2 } as never));
  const state = await until(conversation, ({ context }) => context?.seq === 5);
  assert.equal(texts(state), "alpha");
  assert.equal(state.shown, state.context);
  conversation.close();
});

test("what is said after going back gets there after it, and only if it was done", async () => {
  let answer: (response: Response) => void = () => undefined;
  const asked: string[] = [];
  const { conversation } = stage(async (path) => {
    asked.push(path.replace(/.*\//, ""));
    if (path.endsWith("/rewind")) {
      return new Promise<Response>((resolve) => (answer = resolve));
    }
    return Response.json({ contextId: "c", messageId: "m5", taskId: "t", seq: 5 });
  });
  await until(conversation, (state) => texts(state) === "alpha beta gamma");
  for (const response of [REFUSED(), Response.json({ contextId: "c", seq: 5 })]) {
    asked.length = 0;
    const back = conversation.rewind({ messageId: "m3", seq: 3 });
    const said = conversation.send({ content: "delta" });
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.deepEqual(asked, ["rewind"]);
    answer(response);
    assert.deepEqual([await back, await said], [response.ok, response.ok]);
    assert.deepEqual(asked, response.ok ? ["rewind", "messages"] : ["rewind"]);
  }
  const [refused] = conversation.get().outgoing;
  assert.match(refused?.error?.message ?? "", /^not sent/);
  assert.equal(refused?.waiting, false);
  conversation.close();
});

test("what could not be sent is there again in the next look at its conversation", async () => {
  const { api, conversation } = stage(async () => REFUSED());
  await until(conversation, (state) => texts(state) === "alpha beta gamma");
  const { outbox } = conversation;
  const sent = conversation.send({ content: "delta" });
  conversation.close();
  await sent;
  assert.equal(outbox.unsent, true);
  const again = new Conversation(api, "c", { outbox, clock: new TestClock() });
  const [waiting] = again.get().outgoing;
  assert.deepEqual([waiting?.message.content, waiting?.error?.message], ["delta", "a task runs"]);
  again.discard(waiting?.key ?? "");
  assert.equal(outbox.unsent, false);
  again.close();
});

test("what is said is shown until the log has it, and stays with a reason if it fails", async () => {
  let works = false;
  const keys: unknown[] = [];
  const { conversation, push } = stage(async (_, body) => {
    keys.push(body);
    return works
      ? Response.json({ contextId: "c", messageId: "m5", taskId: "t", seq: 5 })
      : REFUSED();
  });
  await until(conversation, (state) => texts(state) === "alpha beta gamma");
  await conversation.send({ content: "delta" });
  const [failed] = conversation.get().outgoing;
  assert.equal(failed?.error?.message, "a task runs");
  works = true;
  await conversation.sendAgain(failed?.key ?? "");
  assert.equal(conversation.get().outgoing.length, 1);
  push(frame(message(5, "m5", "delta")));
  const state = await until(conversation, ({ context }) => context?.seq === 5);
  assert.deepEqual([state.outgoing.length, texts(state)], [0, "alpha beta gamma delta"]);
  works = false;
  await conversation.send({ content: "epsilon" });
  assert.equal(conversation.discard(conversation.get().outgoing[0]?.key ?? ""), "epsilon");
  assert.deepEqual(conversation.get().outgoing, []);
  assert.equal(keys.length, 3);
  conversation.close();
});
