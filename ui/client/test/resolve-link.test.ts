import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveLink, type LinkTarget, ParleyApi, ParleyError } from "../src/index.js";
import { counting, LogServer } from "./log-server.js";

const { signal } = new AbortController();
const NOTHING: LinkTarget = { seq: undefined, taskId: undefined };
const target = (of: Partial<LinkTarget>): LinkTarget => ({ ...NOTHING, ...of });

function refusing(status: number, code: string): ParleyApi {
  const answer: typeof fetch = async () => Response.json({ code, detail: "no" }, { status });
  return new ParleyApi({ url: "http://x", fetch: answer });
}

test("a link to an event knows the event, and the task that it is of", async () => {
  const { api } = new LogServer(counting(10));
  const found = await resolveLink(api, "c", target({ seq: 6 }), signal);
  assert.deepEqual([found?.seq, found?.taskId, found?.event?.kind], [6, "t", "content-delta"]);
  assert.equal(await resolveLink(api, "c", target({ seq: 15 }), signal), undefined);
  assert.equal(await resolveLink(api, "c", target({}), signal), undefined);
});

test("what the server does not know is nowhere, and what it cannot say now is not", async () => {
  const unknown = refusing(404, "not-found");
  assert.equal(await resolveLink(unknown, "c", target({ taskId: "nope" }), signal), undefined);
  const ahead = refusing(400, "cursor-ahead");
  assert.equal(await resolveLink(ahead, "c", target({ seq: 9_999 }), signal), undefined);
  const away = resolveLink(refusing(503, "busy"), "c", target({ taskId: "t" }), signal);
  await assert.rejects(away, (failure: unknown) => failure instanceof ParleyError);
});
