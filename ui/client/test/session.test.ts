import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type A2AMessage,
  EMPTY_SESSION,
  joined,
  loadSession,
  reduceSession,
  rewindFailed,
  rewindTo,
  sent,
  type SessionState,
  shown,
  textOf,
} from "../src/compat/index.js";

function message(id: string, turn = id, role: "user" | "agent" = "agent"): A2AMessage {
  const metadata = { kagent_invocation_id: turn };
  return { kind: "message", messageId: id, role, parts: [{ kind: "text", text: id }], metadata };
}

const [A, B, C] = [message("A", "1"), message("B", "2"), message("C", "3")];
const LOADED: SessionState = { ...EMPTY_SESSION, stored: [A, B, C] };
const STREAMING: SessionState = {
  ...LOADED,
  stored: [A],
  streaming: [B],
  text: "half a wo",
  isStreaming: true,
  status: "working",
};

function status(state: string, said?: object, more: object = {}): object {
  const now = { state, ...(said === undefined ? {} : { message: said }) };
  return { kind: "status-update", taskId: "t", contextId: "c", status: now, final: false, ...more };
}

function words(text: string, more: object = {}): object {
  const parts = [{ kind: "text", text }];
  return { kind: "message", messageId: `w-${text}`, role: "agent", parts, ...more };
}

function artifact(text: string, more: object = {}): object {
  const held = { artifactId: "a", parts: [{ kind: "text", text }] };
  return { kind: "artifact-update", taskId: "t", contextId: "c", artifact: held, ...more };
}

function task(history: unknown[], more: object = {}): object {
  const status = { state: "completed" };
  return { kind: "task", id: "c", contextId: "c", status, history, ...more };
}

const call = {
  kind: "message",
  messageId: "call",
  role: "agent",
  parts: [
    {
      kind: "data",
      data: { id: "1", name: "shell", args: {} },
      metadata: { kagent_type: "function_call" },
    },
  ],
};
const partial = { metadata: { kagent_adk_partial: true } };
const user = { ...message("mine", "1", "user") };

const SUBMITTED = { state: "TASK_STATE_SUBMITTED" };

interface Row {
  name: string;
  from: SessionState;
  frames: unknown[];
  /** The text of each message. */
  stored: string[];
  streaming: string[];
  text?: string;
  isStreaming?: boolean;
  status?: SessionState["status"];
}

