import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  downloadedText,
  startConversation,
  composer,
  stopByKeys,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
} from "./page.js";

const env = setUp({ files: { "notes.txt": "one\ntwo\n" } });
const options = { skip: SKIP };
const panel = (page: Page) => page.getByRole("complementary", { name: "Trace" });
const spans = (page: Page) => panel(page).getByRole("treeitem");
const lines = (page: Page) => panel(page).getByRole("listbox").getByRole("option");

async function openPanel(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await panel(page).locator(".event[data-seq]").first().waitFor();
}

test("a tree of tasks, models and tools shows time and tokens, and folds", options, async () => {
  const { page, errors } = await env.open();
  await startConversation(page, "delegate tea to agent-research and agent-writer");
  await waitUntilIdle(page);
  await openPanel(page);
  // The supervisor, its call of subagents, and two agents with a model call each.
  const all = await spans(page).count();
  assert.equal(all, 6);
  await spans(page).filter({ hasText: "subagents" }).first().waitFor();
  for (const name of ["Research", "Writer"]) {
    const row = spans(page).filter({ hasText: name });
    assert.match((await row.getAttribute("title")) ?? "", /task, .*, done, [\d.]+ m?s/);
    assert.match(await row.innerText(), /\d tok/);
  }
  const width = await spans(page).first().locator(".span-bar").boundingBox();
  assert.ok((width?.width ?? 0) > 50);
  await panel(page).getByRole("tree").focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelectorAll(".span").length === 1);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((n) => document.querySelectorAll(".span").length === n, all);
  assert.deepEqual(errors, []);
});

test("AGENT-78: what one points at is marked everywhere, with its raw JSON", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "read notes.txt");
  await waitUntilIdle(page);
  await openPanel(page);
  await spans(page).filter({ hasText: "read_file" }).hover();
  await page.locator(".thread [data-pointed][data-kind=call]").waitFor();
  await panel(page).locator(".event[data-marked][data-kind=tool-start]").waitFor();
  await panel(page).locator(".event[data-kind=tool-complete][data-marked]").hover();
  await spans(page).filter({ hasText: "read_file" }).and(page.locator("[data-marked]")).waitFor();
  const raw = panel(page).getByRole("region", { name: "Raw JSON" });
  const shown = JSON.parse(await raw.locator("pre").innerText()) as { kind: string };
  assert.equal(shown.kind, "tool-complete");
  await page.locator(".thread [data-kind=message]").first().hover();
  await panel(page).locator(".span[data-kind=task][data-marked]").first().waitFor();
  await page.locator(".thread [data-kind=text]").first().hover();
  await panel(page).locator(".span[data-kind=model][data-marked]").waitFor();
  await panel(page).locator(".event[data-kind=content-complete][data-marked]").waitFor();
  await lines(page).filter({ hasText: "tool-start" }).last().click();
  await page.locator(".thread [data-kind=call][data-marked]").waitFor();
  assert.match(page.url(), /\/e\/\d+$/);
});

test(
  "the log is filtered by kind, words and internal, and read with the keys",
  options,
  async () => {
    const { page } = await env.open();
    await startConversation(page, "think about tea");
    await waitUntilIdle(page);
    await openPanel(page);
    const kinds = (): Promise<string[]> =>
      panel(page)
        .locator(".event-kind")
        .evaluateAll((all) => [...new Set(all.map((one) => one.textContent ?? ""))]);
    await panel(page).getByLabel("Kind").selectOption("thought-stream");
    await panel(page).locator(".event[data-kind=usage]").first().waitFor({ state: "detached" });
    await panel(page).locator(".event[data-kind=thought-stream]").first().waitFor();
    assert.deepEqual(await kinds(), ["[thought-stream]"]);
    await panel(page).getByLabel("Kind").selectOption("");
    await panel(page).getByRole("checkbox", { name: "internal" }).check();
    await panel(page).getByRole("searchbox", { name: "Search in events" }).fill("llm-call");
    await panel(page).locator("[data-kind='internal:llm-call']").first().waitFor();
    await panel(page).getByRole("checkbox", { name: "internal" }).uncheck();
    await panel(page).getByRole("searchbox", { name: "Search in events" }).fill("CONTEXT-created");
    await page.waitForFunction(() => document.querySelectorAll(".event").length === 1);
    await panel(page).getByRole("searchbox", { name: "Search in events" }).fill("no such thing");
    await panel(page).getByText("No matching events").waitFor();
    await panel(page).getByRole("searchbox", { name: "Search in events" }).fill("");
    await panel(page).locator(".event[data-kind=task-complete]").last().waitFor();
    await panel(page).getByRole("listbox").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await panel(page).getByRole("region", { name: "Raw JSON" }).getByText('"message"').waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/e\/2$/);
  },
);

