import assert from "node:assert/strict";
import { test } from "node:test";
import {
  startConversation,
  composer,
  latch,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
} from "./page.js";

const env = setUp({ own: true });
const options = { skip: SKIP };

test("a first visit offers three things to try, and each works", options, async () => {
  const { page, errors } = await env.open();
  await page.getByText("Welcome. What would you like done?").waitFor();
  assert.equal(await page.locator(".suggestion").count(), 3);
  await screenshot(page, "first-run");
  await page.getByText("Watch agents work in parallel").click();
  await page.getByText("2 of 2 done").waitFor();
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByText("Approve a command").click();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await waitUntilIdle(page);
  await page.locator('[data-kind="text"]').getByText("hello from the shell").last().waitFor();
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByText("Have a report written").click();
  await page.getByText("I have written a report on the history of tea").waitFor();
  assert.deepEqual(errors, []);
});

test("conversations stand under what they need: you, time, or nothing", options, async () => {
  const { page } = await env.open();
  const asks = await startConversation(page, "ask me which colour");
  const group = (name: string) => page.locator(`[data-group="${name}"]`);
  await group("needs").getByText("ask me which colour").waitFor();
  await page.waitForFunction(() => document.title.startsWith("(1)"));
  const runs = await startConversation(page, "count slowly to 4000");
  await group("runs").getByText("count slowly to 4000").waitFor();
  await screenshot(page, "conversations");
  // An answer from another window moves it here too.
  const { items } = await env.server.api.inbox();
  await env.server.api.answer(asks, items[0]?.inputId ?? "", "blue");
  await group("done").getByText("ask me which colour").waitFor();
  await env.server.api.cancelTask(runs, (await env.server.api.tasks(runs)).items[0]?.taskId ?? "");
  const stopped = group("done").getByRole("link", { name: /count slowly to 4000/ });
  await stopped.getByText("stopped", { exact: true }).waitFor();
  await startConversation(page, "fail");
  const failed = group("done").getByRole("link", { name: /^fail / });
  await failed.getByText("failed", { exact: true }).waitFor();
  const answered = group("done").getByRole("link", { name: /ask me which colour/ });
  assert.equal(await answered.locator(".entry-end").count(), 0);
});

test("search finds by words of the title, and says so when there is nothing", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "say violins are made of wood");
  await waitUntilIdle(page);
  await startConversation(page, "say trumpets are made of brass");
  await waitUntilIdle(page);
  await page.keyboard.press("Escape");
  await page.locator("body").click({ position: { x: 700, y: 300 } });
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("wood VIOL");
  await page.locator(".entry", { hasText: "trumpets" }).waitFor({ state: "detached" });
  assert.equal(await page.locator(".entry").count(), 1);
  await page.keyboard.type("xyz");
  await page.getByText("No results for").waitFor();
});

test("a new conversation takes an agent, a folder and options", options, async () => {
  const { page } = await env.open();
  await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-data");
  await page.getByText("Options").click();
  await page.getByRole("textbox", { name: "Working directory" }).fill(".");
  await page.getByRole("combobox", { name: "Priority" }).selectOption("high");
  await page.getByRole("spinbutton", { name: "Time limit (minutes)" }).fill("2");
  const contextId = await startConversation(page, "say hello");
  await waitUntilIdle(page);
  const [task] = (await env.server.api.tasks(contextId)).items;
  assert.deepEqual(
    [task?.agentId, task?.priority, task?.timeoutMs],
    ["agent-data", "high", 120_000],
  );
  await page.getByRole("combobox", { name: "Agent" }).selectOption("");
});

test(
  "who is chosen in one conversation is asked there again, and not elsewhere",
  options,
  async () => {
    const { page } = await env.open();
    const agent = page.getByRole("combobox", { name: "Agent" });
    const first = await startConversation(page, "say one");
    await waitUntilIdle(page);
    assert.equal(await agent.inputValue(), "");
    await agent.selectOption("agent-writer");
    await sendMessage(page, "say two");
    await page.locator('[data-kind="text"]').getByText("two").waitFor();
    await waitUntilIdle(page);
    await startConversation(page, "say three");
    assert.equal(await agent.inputValue(), "");
    await page.goto(`${env.server.url}/#/c/${first}`);
    await page.getByText("two", { exact: true }).waitFor();
    assert.equal(await agent.inputValue(), "agent-writer");
  },
);