const ROWS: Row[] = [
  {
    name: "SESSION-22 a task with a history takes the place of everything",
    from: STREAMING,
    frames: [task([A, B, C])],
    stored: ["A", "B", "C"],
    streaming: [],
  },
  {
    name: "SESSION-16 also one without its kind, and one that has another id",
    from: STREAMING,
    frames: [{ id: "t", history: [C] }],
    stored: ["C"],
    streaming: [],
  },
  {
    name: "SESSION-23 a task without a history begins a stream and takes nothing away",
    from: LOADED,
    frames: [task([], { id: "t", status: { state: "submitted" } })],
    stored: ["A", "B", "C"],
    streaming: [],
    isStreaming: true,
  },
  {
    name: "SESSION-50 a task without a history that says it is rewound leaves nothing",
    from: LOADED,
    frames: [task([], { metadata: { kagent_rewound: true } })],
    stored: [],
    streaming: [],
  },
  {
    name: "SESSION-27 no ABCA: going back to A shows A",
    from: LOADED,
    frames: [task([A], { metadata: { kagent_rewound: true } })],
    stored: ["A"],
    streaming: [],
  },
  {
    name: "SESSION-13 rewind and invoke: the task first, then the new turn",
    from: LOADED,
    frames: [task([A]), status("working", words("new ")), status("working", words("turn"))],
    stored: ["A"],
    streaming: [],
    text: "new turn",
    isStreaming: true,
    status: "working",
  },
  {
    name: "SESSION-24, SESSION-31 words of a status gather, and the last status makes a message of them",
    from: EMPTY_SESSION,
    frames: [
      status("working", words("Hel")),
      status("working", words("lo")),
      status("completed", undefined, { final: true }),
    ],
    stored: [],
    streaming: ["Hello"],
  },
  {
    name: "SESSION-31 words that begin like those before them are still added",
    from: EMPTY_SESSION,
    frames: [status("working", words("a")), status("working", words("ab"))],
    stored: [],
    streaming: [],
    text: "aab",
    isStreaming: true,
    status: "working",
  },
  {
    name: "a whole text after its parts is shown once",
    from: EMPTY_SESSION,
    frames: [
      status("working", words("Hel", partial)),
      status("working", words("lo", partial)),
      status("working", words("Hello")),
      status("completed", undefined, { final: true }),
    ],
    stored: [],
    streaming: ["Hello"],
  },
  {
    name: "a final status that says all of it once more is shown once",
    from: EMPTY_SESSION,
    frames: [status("working", words("Hel")), status("completed", words("Hello"), { final: true })],
    stored: [],
    streaming: ["Hello"],
  },
  {
    name: "SESSION-14 the order in which kagent sends, with the artifact before the end",
    from: sent(EMPTY_SESSION, user),
    frames: [
      task([], { id: "t", status: { state: "submitted" } }),
      status("submitted", user),
      status("working"),
      status("working", words("Hel", partial)),
      status("working", words("lo", partial)),
      artifact("Hello", { append: false, lastChunk: true }),
      status("completed", undefined, { final: true }),
    ],
    stored: [],
    streaming: ["mine", "Hello"],
  },
  {
    name: "SESSION-25 an artifact that comes in pieces is one message",
    from: EMPTY_SESSION,
    frames: [
      artifact("Hel", { append: false }),
      artifact("lo", { append: true }),
      artifact("!", { append: true, lastChunk: true }),
      status("completed", undefined, { final: true }),
    ],
    stored: [],
    streaming: ["Hello!"],
  },
  {
    name: "SESSION-25 a tool call stands where it happened",
    from: EMPTY_SESSION,
    frames: [
      status("working", words("I look.")),
      status("working", call),
      status("working", call),
      status("working", words("Done.")),
      status("completed", undefined, { final: true }),
    ],
    stored: [],
    streaming: ["I look.", "", "Done."],
  },
  {
    name: "SESSION-26 a message is appended, also in the form of 1.0, and once",
    from: LOADED,
    frames: [message("D"), { message: { ...message("E"), kind: undefined } }, message("D")],
    stored: ["A", "B", "C"],
    streaming: ["D", "E"],
  },
  {
    name: "SESSION-20, SESSION-26 what is not known is appended",
    from: LOADED,
    frames: [{ kind: "surprise" }],
    stored: ["A", "B", "C"],
    streaming: ['{"kind":"surprise"}'],
  },
  {
    name: "SESSION-30 what a person sent is not shown twice",
    from: sent(LOADED, user),
    frames: [status("submitted", user)],
    stored: ["A", "B", "C"],
    streaming: ["mine"],
    isStreaming: true,
    status: "working",
  },
  {
    name: "SESSION-21 a turn in the form of 1.0 keeps the turns before it",
    from: sent({ ...EMPTY_SESSION, stored: [A] }, user),
    frames: [
      { task: { ...task([user]), kind: undefined, id: "t", status: SUBMITTED } },
      { statusUpdate: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } },
      { artifactUpdate: { artifact: { artifactId: "a", parts: [{ text: "Hello" }] } } },
      { statusUpdate: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } },
    ],
    stored: ["A", "mine"],
    streaming: ["Hello"],
  },
  {
    name: "SESSION-21 a rewind in the form of 1.0 replaces",
    from: LOADED,
    frames: [{ task: { ...task([A], { metadata: { kagent_rewound: true } }), kind: undefined } }],
    stored: ["A"],
    streaming: [],
  },
  {
    name: "what a task asks is shown, and the status says so",
    from: LOADED,
    frames: [status("input-required", words("May I?"), { final: true })],
    stored: ["A", "B", "C"],
    streaming: ["May I?"],
    status: "input-required",
  },
  {
    name: "a failure keeps what was said",
    from: EMPTY_SESSION,
    frames: [status("working", words("Hel")), status("failed", words("broke"), { final: true })],
    stored: [],
    streaming: ["Hel", "broke"],
    status: "error",
  },
];

const texts = (messages: readonly A2AMessage[]): string[] =>
  messages.map((one) => textOf(one.parts));

for (const row of ROWS) {
  test(row.name, () => {
    const before = JSON.stringify(row.from);
    const take = (one: SessionState, frame: unknown): SessionState => reduceSession(one, frame);
    const state = row.frames.reduce<SessionState>(take, row.from);
    assert.deepEqual(texts(state.stored), row.stored);
    assert.deepEqual(texts(state.streaming), row.streaming);
    assert.equal(state.text, row.text ?? "");
    assert.equal(state.isStreaming, row.isStreaming ?? false);
    assert.equal(state.status, row.status ?? "ready");
    assert.equal(JSON.stringify(row.from), before, "a reducer changes nothing");
  });
}

