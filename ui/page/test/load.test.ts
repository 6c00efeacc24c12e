import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import { startConversation, sendMessage, waitUntilIdle, SKIP, setUp } from "./page.js";
import { Replay } from "./replay.js";

const env = setUp();
const options = { skip: SKIP };
const LONG = process.env["PARLEY_LONG"] !== undefined;
const KIB = 1024;
/** The maximum number of rendered rows, for any length. */
const ELEMENTS_MAX = 20_000;
const FRAME_MS = 16.7;

test(
  "a context of 100,000 events is opened from its end, not from its start",
  options,
  async (t) => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    const contextId = await startConversation(page, "say small");
    await waitUntilIdle(page);
    const { api } = env.server;
    await page.goto(`${env.server.url}/#/`);
    for (let i = 0; i < 5; i++) {
      await api.send(contextId, { content: "count to 20000", agentId: "agent-code" });
    }
    await api.send(contextId, { content: "think about the end", agentId: "agent-code" });
    while ((await api.context(contextId)).openTasks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { position } = await api.context(contextId);
    assert.ok(Number(position) > 100_000, `only ${position} events`);
    const { page: fresh } = await env.open();
    const client = await fresh.context().newCDPSession(fresh);
    await client.send("Network.enable");
    let bytes = 0;
    client.on("Network.dataReceived", ({ dataLength }) => (bytes += dataLength));
    const began = Date.now();
    await fresh.goto(`${env.server.url}/#/c/${contextId}`);
    await fresh.getByText("I have thought about the end").waitFor();
    await waitUntilIdle(fresh);
    t.diagnostic(`${position} events: ${Date.now() - began} ms, ${Math.round(bytes / KIB)} KiB`);
    assert.ok(bytes < 4 * KIB * KIB, `${bytes} bytes were loaded`);
    const elements = await fresh.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(elements < ELEMENTS_MAX, `${elements} elements`);
    await sendMessage(fresh, "say still here");
    await fresh.locator('[data-kind="text"]').getByText("still here").waitFor();
    // Scrolling up loads older rows.
    await fresh.locator(".thread").evaluate((thread) => (thread.scrollTop = 0));
    await fresh.getByRole("log").getByText("say small", { exact: true }).waitFor();
  },
);

function event(seq: number, fields: object): ParleyEvent {
  const timestamp = new Date().toISOString();
  return { seq, eventId: `e${seq}`, contextId: "busy", timestamp, ...fields } as ParleyEvent;
}

/** An endless task that calls tools and streams text. */
function busyLog(count: number): ParleyEvent[] {
  const task = { taskId: "t", rootTaskId: "t", agentId: "agent-code", agentLevel: "core" };
  const said = { messageId: "m", role: "user", content: "go", metadata: { taskId: "t" } };
  const log = [
    event(1, { kind: "context-created", owner: "local" }),
    event(2, { kind: "message", ...said }),
    event(3, { kind: "task-created", ...task, initiator: "user", messageId: "m" }),
    event(4, { kind: "task-status", ...task, status: "working" }),
  ];
  for (let seq = 5; seq <= count; seq++) {
    const turn = Math.floor(seq / 20);
    const call = { toolCallId: `c${turn}`, toolName: "clock" };
    const step = seq % 20;
    log.push(
      step === 0
        ? event(seq, { kind: "tool-start", ...task, ...call, arguments: { zone: "UTC" } })
        : step === 1
          ? event(seq, { kind: "tool-complete", ...task, ...call, success: true, result: { turn } })
          : event(seq, {
              kind: "content-delta",
              ...task,
              blockId: `b${turn}`,
              delta: step === 2 ? `Turn **${turn}**:` : ` word${step}`,
              index: step - 2,
            }),
    );
  }
  return log;
}

test(
  "frames stay short while 200 events a second arrive, and the page does not grow",
  options,
  async (t) => {
    const seconds = LONG ? 60 : 5;
    const log = busyLog(200 * (seconds + 5));
    const replay = await Replay.start("busy", log, { items: [] });
    try {
      const { page } = await env.open();
      const client = await page.context().newCDPSession(page);
      // CPU time, because other programs distort wall-clock time.
      await client.send("Performance.enable", { timeDomain: "threadTicks" });
      const busyFor = async (): Promise<number> => {
        const { metrics } = await client.send("Performance.getMetrics");
        return 1_000 * (metrics.find((one) => one.name === "TaskDuration")?.value ?? 0);
      };
      replay.advance(1_000);
      await page.goto(`${replay.url}/#/c/busy`);
      await page.getByText("Turn 49").waitFor();
      await page.evaluate(() => {
        const frames: number[] = [];
        Object.assign(window, { frames });
        let last = performance.now();
        const tick = (now: number): void => {
          frames.push(now - last);
          last = now;
          requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
      });
      const before = await busyFor();
      for (let sent = 1_000; sent < log.length; sent += 2) {
        replay.advance(Math.min(sent + 2, log.length));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await page.locator(`.thread[data-position="${log.length}"]`).waitFor();
      const frames = await page.evaluate<number[]>("window.frames");
      const each = ((await busyFor()) - before) / frames.length;
      const sorted = frames.sort((a, b) => a - b);
      const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Infinity;
      const elements = await page.evaluate(() => document.querySelectorAll("*").length);
      t.diagnostic(
        `${frames.length} frames, 95% within ${p95.toFixed(1)} ms, ${elements} elements`,
      );
      t.diagnostic(`${each.toFixed(1)} ms of work in a frame`);
      assert.ok(elements < ELEMENTS_MAX, `${elements} elements`);
      assert.ok(!LONG || p95 <= FRAME_MS + 1, `95% of frames took up to ${p95} ms`);
    } finally {
      replay.stop();
    }
  },
);
