import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ files: { "poem.txt": "Roses are red\nViolets are blue\nSugar is sweet\n" } });
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");
const EDIT = { path: "poem.txt", oldText: "Violets are blue", newText: "Violets are violet" };

test(
  "an edit is approved by what it changes, and a change of it is what is written",
  options,
  async () => {
    const { page } = await env.open();
    await startConversation(page, `use edit_file ${JSON.stringify(EDIT)}`);
    const diff = questionCard(page).locator(".diff");
    await diff.locator(".diff-removed", { hasText: "-Violets are blue" }).waitFor();
    await diff.locator(".diff-added", { hasText: "+Violets are violet" }).waitFor();
    await diff.locator(".diff-same", { hasText: "Roses are red" }).waitFor();
    await questionCard(page).getByText("edit_file").first().waitFor();
    await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
    await questionCard(page).getByLabel("New text").fill("Violets are purple");
    await questionCard(page)
      .locator(".primary:enabled", { hasText: "Approve with changes" })
      .click();
    await page.getByText("approved, with changes").waitFor();
    await waitUntilIdle(page);
    await startConversation(page, "read poem.txt");
    await waitUntilIdle(page);
    const text = await page.locator('[data-kind="text"]').last().innerText();
    assert.match(text, /Violets are purple/);
    assert.doesNotMatch(text, /Violets are (blue|violet)/);
  },
);

test("nothing may take the place of something", options, async () => {
  const { page } = await env.open();
  await startConversation(
    page,
    `use edit_file ${JSON.stringify({ ...EDIT, oldText: "Sugar is sweet\n" })}`,
  );
  await questionCard(page).locator(".diff-removed", { hasText: "-Sugar is sweet" }).waitFor();
  await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
  await questionCard(page).getByLabel("New text").fill("");
  await questionCard(page).locator(".primary:enabled", { hasText: "Approve with changes" }).click();
  await waitUntilIdle(page);
  await startConversation(page, "read poem.txt");
  await waitUntilIdle(page);
  assert.doesNotMatch(await page.locator('[data-kind="text"]').last().innerText(), /Sugar/);
});

test("arguments that do not fit cannot be approved, and say why", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "run echo careful");
  await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
  await questionCard(page).getByLabel("Timeout ms").fill("soon");
  await questionCard(page).getByText("This must be a whole number.").waitFor();
  assert.equal(await questionCard(page).locator(".primary").isDisabled(), true);
  await questionCard(page).getByRole("button", { name: "Reset" }).click();
  await questionCard(page).locator(".primary:enabled", { hasText: "Approve" }).click();
  await waitUntilIdle(page);
});
