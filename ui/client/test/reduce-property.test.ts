import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ContextState,
  emptyContext,
  fromSnapshot,
  type ParleyEvent,
  reduce,
  reduceAll,
  type StreamedEvent,
  view,
} from "../src/index.js";
import { RandomLog } from "./random-log.js";
import { Random, seeds } from "./random.js";
import { shownOf, snapshotOf, wire } from "./snapshot-of.js";

const SNAPSHOTS = 12;
const LOOKS = 17;
const EMPTY = emptyContext("c");

function frozen<V>(value: V): V {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

test("an event that comes twice counts once, and nothing is changed in place", () => {
  for (const seed of seeds(14)) {
    const random = new Random(seed);
    const { events } = new RandomLog(seed);
    const all = reduceAll(EMPTY, events);
    let state: ContextState = frozen({ ...EMPTY });
    for (let i = 0; i < events.length; i++) {
      state = frozen(reduce(state, frozen(events[i] as ParleyEvent)));
      const before = events[random.int(i + 1)] as ParleyEvent;
      assert.equal(reduce(state, before), state);
    }
    assert.deepEqual(state, all, `seed ${seed}`);
  }
});

test("CORE-9: a snapshot and the events after it are the same as all events", () => {
  let afresh = 0;
  for (const seed of seeds(14)) {
    const { events } = new RandomLog(seed, 3);
    const step = Math.ceil(events.length / SNAPSHOTS);
    let state = EMPTY;
    for (const [i, event] of events.entries()) {
      state = reduce(state, event);
      if (i % step !== 0) {
        continue;
      }
      const snapshot = wire(snapshotOf(state)) as ReturnType<typeof snapshotOf>;
      let later = fromSnapshot(snapshot);
      let all = state;
      for (const next of events.slice(random(seed, i))) {
        later = reduce(later, next);
        all = reduce(all, next);
        if (later.stale) {
          later = fromSnapshot(snapshotOf(all));
          afresh++;
        }
        // Not only at the end, where no text is streaming.
        if (next.seq % LOOKS === i % LOOKS || next === events.at(-1)) {
          const where = `seed ${seed}, snapshot at ${i + 1}, event ${next.seq}`;
          assert.deepEqual(shownOf(view(later)), shownOf(view(all)), where);
        }
      }
    }
  }
  assert.ok(afresh > 0, "some rewinds go back to before the snapshot");
});

/** Where repeated events start: at the beginning, or before the snapshot. */
function random(seed: number, i: number): number {
  return new Random(seed * 1000 + i).int(i + 2);
}

test("deltas that were merged give the same text", () => {
  for (const seed of seeds(14)) {
    const { events } = new RandomLog(seed);
    const full = reduceAll(EMPTY, events);
    assert.deepEqual(reduceAll(EMPTY, mergedDeltas(events)), full, `seed ${seed}`);
  }
});

function mergedDeltas(events: readonly ParleyEvent[]): StreamedEvent[] {
  const out: StreamedEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const same =
      last?.taskId === event.taskId && last?.seq === event.seq - 1 && event.k === undefined;
    if (
      same &&
      event.kind === "content-delta" &&
      last?.kind === "content-delta" &&
      last.blockId === event.blockId
    ) {
      const fromSeq = last.fromSeq ?? last.seq;
      out[out.length - 1] = {
        ...event,
        delta: last.delta + event.delta,
        index: last.index,
        fromSeq,
      };
    } else {
      out.push(event);
    }
  }
  return out;
}