test(
  "any event of the past can be gone back to, and the whole page is as it was",
  options,
  async () => {
    const { page, errors } = await env.open();
    const contextId = await startConversation(page, "count to 30");
    await waitUntilIdle(page);
    await composer(page).fill("a draft");
    await openPanel(page);
    const text = page.locator(".thread-rows > [data-kind=text]");
    const { events } = await env.server.api.events(contextId, { limit: 1_000 });
    const delta = events.find((one) => one.kind === "content-delta" && one.delta.trim() === "17");
    const at = String(delta?.seq);
    await panel(page).getByRole("slider", { name: "Event to show" }).fill(at);
    await page.getByText(`As of event ${at} of`).waitFor();
    await page.waitForFunction(() =>
      document.querySelector(".row[data-kind=text]")?.textContent?.trim().endsWith("17"),
    );
    assert.equal(await composer(page).isVisible(), false);
    await page.locator(".task-status").waitFor();
    await page.waitForFunction(
      (seq) => [...document.querySelectorAll(".event")].at(-1)?.getAttribute("data-seq") === seq,
      at,
    );
    await page.waitForURL(new RegExp(`/at/${at}$`));
    await screenshot(page, "past");
    await panel(page).getByRole("button", { name: "Previous event" }).click();
    await page.waitForFunction(() =>
      document.querySelector(".row[data-kind=text]")?.textContent?.trim().endsWith("16"),
    );
    await page.waitForURL(new RegExp(`/at/${Number(at) - 1}$`));
    await page.reload();
    await text.getByText(/16$/).waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    await text.getByText(/29 30$/).waitFor();
    await composer(page).waitFor();
    // If the panel is closed right after the slider moved, the position stays. The panel was left
    // open.
    await panel(page).locator(".event[data-seq]").first().waitFor();
    await panel(page).getByRole("button", { name: "Previous event" }).click();
    await page.waitForURL(/\/at\/\d+$/);
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('[aria-label="Next event"]')?.click();
      document.querySelector<HTMLElement>('[aria-label="Close Trace"]')?.click();
    });
    await page.waitForURL((url) => !url.hash.includes("/at/"));
    await composer(page).waitFor();
    assert.deepEqual(errors, []);
  },
);

test("the past says that it is past, and its clocks stand still", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(
    page,
    "run for i in 1 2 3; do echo step $i; sleep 0.7; done",
  );
  await page.getByRole("button", { name: "Approve" }).click();
  await waitUntilIdle(page);
  const status = page.locator(".connection");
  assert.match(await status.innerText(), /^Live/);
  const { events } = await env.server.api.events(contextId, { limit: 1_000 });
  const started = events.find((one) => one.kind === "tool-start" && one.toolName === "shell");
  const last = events.filter((one) => one.kind === "tool-progress").at(-1);
  const passed = Date.parse(last?.timestamp ?? "") - Date.parse(started?.timestamp ?? "");
  assert.ok(passed > 1_000, `${passed}`);
  await page.goto(`${env.server.url}/#/c/${contextId}/at/${last?.seq}`);
  await status.getByText("Past", { exact: true }).waitFor();
  // The previous content stays until the past is loaded.
  await page.locator(`.thread[data-position="${last?.seq}"]`).waitFor();
  assert.equal(
    await page.locator(".call .duration").innerText(),
    `${(passed / 1_000).toFixed(1)} s`,
  );
  assert.match(await page.locator(".task-status").innerText(), /was working\s+[\d.]+ s$/);
  const spinner = page.locator(".thread .spinner").first();
  assert.equal(await spinner.evaluate((one) => getComputedStyle(one).animationName), "none");
  const asked = events.find((one) => one.kind === "input-required");
  await page.goto(`${env.server.url}/#/c/${contextId}/at/${asked?.seq}`);
  await page.locator(".question").getByText("was waiting for you").waitFor();
  await page.getByRole("button", { name: "Back to now" }).click();
  await status.getByText(/^Live/).waitFor();
  await page.locator(".question").getByText("approved").waitFor();
});

