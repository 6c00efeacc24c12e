import assert from "node:assert/strict";
import { test } from "node:test";
import { TaskStream } from "@parley/client";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };

test(
  "AGENT-78, AGENT-79: a row of the log has time, kind, content and raw JSON, and the log follows",
  options,
  async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "count to 40");
    await waitUntilIdle(page);
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Trace" });
    await panel.locator(".event[data-seq]").first().waitFor();
    const log = panel.getByRole("listbox");
    const { events } = await env.server.api.events(contextId, { limit: 1_000 });
    const raw = async (): Promise<unknown> =>
      JSON.parse(await panel.getByRole("region", { name: "Raw JSON" }).locator("pre").innerText());
    const done = events.find((one) => one.kind === "task-complete");
    const row = panel.locator(`.event[data-seq="${done?.seq}"]`);
    assert.match(
      await row.innerText(),
      new RegExp(String.raw`^${done?.seq}\s+\d\d:\d\d:\d\d\.\d{3}\s+\[task-complete\]\s+1 2 3`),
    );
    await row.hover();
    assert.deepEqual(await raw(), done);
    await panel.getByRole("checkbox", { name: "internal" }).focus();
    await page.keyboard.press("Tab");
    assert.equal(await log.evaluate((one) => one.matches(":focus")), true);
    await log.locator("[aria-selected=true]").waitFor();
    const current = Number(await log.locator("[aria-selected=true]").getAttribute("data-seq"));
    assert.deepEqual(
      await raw(),
      events.find((one) => one.seq === current),
    );

    /** Appends events, waits until the log lists them, and returns the last one. */
    const grow = async (): Promise<number> => {
      const answer = await TaskStream.send(env.server.api, contextId, { content: "count to 40" });
      await answer.text();
      const { position } = await env.server.api.context(contextId);
      await page.waitForFunction((last) => {
        const label = document.querySelector(".log-box")?.getAttribute("aria-label") ?? "";
        return Number.parseInt(label, 10) >= last;
      }, Number(position));
      return Number(position);
    };
    /** Waits until the log is at its end, and this event is there. */
    const atEnd = async (seq: number): Promise<void> => {
      await page.waitForFunction((last) => {
        const box = document.querySelector(".log-box") as Element;
        const left = box.scrollHeight - box.clientHeight - box.scrollTop;
        return left <= 1 && box.querySelector(`[data-seq="${last}"]`) !== null;
      }, seq);
    };
    /** The position of the log after all changes are drawn. */
    const top = (): Promise<number> =>
      log.evaluate(async (one) => {
        for (let frame = 0; frame < 3; frame++) {
          await new Promise(requestAnimationFrame);
        }
        return one.scrollTop;
      });
    await atEnd(events.at(-1)?.seq ?? 0);
    // Shrinking the box must not stop following.
    await page.setViewportSize({ width: 1280, height: 640 });
    const seq = await grow();
    await atEnd(seq);
    const end = await top();
    await log.hover();
    await page.mouse.wheel(0, -200);
    await page.waitForFunction(
      (most) => (document.querySelector(".log-box") as Element).scrollTop <= most,
      end - 200,
    );
    const chosen = await top();
    const last = await grow();
    assert.equal(await top(), chosen);
    await page.mouse.wheel(0, 100_000);
    await atEnd(last);
    await atEnd(await grow());
  },
);
