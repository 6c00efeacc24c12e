import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { startConversation, composer, latch, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ files: { "notes.txt": "one\ntwo\n" } });
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");
const box = (page: Page) => page.locator(".composer > textarea");
const approve = (page: Page) =>
  questionCard(page).locator(".primary:enabled", { hasText: "Approve" });
const entry = (page: Page, contextId: string) =>
  page.locator(`.sidebar .entry[href="#/c/${contextId}"]`);

/** A conversation with this message that waits for a person. */
async function waiting(content: string): Promise<string> {
  const { api } = env.server;
  const { contextId } = await api.createContext({ title: content });
  await api.send(contextId, { content });
  const asked = async (): Promise<boolean> =>
    (await api.inbox()).items.some((item) => item.contextId === contextId);
  while (!(await asked())) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return contextId;
}

async function events(contextId: string, kind: string): Promise<ParleyEvent[]> {
  const { events } = await env.server.api.events(contextId, { filter: { kinds: [kind] } });
  return events;
}

async function answers(contextId: string): Promise<unknown[]> {
  const received = await events(contextId, "input-received");
  return received.map((event) => event.kind === "input-received" && event.value);
}

/** Every typed key, including former shortcuts. */
const LETTERS = "you must not do that, y d n a 1 2 3 ? / j k g i";

for (const how of ["a click in the list", "its address"]) {
  test(`no typed letter decides about a call that waits, opened by ${how}`, options, async () => {
    const contextId = await waiting("run echo important");
    const { page } = await env.open(how === "its address" ? { at: `#/c/${contextId}` } : {});
    if (how !== "its address") {
      await entry(page, contextId).click();
    }
    await approve(page).waitFor();
    await page.keyboard.type(LETTERS);
    assert.equal(await box(page).inputValue(), LETTERS);
    assert.match(page.url(), new RegExp(contextId));
    assert.deepEqual(await answers(contextId), []);
    // Also with Ctrl+Enter: there is text to send.
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.locator(".queue, .outgoing").getByText("you must not").first().waitFor();
    assert.deepEqual(await answers(contextId), []);
    await questionCard(page).getByText("Runs a command on this machine").waitFor();
  });
}

test("a letter typed where there is no input lands in the visible one", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo hello");
  await approve(page).waitFor();
  for (const place of [".thread", ".sidebar-keys", ".title button", ".question-card", ".stop"]) {
    await box(page).fill("");
    await page.locator(place).first().focus();
    await page.keyboard.type("yes no");
    assert.equal(await box(page).inputValue(), "yes no", place);
  }
  await page.locator(".segments input").first().focus();
  await page.keyboard.type("!");
  assert.equal(await box(page).inputValue(), "yes no!");
  await page.locator(".question-head").click();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.deepEqual(await answers(contextId), []);
});

test("a call is approved with the chord, and only while it is in sight", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo hello");
  await approve(page).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await approve(page).waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+Enter");
  assert.deepEqual(await answers(contextId), []);
  await questionCard(page).getByRole("button", { name: "Expand question" }).click();
  await approve(page).waitFor();
  // In another field, the shortcut does not apply to the call.
  await page.getByRole("searchbox").focus();
  await page.keyboard.press("ControlOrMeta+Enter");
  assert.deepEqual(await answers(contextId), []);
  await box(page).focus();
  await page.keyboard.press("ControlOrMeta+Enter");
  await waitUntilIdle(page);
  assert.deepEqual(await answers(contextId), [true]);
});

test("Enter in an edited argument approves nothing", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo before");
  await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Command" }).fill("echo after");
  await approve(page).waitFor();
  await page.keyboard.press("Enter");
  await questionCard(page).getByText("Before your changes: Runs a command").waitFor();
  assert.deepEqual(await answers(contextId), []);
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.getByText("approved, with changes").waitFor();
});

