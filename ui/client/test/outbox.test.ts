import assert from "node:assert/strict";
import { test } from "node:test";
import { isFolderError, Outbox, ParleyApi, ParleyError } from "../src/index.js";
import { TestClock } from "./fake-server.js";

interface Request {
  readonly content: string;
  readonly key: string;
}

/** A server that handles each message with `take`; `got` contains the received messages. */
function stage(take: (request: Request) => Promise<Response>) {
  const got: Request[] = [];
  const fetched: typeof fetch = async (_, init) => {
    const { content } = JSON.parse(String(init?.body)) as { content: string };
    const key = new Headers(init?.headers).get("idempotency-key") ?? "";
    got.push({ content, key });
    return take({ content, key });
  };
  const clock = new TestClock(0);
  const outbox = new Outbox(new ParleyApi({ url: "http://x", fetch: fetched }), "c", clock);
  const contents = (): string => got.map((one) => one.content).join(" ");
  return { got, contents, clock, outbox };
}

const taken = ({ content }: Request): Response =>
  Response.json({ contextId: "c", messageId: `m-${content}`, taskId: "t", seq: 1 });
const nobody = (): never => {
  throw new TypeError("fetch failed");
};

/** Waits until a store's value matches. */
function until(outbox: Outbox, check: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (check()) {
        leave();
        resolve();
      }
    };
    const leave = outbox.subscribe(look);
    look();
  });
}

test("what is said arrives in the order in which it was said", async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { outbox, contents } = stage(async (request) => {
    await gate;
    return taken(request);
  });
  const sent = ["a", "b", "c"].map((content) => outbox.send({ content }));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(contents(), "a");
  open();
  assert.deepEqual(await Promise.all(sent), [true, true, true]);
  assert.equal(contents(), "a b c");
});

test("what no server took is tried again by itself, with the same key and in order", async () => {
  let there = false;
  const { outbox, got, contents, clock } = stage(async (one) => (there ? taken(one) : nobody()));
  assert.equal(await outbox.send({ content: "a" }), false);
  assert.equal(await outbox.send({ content: "b" }), false);
  const waiting = outbox.get();
  assert.deepEqual(
    waiting.map((one) => [one.message.content, one.waiting, one.error?.message]),
    [
      ["a", true, "cannot reach the server: fetch failed"],
      ["b", true, "cannot reach the server: fetch failed"],
    ],
  );
  there = true;
  got.length = 0;
  clock.pass();
  await until(outbox, () => !outbox.unsent);
  assert.equal(contents(), "a b");
  assert.deepEqual(
    got.map((one) => one.key),
    waiting.map((one) => one.key),
  );
  assert.ok(outbox.get().every((one) => !one.waiting && one.error === undefined));
});

test("what waits is tried at once when there is reason to", async () => {
  let there = false;
  const { outbox } = stage(async (one) => (there ? taken(one) : nobody()));
  await outbox.send({ content: "a" });
  there = true;
  outbox.retryNow();
  await until(outbox, () => !outbox.unsent);
});

test("what was refused is not tried again by itself, and holds up nothing", async () => {
  const refused = Response.json({ code: "invalid", detail: "too long" }, { status: 400 });
  const { outbox, contents, clock } = stage(async (one) =>
    one.content === "a" ? refused : taken(one),
  );
  assert.equal(await outbox.send({ content: "a" }), false);
  assert.equal(await outbox.send({ content: "b" }), true);
  outbox.retryNow();
  clock.pass();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(contents(), "a b");
  const [left] = outbox.get();
  assert.deepEqual([left?.waiting, left?.error?.message], [false, "too long"]);
});

test("what is given up while it waits is not sent", async () => {
  let there = false;
  const { outbox, got, contents, clock } = stage(async (one) => (there ? taken(one) : nobody()));
  await outbox.send({ content: "a" });
  await outbox.send({ content: "b" });
  assert.equal(outbox.discard(outbox.get()[0]?.key ?? ""), "a");
  there = true;
  got.length = 0;
  clock.pass();
  await until(outbox, () => !outbox.unsent);
  assert.equal(contents(), "b");
});