test("what the server refuses is said, and what was typed stays", options, async () => {
  const { page } = await env.open();
  await page.getByText("Options").click();
  await page.getByRole("textbox", { name: "Working directory" }).fill("/nowhere/at/all");
  await sendMessage(page, "list files");
  await page.getByRole("alert").waitFor();
  assert.equal(await composer(page).inputValue(), "list files");
});

test("who goes on typing after a message goes on in its conversation", options, async () => {
  const { page } = await env.open();
  await page.getByText("What would you like done?").waitFor();
  const send = latch();
  await page.route("**/messages", async (route) => {
    await send.opened;
    await route.continue();
  });
  await page.keyboard.type("say hello");
  await page.keyboard.press("Enter");
  // No letter is a shortcut.
  const some = "j and d, n? k y / i g ";
  const words = some.repeat(12);
  await page.keyboard.type(some);
  send.open();
  await page.keyboard.type(words.slice(some.length), { delay: 5 });
  await page.waitForURL(/#\/c\//);
  await page.locator('[data-kind="text"]').getByText("hello").waitFor();
  await page.keyboard.type("end");
  assert.equal(await composer(page).inputValue(), `${words}end`);
  await waitUntilIdle(page);
  await page.keyboard.press("Alt+n");
  await page.getByText("Try one of these").waitFor();
  assert.equal(await composer(page).inputValue(), "");
  // It is still there on return.
  await page.goBack();
  await page.getByRole("log").waitFor();
  assert.equal(await composer(page).inputValue(), `${words}end`);
});

test("what was typed stays with the message that could not be sent", options, async () => {
  const { page } = await env.open();
  await page.getByText("What would you like done?").waitFor();
  const refuse = latch();
  await page.route("**/api/messages", async (route) => {
    await refuse.opened;
    await route.fulfill({ status: 400, json: { code: "invalid", detail: "not like this" } });
  });
  await sendMessage(page, "say first");
  await page.keyboard.type("say second");
  refuse.open();
  await page.getByRole("alert").waitFor();
  assert.equal(await composer(page).inputValue(), "say first\n\nsay second");
});

test("a conversation can be renamed and deleted", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say something to forget");
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "say something to forget" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Forgettable");
  await page.keyboard.press("Enter");
  await page.locator(".entry", { hasText: "Forgettable" }).waitFor();
  const elsewhere = (await env.open({ at: `#/c/${contextId}` })).page;
  await waitUntilIdle(elsewhere);
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.locator(".entry", { hasText: "Forgettable" }).waitFor({ state: "detached" });
  await page.waitForURL(/#\/$/);
  await page.goto(`${env.server.url}/#/c/${contextId}`);
  for (const one of [page, elsewhere]) {
    await one.getByText("This conversation was deleted.").waitFor();
    assert.equal(await one.getByRole("button", { name: "Try again" }).count(), 0);
  }
});

test("a title is changed from the keyboard, or left as it was", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "say a first title");
  await waitUntilIdle(page);
  const sent: string[] = [];
  page.on("request", (one) => one.method() === "PATCH" && sent.push(one.postData() ?? ""));
  const title = (name: string) => page.locator("h2.title").getByRole("button", { name });
  await title("say a first title").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Title" }).waitFor();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Not this");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.closest("h2.title") !== null);
  assert.equal(await title("say a first title").count(), 1);
  await page.keyboard.press("Enter");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("A better title");
  await page.keyboard.press("Enter");
  await title("A better title").waitFor();
  await page.waitForFunction(() => document.activeElement?.closest("h2.title") !== null);
  assert.deepEqual(sent, [JSON.stringify({ title: "A better title" })]);
});