test(
  "what is typed after a click on a question answers it, and nothing else",
  options,
  async () => {
    const contextId = await waiting("ask me which colour");
    const { page } = await env.open();
    await startConversation(page, "say other");
    await waitUntilIdle(page);
    const other = page.url();
    await box(page).fill("half a message");
    // It has not loaded while the text is typed and sent.
    const load = latch();
    await page.route(`**/api/contexts/${contextId}**`, async (route) => {
      await load.opened;
      await route.continue();
    });
    await entry(page, contextId).click();
    await page.keyboard.type("no green please");
    await page.keyboard.press("Enter");
    assert.match(page.url(), new RegExp(contextId));
    load.open();
    await page.locator(".question").getByText("no green please").waitFor();
    assert.deepEqual(await answers(contextId), ["no green please"]);
    const said = await env.server.api.messages(contextId);
    assert.equal(said.items.filter((message) => message.role === "user").length, 1);
    await waitUntilIdle(page);
    assert.equal(await box(page).inputValue(), "");
    await page.goto(other);
    await composer(page).waitFor();
    assert.equal(await box(page).inputValue(), "half a message");
  },
);

test("keys that come in the same moment as the click go to what was clicked", options, async () => {
  const contextId = await waiting("ask me which colour");
  const { page } = await env.open();
  const other = await startConversation(page, "say other");
  await waitUntilIdle(page);
  await entry(page, contextId).waitFor();
  // The task after the click, before the browser reports the new address.
  const typed = await page.evaluate(async (href) => {
    document.querySelector<HTMLElement>(`.sidebar .entry[href="${href}"]`)?.click();
    await Promise.resolve();
    await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
    const field = document.activeElement;
    return field instanceof HTMLTextAreaElement && location.hash === href;
  }, `#/c/${contextId}`);
  assert.equal(typed, true);
  await page.keyboard.type("red");
  await page.getByRole("textbox", { name: /^Answer to/ }).waitFor();
  assert.equal(await box(page).inputValue(), "red");
  await page.goto(`${env.server.url}/#/c/${other}`);
  await page.getByText("other", { exact: true }).waitFor();
  assert.equal(await box(page).inputValue(), "");
});

test(
  "the composer answers the question that is open, or sends a message if one says so",
  options,
  async () => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    const contextId = await startConversation(page, "ask me which colour");
    const answer = page.getByRole("textbox", { name: /^Answer to Code: .*colour/i });
    await answer.waitFor();
    await page.locator(".composer-target").getByText("Answer to Code:").waitFor();
    await page.keyboard.type("say later");
    await page.getByRole("button", { name: "New message instead" }).click();
    await page.locator(".composer-target").getByText("New message.").waitFor();
    assert.equal(await composer(page).inputValue(), "say later");
    await page.keyboard.press("Enter");
    await page.locator(".queue").getByText("say later").waitFor();
    assert.deepEqual(await answers(contextId), []);
    await answer.waitFor();
    await page.keyboard.type("red");
    await page.keyboard.press("Enter");
    await page.locator(".question").getByText("red").waitFor();
    assert.deepEqual(await answers(contextId), ["red"]);
    await page.locator('[data-kind="text"]').getByText("later").waitFor();
  },
);

test("a message that is begun stays one when a question comes up", options, async () => {
  const { page } = await env.open();
  await page.route("**/stream**", (route) => route.continue());
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  await box(page).fill("also this");
  await env.server.api.send(contextId, { content: "ask me which colour" });
  await page.locator(".composer-target").getByText("is still waiting for your answer").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".queue").getByText("also this").waitFor();
  assert.deepEqual(await answers(contextId), []);
  // The queued message becomes the answer.
  await page.getByRole("button", { name: "Use as answer" }).click();
  await page.locator(".question").getByText("also this").waitFor();
  assert.deepEqual(await answers(contextId), ["also this"]);
});

test("a choice is typed by its name or its number", options, async () => {
  const { page } = await env.open();
  const ask = { question: "Which colour?", options: ["red", "green", "blue"] };
  const contextId = await startConversation(page, `use ask_user ${JSON.stringify(ask)}`);
  await questionCard(page).locator(".choice:enabled").first().waitFor();
  await page.keyboard.type("2");
  assert.deepEqual(await answers(contextId), []);
  await box(page).fill("violet");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Type one of the choices").waitFor();
  await box(page).fill("2");
  await page.keyboard.press("Enter");
  await page.locator(".question").getByText("green").waitFor();
  assert.deepEqual(await answers(contextId), ["green"]);
});