test("what is under way cannot be given up: it may be there already", async () => {
  let answer: (response: Response) => void = () => undefined;
  const { outbox } = stage(() => new Promise((resolve) => (answer = resolve)));
  const sent = outbox.send({ content: "a" });
  await until(outbox, () => outbox.get()[0]?.sending === true);
  const key = outbox.get()[0]?.key ?? "";
  assert.equal(outbox.discard(key), undefined);
  answer(Response.json({ contextId: "c", messageId: "m", taskId: "t", seq: 1 }));
  assert.equal(await sent, true);
  assert.equal(outbox.get().length, 1);
});

test("a request that is never answered is made again, with the same key", async () => {
  let silent = true;
  const { outbox, got, clock } = stage((one) =>
    silent ? new Promise(() => undefined) : Promise.resolve(taken(one)),
  );
  const sent = outbox.send({ content: "a" });
  await until(outbox, () => outbox.get()[0]?.sending === true);
  silent = false;
  clock.pass();
  assert.equal(await sent, false);
  assert.match(outbox.get()[0]?.error?.message ?? "", /the request timed out/);
  clock.pass();
  await until(outbox, () => !outbox.unsent);
  assert.equal(new Set(got.map((one) => one.key)).size, 1);
  assert.equal(got.length, 2);
});

test("one at which the server always fails is let go of, and the others get there", async () => {
  const broken = () => Response.json({ code: "internal", detail: "oops" }, { status: 500 });
  const { outbox, clock } = stage(async (one) => (one.content === "a" ? broken() : taken(one)));
  void outbox.send({ content: "a" });
  void outbox.send({ content: "b" });
  const waits = (): boolean => outbox.get().some((one) => one.messageId === "m-b");
  while (!waits()) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass();
  }
  const [left] = outbox.get();
  assert.deepEqual([left?.waiting, left?.error?.message], [false, "oops"]);
});

test("what was closed tries nothing again", async () => {
  const { outbox, got, clock } = stage(async () => nobody());
  await outbox.send({ content: "a" });
  outbox.close();
  clock.pass();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(got.length, 1);
});

test("a message that another request has delivered waits for the log, and is not sent", async () => {
  const { outbox, got } = stage(async (request) => taken(request));
  outbox.addAccepted({ content: "first" }, "m-first");
  assert.equal(outbox.unsent, false);
  assert.equal(await outbox.send({ content: "second" }), true);
  assert.deepEqual(
    got.map((one) => one.content),
    ["second"],
  );
  outbox.removeDelivered(new Set(["m-first"]));
  assert.deepEqual(
    outbox.get().map((one) => one.message.content),
    ["second"],
  );
});

test("a rejected message is sent in another folder, in its place and with another key", async () => {
  const bodies: unknown[] = [];
  const keys = new Set<string>();
  const answer: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    keys.add(new Headers(init?.headers).get("idempotency-key") ?? "");
    return bodies.length === 1
      ? Response.json({ code: "invalid-working-directory", detail: "gone" }, { status: 400 })
      : taken({ content: "a", key: "" });
  };
  const outbox = new Outbox(new ParleyApi({ url: "http://x", fetch: answer }), "c");
  assert.equal(await outbox.send({ content: "a", agentId: "b" }), false);
  const [failed] = outbox.get();
  assert.ok(isFolderError(failed?.error));
  assert.equal(await outbox.sendChanged(failed?.key ?? "", { workingDirectory: "/srv" }), true);
  assert.deepEqual(bodies[1], { content: "a", agentId: "b", workingDirectory: "/srv" });
  assert.equal(keys.size, 2);
  assert.equal(outbox.get().length, 1);
});

test("only the errors of a folder are errors of a folder", () => {
  const failed = (code: string, message: string) => ({ code, message, retryable: false });
  assert.ok(isFolderError(failed("invalid_input", "workingDirectory does not exist: /gone.")));
  assert.ok(!isFolderError(failed("invalid_input", "the conversation is too long")));
  assert.ok(!isFolderError(failed("tool_failed", "workingDirectory does not exist: /gone.")));
  assert.ok(!isFolderError(new ParleyError(400, "invalid", "workingDirectory")));
  assert.ok(!isFolderError(new Error("workingDirectory does not exist")));
  assert.ok(!isFolderError(undefined));
});
