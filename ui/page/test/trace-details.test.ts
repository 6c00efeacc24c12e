import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { setUp, SKIP, startConversation, waitUntilIdle } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const panel = (page: Page) => page.getByRole("complementary", { name: "Trace" });
const lines = (page: Page) => panel(page).getByRole("listbox").getByRole("option");

test("a row of the tree shows its own event, also an internal one", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "calculate 2+3*4");
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await panel(page).locator(".event[data-seq]").first().waitFor();
  const raw = panel(page).getByRole("region", { name: "Raw JSON" });
  // Details of an event that was pointed at before do not stay.
  await lines(page).first().hover();
  const models = panel(page).locator(".span[data-kind=model]");
  assert.ok((await models.count()) >= 2);
  assert.equal(await panel(page).getByRole("checkbox", { name: "internal" }).isChecked(), false);
  for (const row of await models.all()) {
    await row.click();
    const key = (await row.getAttribute("data-key")) ?? "";
    const [, seq, k] = /-(\d+)\.(\d+)$/.exec(key) ?? [];
    await raw.getByText(new RegExp(`"seq": ${seq},\\s+"k": ${k},`)).waitFor();
    await raw.getByText('"internal:llm-call"').waitFor();
    assert.equal(await lines(page).and(page.locator("[aria-selected=true]")).count(), 0);
  }
  await panel(page).locator(".span[data-kind=tool]").first().click();
  await raw.getByText('"tool-start"').waitFor();
  await lines(page).and(page.locator("[aria-selected=true][data-kind=tool-start]")).waitFor();
  await panel(page).getByRole("checkbox", { name: "internal" }).check();
  await models.first().click();
  await lines(page)
    .and(page.locator("[aria-selected=true][data-kind='internal:llm-call']"))
    .waitFor();
});
