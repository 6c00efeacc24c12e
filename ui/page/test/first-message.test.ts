import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { composer, latch, sendMessage, SKIP, setUp, waitUntilIdle } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const bubble = (page: Page) => page.locator(".message.user .bubble");

test(
  "the first message is there before any request returns, and nothing loads",
  options,
  async () => {
    const { page, errors } = await env.open();
    await composer(page).waitFor();
    const taken = latch();
    const streamed = latch();
    await page.route("**/api/messages", async (route) => {
      await taken.opened;
      await route.continue();
    });
    await page.route("**/api/contexts/*/stream*", async (route) => {
      await streamed.opened;
      await route.continue();
    });
    // Looks at each change of the page, also at those that last less than a frame.
    await page.evaluate(() => {
      const seen = { loading: 0, without: 0 };
      Object.assign(globalThis, { seen });
      let begun = false;
      new MutationObserver(() => {
        const echo = document.querySelectorAll(".main .message.user .bubble").length;
        begun ||= echo > 0;
        seen.loading += document.querySelector(".main")?.textContent?.includes("Loading…") ? 1 : 0;
        seen.without += begun && echo !== 1 ? 1 : 0;
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await sendMessage(page, "say first\nsay second");
    await bubble(page).getByText("say first").waitFor();
    const top = (await bubble(page).boundingBox())?.y;
    await page.keyboard.type("next");
    taken.open();
    await page.waitForURL(/#\/c\//);
    await page.getByRole("log").waitFor();
    assert.equal(await bubble(page).innerText(), "say first\nsay second");
    assert.equal((await bubble(page).boundingBox())?.y, top);
    assert.equal(await page.locator(".outgoing").count(), 0);
    assert.equal(await composer(page).inputValue(), "next");
    streamed.open();
    await waitUntilIdle(page);
    assert.deepEqual(await page.evaluate("seen"), { loading: 0, without: 0 });
    assert.deepEqual(errors, []);
  },
);

test("a first message that is rejected is in the input again", options, async () => {
  const { page } = await env.open();
  await page.locator(".options summary").click();
  await page.getByLabel("Working directory").fill("no-such-folder");
  await sendMessage(page, "say lost");
  await page.getByRole("alert").getByText("does not exist").waitFor();
  assert.equal(await composer(page).inputValue(), "say lost");
  assert.equal(await bubble(page).count(), 0);
});
