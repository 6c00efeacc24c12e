import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { begin, settled, SKIP, stage } from "./page.js";

const it = stage({ files: { "poem.txt": "Roses are red\nViolets are blue\nSugar is sweet\n" } });
const options = { skip: SKIP };
const dock = (page: Page) => page.locator(".dock");
const EDIT = { path: "poem.txt", oldText: "Violets are blue", newText: "Violets are violet" };

test("an edit is approved by what it changes, and a change of it is what is written", options, async () => {
  const { page } = await it.open();
  await begin(page, `use edit_file ${JSON.stringify(EDIT)}`);
  const diff = dock(page).locator(".diff");
  await diff.locator(".diff-removed", { hasText: "-Violets are blue" }).waitFor();
  await diff.locator(".diff-added", { hasText: "+Violets are violet" }).waitFor();
  await diff.locator(".diff-same", { hasText: "Roses are red" }).waitFor();
  await dock(page).getByText("edit_file").first().waitFor();
  await dock(page).getByRole("button", { name: "Edit first" }).click();
  await dock(page).getByLabel("New text").fill("Violets are purple");
  await dock(page).locator(".primary:enabled", { hasText: "Approve with changes" }).click();
  await page.getByText("approved, with changes").waitFor();
  await settled(page);
  await begin(page, "read poem.txt");
  await settled(page);
  const text = await page.locator('[data-kind="text"]').last().innerText();
  assert.match(text, /Violets are purple/);
  assert.doesNotMatch(text, /Violets are (blue|violet)/);
});

test("nothing may take the place of something", options, async () => {
  const { page } = await it.open();
  await begin(page, `use edit_file ${JSON.stringify({ ...EDIT, oldText: "Sugar is sweet\n" })}`);
  await dock(page).locator(".diff-removed", { hasText: "-Sugar is sweet" }).waitFor();
  await dock(page).getByRole("button", { name: "Edit first" }).click();
  await dock(page).getByLabel("New text").fill("");
  await dock(page).locator(".primary:enabled", { hasText: "Approve with changes" }).click();
  await settled(page);
  await begin(page, "read poem.txt");
  await settled(page);
  assert.doesNotMatch(await page.locator('[data-kind="text"]').last().innerText(), /Sugar/);
});

test("arguments that do not fit cannot be approved, and say why", options, async () => {
  const { page } = await it.open();
  await begin(page, "run echo careful");
  await dock(page).getByRole("button", { name: "Edit first" }).click();
  await dock(page).getByLabel("Timeout ms").fill("soon");
  await dock(page).getByText("This is to be a whole number.").waitFor();
  assert.equal(await dock(page).locator(".primary").isDisabled(), true);
  await dock(page).getByRole("button", { name: "As it was" }).click();
  await dock(page).locator(".primary:enabled", { hasText: "Approve" }).click();
  await settled(page);
});