test("what can be done is what can be done now, whatever is looked at", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "count to 30");
  await waitUntilIdle(page);
  const { events } = await env.server.api.events(contextId, { limit: 1_000 });
  const seqOf = (kind: string) => events.find((one) => one.kind === kind)?.seq ?? 0;
  const back = page.getByRole("button", { name: "Rewind to here" });
  // It was working then, and is not working now.
  await page.goto(`${env.server.url}/#/c/${contextId}/at/${seqOf("content-delta")}`);
  await page.locator(".task-status").waitFor();
  assert.equal(await back.isEnabled(), true);
  await page.getByRole("button", { name: "Back to now" }).click();
  await sendMessage(page, "count slowly to 300");
  await page.locator(".task-status").waitFor();
  // It was not working then, and is working now.
  await page.goto(`${env.server.url}/#/c/${contextId}/at/${seqOf("message")}`);
  await page.locator(".task-status").waitFor({ state: "detached" });
  assert.equal(await back.isEnabled(), false);
  await page.getByRole("button", { name: "Back to now" }).click();
  await page.locator(".task-status").waitFor();
  await composer(page).focus();
  await stopByKeys(page);
  await waitUntilIdle(page);
});

test("who goes back or runs again from the past sees what came of it, now", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "count to 5");
  await waitUntilIdle(page);
  const text = page.locator(".row[data-kind=text]");
  const past = async (): Promise<void> => {
    const { position } = await env.server.api.context(contextId);
    await page.goto(`${env.server.url}/#/c/${contextId}/at/${Number(position) - 1}`);
    await page.locator(".past-bar").waitFor();
  };
  await past();
  await page.getByRole("button", { name: "Edit and run again" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("count to 7");
  await page.keyboard.press("Enter");
  await text.getByText("6 7").waitFor();
  await page.locator(".past-bar").waitFor({ state: "detached" });
  await waitUntilIdle(page);
  await past();
  await page.getByRole("button", { name: "Rewind to here" }).click();
  await page.getByText("No messages yet").waitFor();
  await composer(page).waitFor();
});

test(
  "what is forked, run again or gone on with in the past is what was there then",
  options,
  async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "say alpha");
    await waitUntilIdle(page);
    const text = page.locator(".row[data-kind=text]");
    await sendMessage(page, "say beta");
    await text.getByText("beta").waitFor();
    await waitUntilIdle(page);
    const before = Number((await env.server.api.context(contextId)).position);
    await page.getByRole("button", { name: "Rewind to here" }).nth(1).click();
    await text.getByText("beta").waitFor({ state: "detached" });
    const at = `${env.server.url}/#/c/${contextId}/at/${before}`;

    // A removed branch is forked as it was, without later events.
    await sendMessage(page, "say delta");
    await text.getByText("delta").waitFor();
    await waitUntilIdle(page);
    await page.goto(at);
    await page.locator(".past-bar").waitFor();
    await text.getByText("beta").waitFor();
    await page.getByRole("button", { name: "Fork from here" }).last().click();
    await page.waitForURL((url) => !url.hash.includes(contextId));
    await text.getByText("beta").waitFor();
    assert.deepEqual(await text.allInnerTexts(), ["alpha", "beta"]);

    await page.goto(at);
    await page.locator(".past-bar").waitFor();
    await text.getByText("beta").waitFor();
    await page.getByRole("button", { name: "Run again" }).last().click();
    await page.getByRole("alert").getByText("was already rewound").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.goto(`${env.server.url}/#/c/${contextId}`);
    await text.getByText("delta").waitFor();
    await page.getByRole("button", { name: "Branches", exact: true }).click();
    const now = Number((await env.server.api.context(contextId)).position);
    await page.goto(`${env.server.url}/#/c/${contextId}/at/${now - 1}`);
    await page.locator(".past-bar").waitFor();
    await page.getByRole("button", { name: "Restore" }).first().click();
    await page.locator(".past-bar").waitFor({ state: "detached" });
    await text.getByText("beta").waitFor();
  },
);

