import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { screenshot, SKIP, setUp } from "./page.js";

// An own server: the inbox shows the questions of all conversations.
const env = setUp({ own: true, files: { "notes.txt": "one\ntwo\n" } });
const options = { skip: SKIP };
const INBOX = { at: "#/inbox" };
const cards = (page: Page) => page.locator(".inbox .question-card");

/** Starts conversations and waits until each one asks; returns their ids. */
async function begin(...contents: string[]): Promise<string[]> {
  const { api } = env.server;
  const ids: string[] = [];
  for (const content of contents) {
    const { contextId } = await api.begin({ content, agentId: "agent-code" });
    ids.push(contextId);
    while (!(await api.inbox()).items.some((one) => one.contextId === contextId)) {
      await api.context(contextId);
    }
  }
  return ids;
}

/** The answers in a context. */
async function answers(contextId: string | undefined): Promise<unknown[]> {
  const filter = { kinds: ["input-received"] };
  const { events } = await env.server.api.events(contextId ?? "", { filter });
  return events.map((event) => ("value" in event ? event.value : undefined));
}

test("questions of several conversations are answered in one place", options, async () => {
  const question = JSON.stringify({ question: "Which size?", options: ["small", "large"] });
  const ids = await begin(
    "run echo <img src=x onerror=alert(1)>",
    "write four to notes.txt",
    "ask me which colour you like",
    `use ask_user ${question}`,
  );
  const { page, errors } = await env.open(INBOX);
  await cards(page).nth(3).waitFor();
  await cards(page).nth(0).getByText("$ echo <img src=x onerror=alert(1)>").waitFor();
  await cards(page).nth(1).getByText("-one").waitFor();
  // No card hides a part of what it asks.
  const hidden = await cards(page).evaluateAll((all) =>
    all.map((card) => card.scrollHeight - card.clientHeight),
  );
  assert.deepEqual(hidden, [0, 0, 0, 0]);
  assert.equal(await page.title(), "(4) Parley");
  assert.match((await page.locator('link[rel="icon"]').getAttribute("href")) ?? "", /waiting/);
  assert.equal(await page.locator(".inbox img").count(), 0);
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "inbox");
  await cards(page).nth(0).locator(".primary:enabled").waitFor();
  // Without the focus on a card, no key answers.
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.keyboard.press("ArrowDown");
  // Two keys at once: the second one was meant for the first card, and approves nothing.
  await page.evaluate(() => {
    const init = { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", init));
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", init));
  });
  await cards(page).nth(3).waitFor({ state: "detached" });
  await page.locator('.question-card:focus :text("-one")').waitFor();
  assert.deepEqual(await answers(ids[1]), []);
  await cards(page).nth(0).getByRole("button", { name: "Deny…" }).click();
  await page.keyboard.type("keep the file");
  await page.keyboard.press("Enter");
  await cards(page).nth(2).waitFor({ state: "detached" });
  await page.keyboard.type("red");
  await page.keyboard.press("Enter");
  await page.locator(".choice:enabled", { hasText: "large" }).click();
  await page.locator(".inbox-empty").waitFor();
  assert.deepEqual(await answers(ids[0]), [true]);
  assert.deepEqual(await answers(ids[1]), [{ approved: false, reason: "keep the file" }]);
  assert.deepEqual(await answers(ids[2]), ["red"]);
  assert.deepEqual(await answers(ids[3]), ["large"]);
  assert.deepEqual(errors, []);
});

test("several approvals are answered at once, and later ones are not", options, async () => {
  const ids = await begin("run echo one", "run echo two");
  const { page } = await env.open({ ...INBOX, viewport: { width: 390, height: 844 } });
  await page.getByLabel("Select all 2 approvals").check();
  const [later] = await begin("run echo three");
  await cards(page).nth(2).waitFor();
  await page.getByRole("button", { name: "Deny 2…" }).click();
  await page.getByLabel("Reason for all").fill("not today");
  await page.getByRole("button", { name: "Deny 2" }).click();
  await cards(page).nth(1).waitFor({ state: "detached" });
  for (const id of ids) {
    assert.deepEqual(await answers(id), [{ approved: false, reason: "not today" }]);
  }
  assert.deepEqual(await answers(later), []);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} pixels wide`);
  await cards(page).locator(".primary:enabled").click();
  await page.locator(".inbox-empty").waitFor();
});

test("an answer given elsewhere is reported on the card", options, async () => {
  const [id] = await begin("run echo elsewhere");
  const { page } = await env.open(INBOX);
  await cards(page).locator(".primary:enabled").waitFor();
  // The page does not hear of the other answer.
  await page.route("**/api/inbox*", (route) => route.abort());
  const { items } = await env.server.api.inbox();
  await env.server.api.answer(id ?? "", items[0]?.inputId ?? "", false);
  await cards(page).locator(".primary").click();
  await cards(page).getByRole("alert").waitFor();
});

test("a hidden page announces a question without its content", options, async () => {
  const { page } = await env.open();
  await page.evaluate(() => {
    const shown: string[] = [];
    class Recorder {
      static permission = "granted";
      constructor(title: string, { body }: { body: string }) {
        shown.push(`${title}: ${body}`);
      }
    }
    Object.assign(globalThis, { Notification: Recorder, shown });
    Object.defineProperty(document, "hidden", { get: () => true });
  });
  await page.locator(".sidebar").getByText("run echo elsewhere").waitFor();
  const { api } = env.server;
  const { contextId } = await api.createContext({ title: "Nightly build" });
  await api.send(contextId, { content: "run echo secret-word", agentId: "agent-code" });
  const shown = await page.waitForFunction(() => {
    const { shown } = globalThis as unknown as { shown: string[] };
    return shown.length > 0 ? shown : undefined;
  });
  assert.deepEqual(await shown.jsonValue(), ["Code asks for approval: Nightly build"]);
});

test("after an answer, a conversation leads to what waits elsewhere", options, async () => {
  const [first] = await begin("run echo here", "run echo there");
  const { page } = await env.open({ at: `#/c/${first}` });
  await page.locator(".question-card .primary:enabled").click();
  await page.getByRole("link", { name: /more questions? in the inbox/ }).click();
  await cards(page).getByText("$ echo there").waitFor();
});
