/** Run by `./bench page`: measures the page with many events. It only prints figures. */
import type { ParleyEvent } from "@parley/client";
import { chromium, type Page } from "playwright-core";
import { caughtUp, head } from "./catch-up.js";
import { Replay } from "./replay.js";
import { Server } from "./server.js";

const EVENTS = 100_000;
const TURNS = 5;
const RATE = 200;
const SECONDS = Number(process.env["PARLEY_BENCH_SECONDS"] ?? 60);
const TICK_MS = 50;
const FRAME_MS = 16.7;
const MIB = 1 << 20;

function print(what: string, figure: string): void {
  process.stdout.write(`  ${what.padEnd(58)} ${figure}\n`);
}

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
process.stdout.write(`The page, Chromium ${browser.version()}\n`);
try {
  await opening();
  await streaming();
  await returning();
} finally {
  await browser.close();
}

/** The time from the address to a usable conversation, and to its log. */
async function opening(): Promise<void> {
  const server = await Server.start();
  try {
    const { api } = server;
    const { contextId } = await api.createContext({ title: "A long one" });
    for (let i = 0; i < TURNS; i++) {
      await api.send(contextId, {
        content: `count to ${EVENTS / TURNS}`,
        agentId: "agent-research",
      });
    }
    while ((await api.context(contextId)).openTasks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const { position } = await api.context(contextId);
    const page = await browser.newPage();
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      await page.goto("about:blank");
      const begun = performance.now();
      await page.goto(`${server.url}/#/c/${contextId}`);
      await page.getByRole("textbox", { name: "Message" }).waitFor();
      await page.locator(".thread-rows > .row").last().waitFor();
      times.push(performance.now() - begun);
    }
    print(`open a context of ${position} events, usable (median of 5)`, millis(median(times)));
    const begun = performance.now();
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    await page.locator(`.event[data-seq="${position}"]`).waitFor();
    print("open its log and tree", millis(performance.now() - begun));
    print(
      "elements in the page",
      `${await page.evaluate("document.querySelectorAll('*').length")}`,
    );
    await page.close();
  } finally {
    await server.stop();
  }
}

/** Frames and memory while events stream in. */
async function streaming(): Promise<void> {
  const events = log(RATE * SECONDS);
  const replay = await Replay.start("c", events, { items: [] });
  const page = await browser.newPage();
  try {
    replay.advance(10);
    await page.goto(`${replay.url}/#/c/c`);
    await page.locator(".thread-rows > .row").first().waitFor();
    const before = await heap(page);
    await page.evaluate(watchFrames);
    const begun = performance.now();
    for (let at = 10; at < events.length; ) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      at = Math.min(events.length, 10 + Math.floor(((performance.now() - begun) * RATE) / 1_000));
      replay.advance(at);
    }
    const frames = (await page.evaluate("window.frames_ms")) as number[];
    const late = frames.filter((one) => one > FRAME_MS + 0.5).length;
    const share = (100 * (frames.length - late)) / frames.length;
    print(`${RATE} events/s for ${SECONDS} s: frames within 16.7 ms`, `${share.toFixed(1)} %`);
    print("  longest frame", millis(Math.max(...frames)));
    print("  memory before, after", `${before} MiB, ${await heap(page)} MiB`);
  } finally {
    await page.close();
    replay.stop();
  }
}

/** The time from when the server is reachable until the page shows everything. */
async function returning(): Promise<void> {
  const server = await Server.start({ own: true });
  const page = await browser.newPage();
  try {
    const { contextId } = await server.api.createContext({});
    await server.api.send(contextId, { content: "count slowly to 2000", agentId: "agent-code" });
    await page.goto(`${server.url}/#/c/${contextId}`);
    await page.locator('[data-kind="text"]').first().waitFor();
    const cut: number[] = [];
    const killed: number[] = [];
    for (let i = 0; i < 5; i++) {
      await page.context().setOffline(true);
      await page.locator('.connection[data-status="waiting"]').waitFor();
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (i + 1)));
      await page.context().setOffline(false);
      cut.push(await caughtUp(page, await head(server, contextId)));
      await server.kill();
      await page.locator('.connection[data-status="waiting"]').waitFor();
      await new Promise((resolve) => setTimeout(resolve, 1_000 * i));
      await server.begin();
      killed.push(await caughtUp(page, await head(server, contextId)));
    }
    print("right again after a cut (median, longest of 5)", both(cut));
    print("right again after the server was killed and started", both(killed));
  } finally {
    await page.close();
    await server.stop();
  }
}

function both(values: readonly number[]): string {
  return `${millis(median(values))}, ${millis(Math.max(...values))}`;
}

function watchFrames(): void {
  const frames: number[] = [];
  Object.assign(window, { frames_ms: frames });
  let last = performance.now();
  const next = (now: number): void => {
    frames.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

async function heap(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return (usedSize / MIB).toFixed(1);
}

/** A task that writes paragraph after paragraph, and calls a tool between them. */
function log(count: number): ParleyEvent[] {
  const task = { taskId: "t", rootTaskId: "t", agentId: "a" };
  const facts: object[] = [
    { kind: "context-created", owner: "local" },
    { kind: "message", messageId: "m", role: "user", content: "write" },
    { ...task, kind: "task-created", initiator: "user", messageId: "m" },
    { ...task, kind: "task-status", status: "working" },
  ];
  for (let i = 0; facts.length < count; i++) {
    const block = `b${Math.floor(i / 100)}`;
    const call = { ...task, toolCallId: `call${block}`, toolName: "read_file" };
    if (i % 100 === 98) {
      facts.push({ ...call, kind: "tool-start", arguments: { path: `${block}.txt` } });
    } else if (i % 100 === 99) {
      facts.push({ ...call, kind: "tool-complete", success: true, result: "done" });
    } else {
      facts.push({ ...task, kind: "content-delta", blockId: block, index: i, delta: `word${i} ` });
    }
  }
  return facts.map((fact, i) => {
    const timestamp = new Date(Date.now() + i).toISOString();
    const place = { seq: i + 1, eventId: `e${i}`, contextId: "c", timestamp };
    return { ...place, ...fact } as unknown as ParleyEvent;
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

function millis(value: number): string {
  return `${Math.round(value)} ms`;
}
