import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { caughtUp, head } from "./catch-up.js";
import {
  startConversation,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
  stop,
} from "./page.js";

const env = setUp({ own: true });
const options = { skip: SKIP };
const UP_TO_300 = Array.from({ length: 300 }, (_, i) => i + 1).join(" ");
const ROUNDS = 3;
const SOON_MS = 1_000;
const LISTS = /\/api\/contexts\?/;
const text = (page: Page) => page.locator('.thread-rows > [data-kind="text"]');
const status = (page: Page) => page.locator(".connection");

/** Checks that the numbers shown are 1, 2, 3 … without gaps or duplicates. */
async function dense(page: Page): Promise<number> {
  const shown = (await text(page).last().innerText()).split(" ").map(Number);
  assert.deepEqual(
    shown,
    shown.map((_, i) => i + 1),
  );
  return shown.length;
}

/**
 * Checks that the page caught up fast enough. The best of several rounds counts: a busy machine may
 * delay one round, but a slow page delays all.
 */
function soon(t: TestContext, took: readonly number[]): void {
  t.diagnostic(`caught up after ${took.map(Math.round).join(", ")} ms`);
  assert.ok(Math.min(...took) < SOON_MS, `it took ${took.map(Math.round).join(", ")} ms`);
}

/** Waits for this many more events, whether or not the page shows them. */
async function goesOn(contextId: string, events: number): Promise<void> {
  const position = await head(env.server, contextId);
  while ((await head(env.server, contextId)) < position + events) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Simulates switching to another tab or back. */
async function look(page: Page, visibility: "hidden" | "visible"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibility);
}

test(
  "a cut is shown quietly, and what happened meanwhile is recovered soon",
  options,
  async (t) => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "count slowly to 3000");
    await text(page).getByText("1 2 3").waitFor();
    const took: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      await status(page).getByText("Live").waitFor();
      await page.context().setOffline(true);
      await status(page)
        .getByText(/Reconnecting/)
        .waitFor();
      if (i === 0) {
        await screenshot(page, "reconnecting");
      }
      const before = await dense(page);
      await goesOn(contextId, 20);
      // The note disappears after a while, so the test watches for it from the start.
      const recovered = status(page)
        .getByText(/events recovered/)
        .waitFor();
      await page.context().setOffline(false);
      const [time] = await Promise.all([
        head(env.server, contextId).then((last) => caughtUp(page, last)),
        recovered,
      ]);
      took.push(time);
      assert.ok((await dense(page)) > before);
    }
    await stop(page);
    await dense(page);
    soon(t, took);
  },
);

test(
  "the server is killed and started mid-stream, and the page goes on by itself and soon",
  options,
  async (t) => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "count slowly to 300");
    await text(page).getByText("1 2 3").waitFor();
    const took: number[] = [];
    // A turn that three crashes cut off is given up.
    for (let i = 0; i < 2; i++) {
      await env.server.kill();
      await status(page)
        .getByText(/Reconnecting|Connecting/)
        .waitFor();
      await env.server.begin();
      took.push(await caughtUp(page, await head(env.server, contextId)));
      await status(page).getByText(/Live/).waitFor();
      await page.getByText("Interrupted here; continues below.").nth(i).waitFor();
      // Only an attempt that has written text is shown as interrupted by the next kill.
      await text(page)
        .filter({ hasText: "1 2 3" })
        .nth(i + 1)
        .waitFor();
    }
    await page.locator(".task-footer").waitFor({ timeout: 60_000 });
    const shown = await text(page).allInnerTexts();
    assert.ok(shown.includes(UP_TO_300), shown.join("\n"));
    soon(t, took);
  },
);

test("a message that cannot be sent stays, and is sent once when it can be", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say first");
  await waitUntilIdle(page);
  await page.context().setOffline(true);
  // The browser may still deliver data right after this call.
  await status(page)
    .getByText(/Reconnecting/)
    .waitFor();
  await sendMessage(page, "say second");
  await page.locator(".outgoing").getByRole("alert").waitFor();
  // The message exists only here, so the browser asks before leaving.
  const asked = page.waitForEvent("dialog");
  void page.reload().catch(() => undefined);
  await (await asked).dismiss();
  await page.context().setOffline(false);
  await page.locator('[data-kind="text"]').getByText("second").waitFor();
  const { items } = await env.server.api.messages(contextId);
  assert.equal(items.filter((one) => one.content === "say second").length, 1);
});

test(
  "what is said while the server is away arrives in its order once it is back",
  options,
  async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "say first");
    await waitUntilIdle(page);
    await env.server.kill();
    for (const [i, words] of ["say second", "say third"].entries()) {
      await sendMessage(page, words);
      await page.locator(".outgoing").nth(i).getByText("Retrying automatically.").waitFor();
    }
    await env.server.begin();
    await text(page).getByText("third", { exact: true }).waitFor();
    await waitUntilIdle(page);
    assert.deepEqual(await text(page).allInnerTexts(), ["first", "second", "third"]);
    await page.locator(".outgoing").waitFor({ state: "detached" });
    const { items } = await env.server.api.messages(contextId);
    assert.equal(items.filter((one) => one.role === "user").length, 3);
  },
);

test("a tab that was hidden gives its connection back, and is right soon", options, async (t) => {
  const { page } = await env.open();
  await page.clock.install();
  await page.reload();
  let lists = 0;
  page.on("request", (request) => (lists += LISTS.test(request.url()) ? 1 : 0));
  const contextId = await startConversation(page, "count slowly to 3000");
  await text(page).getByText("1 2 3").waitFor();
  const took: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    await look(page, "hidden");
    await page.clock.fastForward("02:00");
    await status(page).getByText("Paused").waitFor();
    lists = 0;
    await page.clock.fastForward("02:00");
    await goesOn(contextId, 20);
    assert.ok(lists <= 2, `the list was asked for ${lists} times though nobody looks`);
    const asked = page.waitForRequest(LISTS);
    const shown = Number(await page.locator(".thread").getAttribute("data-position"));
    assert.ok(shown < (await head(env.server, contextId)), "it was told of what nobody looked at");
    await look(page, "visible");
    await asked;
    took.push(await caughtUp(page, await head(env.server, contextId)));
    await dense(page);
  }
  await stop(page);
  await dense(page);
  soon(t, took);
});

test("a machine that slept is right soon after it woke", options, async (t) => {
  const { page } = await env.open();
  await page.clock.install();
  await page.reload();
  const contextId = await startConversation(page, "count slowly to 3000");
  await text(page).getByText("1 2 3").waitFor();
  const took: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    await page.clock.fastForward("30:00");
    await page.evaluate(() => fetch("/healthz"));
    took.push(await caughtUp(page, await head(env.server, contextId)));
    await dense(page);
  }
  await stop(page);
  soon(t, took);
});
