import assert from "node:assert/strict";
import { test } from "node:test";
import { follows } from "../src/index.js";
import { type AgentMessage, aggregateTokens, lineOf } from "../src/compat/index.js";

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

function token(
  sequenceNumber: number,
  content: string,
  metadata: AgentMessage["metadata"] = {},
): AgentMessage {
  return message(sequenceNumber, "a", {
    content,
    metadata: { eventType: "content_delta", ...metadata },
  });
}

function aggregated(...of: AgentMessage[]): [unknown, number, number][] {
  return aggregateTokens(of).map((one) => [
    one.content,
    one.sequenceNumber,
    one.lastSequenceNumber,
  ]);
}

test("AGENT-75: runs of tokens become one message, anything else ends them", () => {
  const tool = message(3, "a", { type: "tool", content: { name: "x" } });
  assert.deepEqual(
    aggregated(token(1, "Hel"), token(2, "lo"), tool, token(4, "by"), token(5, "e")),
    [
      ["Hello", 1, 2],
      [{ name: "x" }, 3, 3],
      ["bye", 4, 5],
    ],
  );
  assert.deepEqual(aggregated(), []);
});

test("AGENT-76: the number is that of the run, also where its text occurred before", () => {
  const system = message(2, "a", { type: "system", content: "same" });
  assert.deepEqual(
    aggregated(token(1, "same"), system, token(3, "same"), token(4, "same")).map(
      ([, first]) => first,
    ),
    [1, 2, 3],
  );
});

test("AGENT-77: tokens of blocks or sub-agents that come in turns are not mixed", () => {
  const a = { blockId: "A" };
  const b = { blockId: "B", parent_tool_use_id: "x" };
  assert.deepEqual(
    aggregated(token(1, "1", a), token(2, "x", b), token(3, "2", a), token(4, "y", b)),
    [
      ["12", 1, 3],
      ["xy", 2, 4],
    ],
  );
});

test("AGENT-78: a line has a time, a label, text and what it came from", () => {
  const line = lineOf(message(3, "a", { type: "tool", content: { n: 1 }, raw: '{"n":1}' }));
  assert.deepEqual(line, {
    time: "00:00:03",
    label: "[tool]",
    text: '{\n  "n": 1\n}',
    raw: '{"n":1}',
  });
});

test("AGENT-79: a box stops following when a person scrolls up, and follows again at the end", () => {
  const at = (scrollTop: number, scrollHeight = 1000): Parameters<typeof follows>[1] => ({
    scrollTop,
    clientHeight: 200,
    scrollHeight,
  });
  assert.equal(follows(true, at(800), at(800, 1100)), true, "something was added");
  assert.equal(follows(true, at(800), at(500)), false, "scrolled up");
  assert.equal(follows(false, at(500), at(500, 1200)), false, "something was added");
  assert.equal(follows(false, at(500), at(799)), true, "back at the end");
});