for (const [what, content] of [
  ["in words", "ask me which colour"],
  ["with choices", 'use ask_user {"question":"Which?","options":["a","b"]}'],
  [
    "with a form",
    'use ask_user {"question":"Which?","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}',
  ],
] as const) {
  test(`a question ${what} can be skipped`, options, async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, content);
    await questionCard(page).getByRole("button", { name: "Skip" }).click();
    await page.locator(".question").getByText("skipped").waitFor();
    await waitUntilIdle(page);
    assert.deepEqual(await answers(contextId), [{ skipped: true }]);
    await page.getByText("the person skipped this question").first().waitFor({ state: "attached" });
  });
}

test("a sign-in can be skipped, and what is typed goes to its field", options, async () => {
  const contextId = await waiting("sign in to api.example.org");
  const { page } = await env.open();
  await entry(page, contextId).click();
  const key = page.getByLabel("Key for api.example.org");
  await key.waitFor();
  await page.locator(".thread").focus();
  await page.keyboard.type("s3cret");
  assert.equal(await key.inputValue(), "s3cret");
  assert.equal(await box(page).inputValue(), "");
  await questionCard(page).getByRole("button", { name: "Skip" }).click();
  await waitUntilIdle(page);
  await page.getByText("the person skipped this sign-in").first().waitFor({ state: "attached" });
  assert.equal((await events(contextId, "auth-completed")).length, 0);
});

test("a text beside an approval denies only if one says so", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo hello");
  await approve(page).waitFor();
  await page.keyboard.type("not on a Sunday");
  await page.locator(".composer-target").getByText("is waiting for your approval").waitFor();
  await page.getByRole("button", { name: "Deny with this reason" }).click();
  await page.getByText("denied: not on a Sunday").waitFor();
  assert.deepEqual(await answers(contextId), [{ approved: false, reason: "not on a Sunday" }]);
  assert.equal(await box(page).inputValue(), "");
});

test("an approval says in plain words what the call does", options, async () => {
  const { page } = await env.open();
  for (const [content, words] of [
    ["write four to notes.txt", "Overwrites notes.txt"],
    ["write four to fresh.txt", "Creates fresh.txt"],
    ["run echo hello", "Runs a command on this machine"],
    ['use edit_file {"path":"notes.txt","oldText":"one","newText":"1"}', "Changes notes.txt"],
    [
      'use http {"url":"https://api.example.org/x","method":"POST","body":"y"}',
      "Sends a POST request to api.example.org",
    ],
  ] as const) {
    await startConversation(page, content);
    await approve(page).waitFor();
    await questionCard(page).locator(".approval-summary", { hasText: words }).waitFor();
    assert.doesNotMatch(await questionCard(page).innerText(), /without harm/);
  }
});

test("Escape, however often, never stops a task that asks", options, async () => {
  const { page } = await env.open();
  for (const content of ["ask me which colour", "run echo hello"]) {
    const contextId = await startConversation(page, content);
    await questionCard(page).waitFor();
    for (const place of [".composer > textarea", ".thread", ".question-card"]) {
      await page.locator(place).first().focus();
      for (let i = 0; i < 4; i++) {
        await page.keyboard.press("Escape");
      }
    }
    assert.deepEqual(await events(contextId, "cancel-requested"), []);
    assert.equal(await questionCard(page).locator(".question-actions").count(), 0, "it is folded");
    await questionCard(page).getByRole("button", { name: "Expand question" }).click();
    await questionCard(page).locator(".question-actions").waitFor();
    await page.keyboard.press("ControlOrMeta+Shift+Period");
    await page.getByText("Stopped.").waitFor();
    await waitUntilIdle(page);
  }
});

test("an answer that comes too late is not lost, and answers nothing else", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "ask me which colour");
  await page.getByRole("textbox", { name: /^Answer to/ }).fill("re");
  const asked = (await env.server.api.inbox()).items.find((item) => item.contextId === contextId);
  await env.server.api.answer(contextId, asked?.inputId ?? "", "blue");
  await questionCard(page).waitFor({ state: "detached" });
  assert.equal(await composer(page).inputValue(), "re");
  await waitUntilIdle(page);
  assert.deepEqual(await answers(contextId), ["blue"]);
});
