import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  buildUnifiedTimeline,
  keyOf,
  type ParleyEvent,
  splitStreams,
  timelineOf,
  type TimelineItem,
  type WorkflowEvent,
} from "../src/index.js";
import { RandomTree } from "./random-tree.js";
import { Random, seeds } from "./random.js";
import {
  type Case,
  CASES,
  complete,
  itemShape,
  readCases,
  shape,
  type Shape,
  type ThreadShape,
  toWorkflow,
} from "./timeline-cases.js";

const RANDOM_CASES = "timeline-random.json";
const TREES = 25;
const STEPS = 25;

describe("cases that the Java client runs too: WORKFLOW-18 to WORKFLOW-24", () => {
  for (const one of readCases("timeline.json").cases) {
    test(one.name, () => {
      const events = complete(one.events);
      assert.deepEqual(shape(timelineOf(events)), { items: one.items, orphans: one.orphans });
      assert.deepEqual(shape(timelineOf(events.map(toWorkflow))), {
        items: one.items,
        orphans: one.orphans,
      });
    });
  }
});

/** Trees with events out of order, some missing. */
function randomCases(): Case[] {
  return seeds(12).map((seed) => {
    const random = new Random(seed);
    const lost = [0, 0.2, 0.5][seed % 3] ?? 0;
    const kept = new RandomTree(seed, 2).events.filter(() => !random.chance(lost));
    const events = random.shuffled(kept).slice(0, 90);
    return { name: `tree ${seed}`, events, ...shape(timelineOf(complete(events))) };
  });
}

test("random cases for the Java client are those of this version", () => {
  const cases = randomCases();
  const text = `{"cases":[\n${cases.map((one) => JSON.stringify(one)).join(",\n")}\n]}\n`;
  if (
    process.env["PARLEY_WRITE_CASES"] !== undefined ||
    !existsSync(new URL(RANDOM_CASES, CASES))
  ) {
    writeFileSync(new URL(RANDOM_CASES, CASES), text);
  }
  assert.deepEqual(
    readCases(RANDOM_CASES).cases,
    cases,
    "run with PARLEY_WRITE_CASES=1 if that is right",
  );
  assert.ok(cases.some((one) => one.orphans.length > 0));
});

function numbers(shapes: readonly Shape[]): number[] {
  return shapes.flatMap((one) =>
    typeof one === "number" ? [one] : [one.at, ...below(one.threads)],
  );
}

function below(threads: readonly ThreadShape[]): number[] {
  return threads.flatMap((thread) => numbers(thread.items));
}

test("every event is there once, and trees are worth looking at", () => {
  let nested = 0;
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    const { items, orphans } = shape(timelineOf(events));
    assert.deepEqual(orphans, []);
    assert.deepEqual(
      numbers(items).sort((a, b) => a - b),
      events.map((event) => event.seq),
    );
    nested += items.filter(
      (item) => typeof item === "object" && JSON.stringify(item).split('"at"').length > 3,
    ).length;
  }
  assert.ok(nested > 5);
});

test("WORKFLOW-20, WORKFLOW-24: neither the order of arrival nor repeats make a difference, and nothing is lost on the way", () => {
  for (const seed of seeds(TREES)) {
    const random = new Random(seed);
    const events = complete(new RandomTree(seed).events);
    const expected = shape(timelineOf(events));
    const mixed = random.shuffled([...events, ...events.filter(() => random.chance(0.3))]);
    assert.deepEqual(shape(timelineOf(mixed)), expected, `seed ${seed}`);
    const some = random.shuffled(events).slice(0, random.int(events.length));
    const { items, orphans } = shape(timelineOf(some));
    const seen = [...numbers(items), ...below(orphans)].sort((a, b) => a - b);
    assert.deepEqual(
      seen,
      some.map((event) => event.seq).sort((a, b) => a - b),
    );
  }
});

test("WORKFLOW-23: a thread has the events of its task and no others", () => {
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    const check = (items: readonly TimelineItem<ParleyEvent>[], taskId: string): void => {
      for (const item of items) {
        assert.equal((item.kind === "event" ? item.event : item.trigger).taskId, taskId);
        if (item.kind === "subagentGroup") {
          for (const thread of item.threads) {
            check(thread.items, thread.taskId);
          }
        }
      }
    };
    check(timelineOf(events).items, "core");
  }
});

test("both dialects give the same timeline", () => {
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    assert.deepEqual(
      shape(timelineOf(events.map(toWorkflow))),
      shape(timelineOf(events)),
      `seed ${seed}`,
    );
  }
});

test("WORKFLOW-20: a main stream and groups make one timeline, and the same ones the same", () => {
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    const { mainStream, groups } = splitStreams(events);
    assert.ok(mainStream.every((event) => event.parentTaskId === undefined));
    const built = buildUnifiedTimeline(mainStream, groups);
    assert.deepEqual(built.map(itemShape), shape(timelineOf(events)).items);
    assert.deepEqual(buildUnifiedTimeline(mainStream, groups), built);
  }
});

test("WORKFLOW-22: step by step, a card stays where it is and keeps its key, folded or not", () => {
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    let before: string[] = [];
    const step = Math.ceil(events.length / STEPS);
    for (let i = 1; i <= events.length; i += step) {
      const { items, orphans } = timelineOf(events.slice(0, i));
      const keys = items.map(keyOf);
      assert.deepEqual(keys.slice(0, before.length), before, `seed ${seed}, ${i} events`);
      assert.deepEqual([new Set(keys).size, orphans.length], [keys.length, 0]);
      before = keys;
    }
  }
});

test("WORKFLOW-21: logs without the new fields give the same groups", () => {
  for (const seed of seeds(TREES)) {
    const events = complete(new RandomTree(seed).events);
    const older = events.map((event) => {
      const { spawnedByCallId: _, ...rest } = event;
      return (rest.kind === "tool-start" || rest.kind === "tool-complete"
        ? { ...rest, subagentMetadata: undefined }
        : rest) as unknown as ParleyEvent;
    });
    assert.deepEqual(
      places(timelineOf(older).items),
      places(timelineOf(events).items),
      `seed ${seed}`,
    );
  }
});

/** The event at which each task is placed. */
function places(items: readonly TimelineItem<ParleyEvent>[]): string[] {
  return items
    .flatMap((item) =>
      item.kind === "event"
        ? []
        : item.threads.flatMap((thread) => [
            `${thread.taskId} at ${item.trigger.seq}`,
            ...places(thread.items),
          ]),
    )
    .sort();
}

test("WORKFLOW-18, WORKFLOW-21: events of an older workflow server, which have no numbers, are grouped by their parent", () => {
  const core = { task_id: "core" };
  const sub = (task: string, text: string): WorkflowEvent => ({
    event_type: "workflow.node.output.delta",
    task_id: task,
    parent_task_id: "core",
    delta: text,
  });
  const trigger = (call: string): WorkflowEvent => ({
    event_type: "workflow.tool.completed",
    ...core,
    call_id: call,
    tool_name: "SubAgent",
  });
  const events = [
    sub("s1", "a"),
    sub("s2", "b"),
    trigger("x"),
    sub("s1", "c"),
    trigger("y"),
    sub("s3", "d"),
  ];
  const { items } = timelineOf(events);
  assert.deepEqual(
    items.map(
      (item) =>
        item.kind === "subagentGroup" &&
        item.threads.map((thread) => [thread.taskId, thread.items.length]),
    ),
    [
      [
        ["s1", 2],
        ["s2", 1],
      ],
      [["s3", 1]],
    ],
  );
});
