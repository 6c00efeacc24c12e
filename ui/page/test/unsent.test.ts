import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  startConversation,
  composer,
  latch,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
} from "./page.js";

const env = setUp({ files: { "notes.txt": "one\n" } });
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");
const ask = (question: object) => `use ask_user ${JSON.stringify(question)}`;
const at = (contextId: string) => `${env.server.url}/#/c/${contextId}`;

test(
  "what could not be sent waits in its conversation while one looks elsewhere",
  options,
  async () => {
    const { page } = await env.open();
    const other = await startConversation(page, "say other");
    await waitUntilIdle(page);
    const contextId = await startConversation(page, "say first");
    await waitUntilIdle(page);
    await page.route("**/messages", (route) => route.abort());
    await sendMessage(page, "say second");
    await page.locator(".outgoing").getByRole("alert").waitFor();
    await page.goto(at(other));
    await page.locator('[data-kind="text"]').getByText("other").waitFor();
    assert.equal(await page.locator(".outgoing").count(), 0);
    const asked = page.waitForEvent("dialog");
    void page.reload().catch(() => undefined);
    await (await asked).dismiss();
    await page.goto(at(contextId));
    await page.locator(".outgoing").getByText("say second").waitFor();
    await page.unroute("**/messages");
    await page.locator('[data-kind="text"]').getByText("second").waitFor();
    await page.locator(".outgoing").waitFor({ state: "detached" });
  },
);

test(
  "an answer that was begun is there again, whatever one looks at meanwhile",
  options,
  async () => {
    const { page } = await env.open();
    const other = await startConversation(page, "say other");
    await waitUntilIdle(page);
    const properties = { name: { type: "string" }, seats: { type: "integer" } };
    const schema = { type: "object", properties };
    const contextId = await startConversation(page, ask({ question: "Who?", schema }));
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Seats").fill("2");
    const { position } = await env.server.api.context(contextId);
    await page.goto(`${at(contextId)}/at/${Number(position) - 1}`);
    await page.locator(".past-bar").waitFor();
    await page.goto(at(contextId));
    assert.equal(await page.getByLabel("Name").inputValue(), "Ada");
    await page.goto(at(other));
    await page.locator('[data-kind="text"]').getByText("other").waitFor();
    await page.goto(at(contextId));
    assert.equal(await page.getByLabel("Seats").inputValue(), "2");
    await questionCard(page).getByRole("button", { name: "Answer" }).click();
    await waitUntilIdle(page);

    await startConversation(page, "write four to notes.txt");
    await questionCard(page).locator(".primary:enabled").waitFor();
    await questionCard(page).getByRole("button", { name: "Deny…" }).click();
    await page.getByRole("textbox", { name: "Reason" }).fill("not today");
    const denied = page.url();
    await page.goto(at(other));
    await page.locator('[data-kind="text"]').getByText("other").waitFor();
    await page.goto(denied);
    assert.equal(await page.getByRole("textbox", { name: "Reason" }).inputValue(), "not today");
  },
);

test(
  "what is typed for a new conversation is not taken by one that began meanwhile",
  options,
  async () => {
    const { page } = await env.open();
    const other = await startConversation(page, "say other");
    await waitUntilIdle(page);
    await page.goto(`${env.server.url}/#/`);
    const gone = latch();
    const asked = latch();
    await page.route("**/api/messages", async (route) => {
      asked.open();
      await gone.opened;
      await route.continue();
    });
    await sendMessage(page, "say slowly");
    await asked.opened;
    await page.goto(at(other));
    await page.locator('[data-kind="text"]').getByText("other").waitFor();
    const answered = page.waitForResponse("**/api/messages");
    gone.open();
    const { contextId } = (await (await answered).json()) as { contextId: string };
    await page.goto(`${env.server.url}/#/`);
    await composer(page).fill("something else");
    await page.goto(at(contextId));
    await page.locator('[data-kind="text"]').getByText("slowly").waitFor();
    assert.equal(await composer(page).inputValue(), "");
  },
);

test("what was typed and not sent is there after a reload", options, async () => {
  const { page } = await env.open();
  await composer(page).fill("not yet begun");
  await page.reload();
  assert.equal(await composer(page).inputValue(), "not yet begun");
  await composer(page).fill("");
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  await composer(page).fill("half a <b>thought</b>");
  await page.goto(`${env.server.url}/#/`);
  await page.reload();
  assert.equal(await composer(page).inputValue(), "");
  await page.goto(`${env.server.url}/#/c/${contextId}`);
  await page.locator(".task-footer").waitFor();
  assert.equal(await composer(page).inputValue(), "half a <b>thought</b>");
  await composer(page).press("Enter");
  await page.locator(".message.user").nth(1).waitFor();
  await waitUntilIdle(page);
  await page.reload();
  await page.locator(".task-footer").nth(1).waitFor();
  assert.equal(await composer(page).inputValue(), "");
});

test("an answer that was begun is there after a reload, and a key is not", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "ask me which colour you like");
  await page.getByRole("textbox", { name: /Answer to/ }).fill("dark re");
  await page.reload();
  await page.locator(".question-card").waitFor();
  assert.equal(await page.locator(".composer > textarea").inputValue(), "dark re");
  await startConversation(page, "sign in to example");
  await page.locator('.question-card input[type="password"]').fill("secret-key");
  await page.reload();
  await page.locator(".question-card").waitFor();
  assert.equal(await page.locator('.question-card input[type="password"]').inputValue(), "");
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert.doesNotMatch(stored, /secret-key/);
});