test("SESSION-20 what is not known is logged", () => {
  const logged: unknown[] = [];
  reduceSession(EMPTY_SESSION, { kind: "surprise" }, (_, payload) => logged.push(payload));
  reduceSession(EMPTY_SESSION, message("A"), (_, payload) => logged.push(payload));
  assert.deepEqual(logged, [{ kind: "surprise" }]);
});

test("SESSION-28 a rewind cuts before the turn, and the server's task decides", () => {
  const cut = rewindTo({ ...LOADED, streaming: [message("D", "2")] }, "2");
  assert.deepEqual(texts(shown(cut)), ["A"]);
  const told = reduceSession(cut, task([A, message("server's")]));
  assert.deepEqual(texts(shown(told)), ["A", "server's"]);
  assert.equal(told.before, undefined);
  assert.equal(rewindTo(LOADED, "unknown"), LOADED);
});

test("SESSION-50 an empty task that answers a rewind leaves nothing, marked or not", () => {
  const told = reduceSession(rewindTo(LOADED, "1"), task([]));
  assert.deepEqual(shown(told), []);
  assert.equal(told.before, undefined);
});

test("SESSION-29 a rewind that fails shows again what it had cut off", () => {
  const failed = status("failed", words("no such invocation"), { final: true });
  const refused = { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "no" } };
  for (const frame of [failed, refused]) {
    const back = reduceSession(rewindTo(LOADED, "2"), frame);
    assert.deepEqual(texts(shown(back)), ["A", "B", "C"]);
    assert.equal(back.status, "error");
  }
  assert.equal(rewindFailed(rewindTo(LOADED, "2")), LOADED);
  const twice = rewindTo(rewindTo(LOADED, "3"), "2");
  assert.equal(rewindFailed(twice), LOADED, "also after a second cut");
  assert.equal(rewindFailed(LOADED), LOADED, "nothing was cut");
});

test("SESSION-29 a turn that fails after its rewind was done brings nothing back", () => {
  const rewound = reduceSession(rewindTo(LOADED, "2"), task([A]));
  const failed = reduceSession(rewound, status("failed", words("broke"), { final: true }));
  assert.deepEqual(texts(shown(failed)), ["A", "broke"]);
});

test("SESSION-45 a reload shows what the stream has shown", () => {
  const live = reduceSession(LOADED, task([A], { metadata: { kagent_rewound: true } }));
  const reloaded = loadSession([task([A])]);
  assert.deepEqual(shown(reloaded), shown(live));
});

test("SESSION-66 what a task waits for is shown once after a reload", () => {
  const asks = { ...message("May I?"), taskId: "t" };
  const status = { state: "input-required", message: asks };
  for (const history of [[A, asks], [A]]) {
    const state = loadSession([task(history, { status })]);
    assert.deepEqual(texts(shown(state)), ["A", "May I?"]);
    assert.equal(state.status, "input-required");
    const again = joined(state, task(history, { id: "t", status }));
    assert.deepEqual(texts(shown(again)), ["A", "May I?"]);
  }
});

test("SESSION-62 a stream that is joined late keeps what other tasks said", () => {
  const [mine, half] = [message("mine", "t", "user"), message("half", "t")];
  const working = { id: "t", status: { state: "working" } };
  const state = joined({ ...EMPTY_SESSION, stored: [A, mine] }, task([mine, half], working));
  assert.deepEqual(texts(shown(state)), ["A", "mine", "half"]);
  assert.ok(state.isStreaming);
  const ended = reduceSession(state, status("completed", undefined, { final: true }));
  assert.deepEqual(texts(shown(ended)), ["A", "mine", "half"]);
  assert.ok(!ended.isStreaming);
});

test("SESSION-10 [DONE] at the end of a stream changes nothing", () => {
  const ended = reduceSession(LOADED, status("completed", undefined, { final: true }));
  const logged: unknown[] = [];
  for (const done of ["[DONE]", " [DONE]\n"]) {
    assert.equal(
      reduceSession(ended, done, (_, payload) => logged.push(payload)),
      ended,
    );
    assert.equal(joined(ended, done), ended);
  }
  assert.deepEqual(logged, []);
});