test("a conversation is deleted from the list, by the mouse and by a key", options, async () => {
  const { page } = await env.open();
  for (const word of ["one", "two", "three"]) {
    await startConversation(page, `say unwanted ${word}`);
    await waitUntilIdle(page);
  }
  const entry = (word: string) => page.locator(".entry-box", { hasText: `unwanted ${word}` });
  const dialog = page.getByRole("dialog", { name: "Delete this conversation?" });
  await entry("one").hover();
  await entry("one").locator(".entry-delete").click();
  await dialog.getByText("say unwanted one").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await entry("one").hover();
  await entry("one").locator(".entry-delete").click();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await entry("one").waitFor({ state: "detached" });
  // The open conversation stays open when another is deleted.
  await page.locator('[data-kind="text"]').getByText("unwanted three").waitFor();
  await entry("three").locator(".entry").focus();
  await page.keyboard.press("Delete");
  await dialog.getByText("say unwanted three").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await entry("three").waitFor({ state: "detached" });
  await page.getByText("What would you like done?").waitFor();
  await entry("two").waitFor();
});

test("a conversation in which nothing was said yet says what to do", options, async () => {
  const { contextId } = await env.server.api.createContext({});
  const { page } = await env.open({ at: `#/c/${contextId}` });
  await page.getByText("No messages yet").waitFor();
  await sendMessage(page, "say hello");
  await page.locator('[data-kind="text"]').getByText("hello").waitFor();
  assert.equal(await page.getByText("No messages yet").count(), 0);
});

test("links lead to a context, a task and an event", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(
    page,
    "delegate think about tea to research and writer",
  );
  await waitUntilIdle(page);
  await sendMessage(page, "say the second thing");
  await page.getByText("the second thing").last().waitFor();
  await waitUntilIdle(page);
  const tasks = (await env.server.api.tasks(contextId)).items;
  const writer = tasks.find((task) => task.agentId === "agent-writer");
  const { page: other } = await env.open({ at: `#/c/${contextId}/t/${writer?.taskId}` });
  await other.locator(`[data-task="${writer?.taskId}"] .subagent-thread`).waitFor();
  const [first] = (await env.server.api.messages(contextId)).items;
  await other.goto(`${env.server.url}/#/c/${contextId}/e/${first?.seq}`);
  const marked = other.locator("[data-marked]");
  await marked.waitFor();
  assert.match(await marked.innerText(), /delegate think about tea/);
  await other.goto(`${env.server.url}/#/c/no-such-thing`);
  await other.getByText("This conversation does not exist").waitFor();
});

test(
  "among 500 conversations an old one is found, and one that waits stands on top",
  options,
  async () => {
    const { api } = env.server;
    const old = await api.createContext({ title: "The harpsichord of Aunt Älice" });
    const asks = await api.createContext({ title: "Waits since long ago" });
    await api.send(asks.contextId, { content: "ask me which colour" });
    for (let i = 0; i < 500; i += 50) {
      const some = Array.from({ length: 50 }, (_, n) => `Number ${i + n} of many`);
      await Promise.all(some.map((title) => api.createContext({ title })));
    }
    const { page } = await env.open();
    await page.locator(".entry", { hasText: "of many" }).first().waitFor();
    await page
      .locator('[data-group="needs"] .entry', { hasText: "Waits since long ago" })
      .waitFor();
    assert.equal(await page.locator(".entry", { hasText: "harpsichord" }).count(), 0);
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("älice HARPS");
    await page.locator(".entry", { hasText: "harpsichord" }).click();
    await page.waitForURL((url) => url.hash.includes(old.contextId));
    assert.equal(await page.locator(".entry").count(), 1);
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("");
    await page.locator(".entry", { hasText: "of many" }).first().waitFor();
  },
);

test(
  "the agent that was chosen last is asked also before the list of agents is there",
  options,
  async () => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    const answer = latch();
    await page.route("**/api/agent-types*", async (route) => {
      await answer.opened;
      await route.continue();
    });
    await page.reload();
    const sent = page.waitForRequest(
      (one) => one.method() === "POST" && /messages/.test(one.url()),
    );
    await page.getByRole("textbox", { name: "Message" }).fill("say hello");
    await page.keyboard.press("Enter");
    assert.equal((await sent).postDataJSON().message.agentId, "agent-code");
    answer.open();
  },
);
