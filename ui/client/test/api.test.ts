import assert from "node:assert/strict";
import { test } from "node:test";
import { newKey, ParleyApi, ParleyError } from "../src/index.js";

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

function recording(
  answer: () => Response,
  options: { token?: string } = {},
): { api: ParleyApi; sent: Sent[] } {
  const sent: Sent[] = [];
  const api = new ParleyApi({
    url: "http://x/",
    ...options,
    fetch: async (input, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers));
      const body = init?.body === undefined ? undefined : JSON.parse(String(init.body));
      sent.push({ url: String(input), method: init?.method, headers, body });
      return answer();
    },
  });
  return { api, sent };
}

function problem(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): () => Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return () => new Response(text, { status, headers });
}

async function refusal(answer: () => Response): Promise<ParleyError> {
  try {
    await recording(answer).api.contexts();
  } catch (failure) {
    assert.ok(failure instanceof ParleyError);
    return failure;
  }
  return assert.fail("it was not refused");
}

test("a request has a token, a key and a body, and ids in its path are made safe", async () => {
  const { api, sent } = recording(() => Response.json({}), { token: "secret" });
  await api.send("a/b?c", { content: "hi" }, { idempotencyKey: "k" });
  await api.events("c", { after: "17.2", filter: { kinds: ["message", "error"], internal: true } });
  assert.deepEqual(sent, [
    {
      url: "http://x/api/contexts/a%2Fb%3Fc/messages",
      method: "POST",
      headers: {
        accept: "application/json",
        authorization: "Bearer secret",
        "content-type": "application/json",
        "idempotency-key": "k",
      },
      body: { content: "hi" },
    },
    {
      url: "http://x/api/contexts/c/events?after=17.2&kinds=message%2Cerror&internal=true",
      method: "GET",
      headers: { accept: "application/json", authorization: "Bearer secret" },
      body: undefined,
    },
  ]);
});

test("a problem has its code, its words and what else it says", async () => {
  const body = {
    title: "Conflict",
    detail: "the version is now 1",
    code: "version-mismatch",
    currentVersion: 1,
  };
  const error = await refusal(problem(409, body));
  assert.deepEqual(
    [error.status, error.code, error.message, error.retryable],
    [409, "version-mismatch", "the version is now 1", false],
  );
  assert.equal(error.problem["currentVersion"], 1);
});

test("a refusal that passes says when to come back", async () => {
  const error = await refusal(
    problem(429, { code: "queue-full", detail: "later" }, { "retry-after": "3" }),
  );
  assert.deepEqual([error.retryable, error.retryAfterMs], [true, 3000]);
});

test("what is no problem of ours is one all the same", async () => {
  for (const body of ["<html>", "", "[]", "null", '{"code": 7, "detail": null}']) {
    const error = await refusal(problem(502, body));
    assert.deepEqual(
      [error.status, error.code, error.message],
      [502, "unknown", "the server answered 502"],
    );
  }
});

test("no answer, and an answer that is not JSON, are told apart", async () => {
  const gone = await refusal(() => {
    throw new TypeError("fetch failed");
  });
  assert.deepEqual([gone.status, gone.code, gone.retryable], [0, "unreachable", true]);
  const other = await refusal(() => new Response("<html>"));
  assert.deepEqual([other.status, other.code, other.retryable], [200, "bad-answer", false]);
});

test("a request that is called off is no error of the server's", async () => {
  const leave = new AbortController();
  leave.abort();
  const api = new ParleyApi({ url: "http://127.0.0.1:1" });
  await assert.rejects(
    api.contexts({ signal: leave.signal }),
    (error: Error) => error.name === "AbortError",
  );
});

test("keys are new each time and fit in a header", () => {
  const keys = new Set(Array.from({ length: 100 }, newKey));
  assert.equal(keys.size, 100);
  assert.ok([...keys].every((key) => /^[0-9a-f]{32}$/.test(key)));
});
