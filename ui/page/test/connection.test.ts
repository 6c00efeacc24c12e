import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { begin, picture, settled, SKIP, stage } from "./page.js";

const it = stage({ own: true });
const options = { skip: SKIP };
const UP_TO_150 = Array.from({ length: 150 }, (_, i) => i + 1).join(" ");
const text = (page: Page) => page.locator('.thread-rows > [data-kind="text"]');
const pill = (page: Page) => page.locator(".pill");

/** The numbers that are shown, which must be 1, 2, 3 … without a gap and without a double. */
async function dense(page: Page): Promise<number> {
  const shown = (await text(page).innerText()).split(" ").map(Number);
  assert.deepEqual(
    shown,
    shown.map((_, i) => i + 1),
  );
  return shown.length;
}

test("a cut is shown quietly, and what happened meanwhile is recovered", options, async () => {
  const { page } = await it.open();
  await begin(page, "count slowly to 120");
  await text(page).getByText("1 2 3").waitFor();
  await pill(page).getByText("Live").waitFor();
  await page.context().setOffline(true);
  await pill(page)
    .getByText(/Reconnecting/)
    .waitFor();
  await picture(page, "reconnecting");
  const before = await dense(page);
  // It goes on without us.
  const { items } = await it.server.api.contexts({ limit: 1 });
  const position = Number(items[0]?.position);
  while (Number((await it.server.api.contexts({ limit: 1 })).items[0]?.position) < position + 20) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await page.context().setOffline(false);
  await pill(page)
    .getByText(/events recovered/)
    .waitFor();
  assert.ok((await dense(page)) > before);
  await settled(page);
  assert.equal(await dense(page), 120);
});

test(
  "the server is killed and started mid-stream, and the page goes on by itself",
  options,
  async () => {
    const { page } = await it.open();
    await begin(page, "count slowly to 150");
    await text(page).getByText("1 2 3").waitFor();
    await it.server.kill();
    await pill(page)
      .getByText(/Reconnecting|Connecting/)
      .waitFor();
    await it.server.begin();
    await pill(page).getByText(/Live/).waitFor();
    await page.locator(".ended").waitFor({ timeout: 60_000 });
    const shown = await text(page).allInnerTexts();
    assert.ok(shown.includes(UP_TO_150), shown.join("\n"));
  },
);

test("a message that cannot be sent stays, and is sent once when it can be", options, async () => {
  const { page } = await it.open();
  const contextId = await begin(page, "say first");
  await settled(page);
  await page.context().setOffline(true);
  await page.getByRole("textbox", { name: "Message" }).fill("say second");
  await page.keyboard.press("Enter");
  await page.locator(".outgoing").getByRole("alert").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Send again" }).click();
  await page.locator('[data-kind="text"]').getByText("second").waitFor();
  const { items } = await it.server.api.messages(contextId);
  assert.equal(items.filter((one) => one.content === "say second").length, 1);
});

test("a tab that was hidden and slept is right at once when it is shown", options, async () => {
  const { page } = await it.open();
  await begin(page, "count slowly to 60");
  await text(page).getByText("1 2 3").waitFor();
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  const [context] = (await it.server.api.contexts({ limit: 1 })).items;
  while ((await it.server.api.context(context?.contextId ?? "")).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await settled(page);
  assert.equal(await dense(page), 60);
});