test(
  "the log tells the time of where one is, and its filters do not undo each other",
  options,
  async () => {
    const { page } = await env.open({ timezoneId: "Asia/Kolkata" });
    const contextId = await startConversation(page, "think about tea");
    await waitUntilIdle(page);
    await openPanel(page);
    const { events } = await env.server.api.events(contextId);
    const last = events.at(-1);
    const there = Date.parse(last?.timestamp ?? "") + (5 * 60 + 30) * 60_000;
    const time = panel(page).locator(`.event[data-seq="${last?.seq}"] .event-time`);
    assert.equal(await time.innerText(), new Date(there).toISOString().slice(11, 23));
    await page.clock.install();
    await panel(page).getByRole("searchbox", { name: "Search in events" }).fill("tea");
    await panel(page).getByLabel("Kind").selectOption("message");
    await panel(page).locator(".event[data-kind=task-created]").waitFor({ state: "detached" });
    // The text filter is applied after a pause in typing.
    await page.clock.runFor(400);
    assert.equal(await panel(page).getByLabel("Kind").inputValue(), "message");
    assert.equal(await panel(page).locator(".event[data-kind=task-created]").count(), 0);
  },
);

test(
  "a look at the past that fails leaves the page, says why, and is tried again",
  options,
  async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "count to 5");
    await waitUntilIdle(page);
    await page.route("**/events?*", (route) =>
      route.fulfill({ status: 403, json: { code: "forbidden", detail: "not for you" } }),
    );
    await page.goto(`${env.server.url}/#/c/${contextId}/at/3`);
    const bar = page.locator(".past-bar");
    await bar.getByText("Event 3 cannot be shown: not for you").waitFor();
    await page.locator(".row[data-kind=text]").getByText("1 2 3 4 5").waitFor();
    await page.unroute("**/events?*");
    await bar.getByRole("button", { name: "Try again" }).click();
    await bar.getByText("As of event 3 of").waitFor();
    await page.locator(".row[data-kind=text]").waitFor({ state: "detached" });
  },
);

test("a conversation is exported as JSON and as Markdown, also as it was", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say hello **there**");
  await waitUntilIdle(page);
  await openPanel(page);
  const save = async (name: string): Promise<string> => {
    const waiting = page.waitForEvent("download");
    await panel(page).getByRole("button", { name, exact: true }).click();
    return downloadedText(await waiting);
  };
  const { events } = await env.server.api.events(contextId, { limit: 1_000 });
  interface Exported {
    readonly context: { readonly contextId: string };
    readonly events: readonly unknown[];
  }
  const json = JSON.parse(await save("JSON")) as Exported;
  assert.equal(json.context.contextId, contextId);
  assert.deepEqual(json.events, events);
  const markdown = await save("Markdown");
  assert.match(markdown, /^# say hello \*\*there\*\*\n\nContext `/);
  assert.match(
    markdown,
    /\n## user\n\nsay hello \*\*there\*\*\n\n## assistant \(.*\)\n\nhello \*\*/,
  );
  await panel(page).getByRole("spinbutton", { name: "Event number" }).fill("4");
  await page.getByText("As of event 4 of").waitFor();
  const past = JSON.parse(await save("JSON")) as Exported;
  assert.equal(past.events.length, 4);
  assert.doesNotMatch(await save("Markdown"), /assistant/);
});

test("the log, the tree and the artifacts fit a narrow screen", options, async () => {
  const { page } = await env.open({ viewport: { width: 390, height: 800 } });
  await startConversation(page, "summarise the CSV files here");
  await waitUntilIdle(page);
  for (const name of ["Trace", "Artifacts"]) {
    await page.getByRole("button", { name, exact: true }).click();
    const aside = page.getByRole("complementary", { name });
    const { width } = (await aside.boundingBox()) ?? {};
    assert.equal(width, 390);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await aside.getByRole("button", { name: `Close ${name}` }).click();
    await aside.waitFor({ state: "detached" });
  }
});
