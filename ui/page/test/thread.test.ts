import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  heldCommand,
  startConversation,
  composer,
  latch,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
  stop,
} from "./page.js";

const env = setUp({ files: { "notes.txt": "one\ntwo\n" } });
const options = { skip: SKIP };
const rows = (page: Page, kind: string) => page.locator(`.thread-rows > [data-kind="${kind}"]`);

test("text streams in as Markdown, with coloured code that can be copied", options, async () => {
  const { page, errors } = await env.open({ permissions: ["clipboard-read", "clipboard-write"] });
  const code = "const answer: number = 42; // why";
  await startConversation(
    page,
    `say # A title\n\nSome **bold** words.\n\n\`\`\`ts\n${code}\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |`,
  );
  await waitUntilIdle(page);
  const text = rows(page, "text");
  await text.locator(".h1", { hasText: "A title" }).waitFor();
  assert.equal(await text.locator("strong").innerText(), "bold");
  assert.ok((await text.locator("pre .hljs-keyword").count()) > 0);
  assert.equal(await text.locator("td").count(), 2);
  await text.getByRole("button", { name: "Copy code" }).click();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), code);
  await startConversation(page, "count slowly to 100");
  await rows(page, "text").getByText("1 2 3").waitFor();
  await page.locator(".task-status").waitFor();
  await rows(page, "text").getByText("99 100").waitFor();
  assert.deepEqual(errors, []);
});

test("thoughts are shown as much as one wants", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "think about tea");
  await waitUntilIdle(page);
  const wanted = page.getByRole("combobox", { name: "Thoughts to show" });
  for (const [verbosity, shown] of [
    ["none", 0],
    ["brief", 2],
    ["normal", 3],
    ["detailed", 4],
  ] as const) {
    await wanted.selectOption(verbosity);
    await page.waitForFunction(
      (n) => document.querySelectorAll(".thread .thought").length === n,
      shown,
    );
  }
  await page.getByText("60% confident").waitFor();
  await page.getByText("Alternatives: give a long answer").waitFor();
  await wanted.selectOption("normal");
});

test(
  "a tool call shows arguments, live progress, result and how long it took",
  options,
  async (t) => {
    const { page } = await env.open();
    const first = heldCommand(t);
    const second = heldCommand(t);
    const work = `run echo step 1; ${first.command}; echo step 2; ${second.command}`;
    await startConversation(page, work);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator(".progress", { hasText: "step 1" }).waitFor();
    first.end();
    await page.locator(".progress", { hasText: "step 2" }).waitFor();
    await screenshot(page, "tool-progress");
    const call = rows(page, "call");
    const height = (await call.boundingBox())?.height;
    second.end();
    await waitUntilIdle(page);
    assert.equal((await call.boundingBox())?.height, height);
    assert.match(await call.locator(".duration").innerText(), /^\d/);
    await call.locator("summary").click();
    await call.getByText('"command"').waitFor();
    await call.getByText("step 1").last().waitFor();
    await page.getByText("approved", { exact: true }).waitFor();
  },
);

test(
  "the output of a command keeps its lines, in the call and in the answer",
  options,
  async () => {
    const { page } = await env.open();
    await startConversation(page, "run printf 'a   b\\nsecond\\n'; exit 3");
    await page.getByRole("button", { name: "Approve" }).click();
    await waitUntilIdle(page);
    const call = rows(page, "call");
    await call.locator("summary").click();
    assert.equal(await call.locator(".terminal pre").innerText(), "a   b\nsecond");
    await call.getByText("Exit code 3").waitFor();
    assert.equal(await call.getByText('"exitCode"').count(), 0);
    assert.match(await rows(page, "text").last().innerText(), /a b\nsecond/);
    await sendMessage(page, "say one\ntwo\n\nthree");
    await page.locator(".message.user").nth(1).waitFor();
    await waitUntilIdle(page);
    for (const text of [rows(page, "text").last(), page.locator(".bubble").last()]) {
      assert.match(await text.innerText(), /one\ntwo\n\nthree/);
      assert.equal(await text.locator("p").count(), 2);
    }
    // Other results are the JSON that they are.
    await sendMessage(page, 'use read_file {"path": "notes.txt"}');
    await page.locator(".message.user").nth(2).waitFor();
    await waitUntilIdle(page);
    await rows(page, "call").last().locator("summary").click();
    assert.equal(await rows(page, "call").last().locator(".terminal").count(), 0);
  },
);

test("the actions of an answer appear on the answer itself", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "say `first`\n\n```\ncode\n```");
  await waitUntilIdle(page);
  await sendMessage(page, "say second");
  await page.locator(".task-footer").nth(1).waitFor();
  await waitUntilIdle(page);
  const visible = (opacities: readonly string[]) =>
    page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll(".task-footer .actions")]
          .map((one) => getComputedStyle(one).opacity)
          .join() === wanted,
      opacities.join(),
    );
  await composer(page).hover();
  await visible(["0", "0"]);
  await rows(page, "text").first().hover();
  await visible(["1", "0"]);
  await rows(page, "text").last().hover();
  await visible(["0", "1"]);
  await rows(page, "end").first().hover();
  await visible(["1", "0"]);
  await rows(page, "message").last().hover();
  await visible(["0", "0"]);
  await rows(page, "text").first().locator("pre").focus();
  await visible(["1", "0"]);
  await rows(page, "text").last().hover();
  await visible(["1", "1"]);
  const contextId = decodeURIComponent(/#\/c\/([^/]+)/.exec(page.url())?.[1] ?? "");
  const phone = await env.open({ at: `#/c/${contextId}`, hasTouch: true, isMobile: true });
  await phone.page.getByRole("button", { name: "Copy answer" }).last().waitFor();
  const shown = await phone.page
    .locator(".task-footer .actions")
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).opacity));
  assert.deepEqual(shown, ["1", "1"]);
});

test(
  "sub-agents stand at their call, with threads of their own to any depth",
  options,
  async () => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await startConversation(page, "delegate count slowly to 4000 to research and writer");
    await page.getByText("0 of 2 done").waitFor();
    const research = page.locator(".subagent", { hasText: "Research" });
    await research
      .getByRole("button", { name: /Research/ })
      .first()
      .click();
    await research.locator(".subagent-thread", { hasText: "1 2 3" }).waitFor();
    await screenshot(page, "sub-agents");
    await stop(page);
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await sendMessage(page, "delegate say hello to research and writer");
    await page.getByText("2 of 2 done").waitFor();
    await page.locator(".task-footer").nth(1).waitFor();
    await waitUntilIdle(page);
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await sendMessage(page, "delegate delegate say deep down to writer to research");
    const outer = page.locator(".thread-rows > .row > .subagents").nth(2);
    await outer.locator(".subagent-open").first().click();
    const inner = outer.locator(".subagent .subagent", { hasText: "Writer" });
    await inner.locator(".subagent-open").first().click();
    await inner.locator(".subagent-thread", { hasText: "deep down" }).waitFor();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("");
  },
);

test("one sub-agent is stopped by itself, and a whole tree at once", options, async () => {
  const { page } = await env.open();
  await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
  await startConversation(page, "delegate count slowly to 4000 to research and writer");
  await page.getByRole("button", { name: "Stop Research and its sub-agents" }).click();
  const research = page.locator('.subagent[data-status="canceled"]', { hasText: "Research" });
  await research.getByText(/^stopped after/).waitFor();
  const writer = page.locator('.subagent[data-status="working"]', { hasText: "Writer" });
  await writer.locator(".elapsed", { hasText: /\d s/ }).waitFor();
  // The end of a long text is visible.
  await writer.locator(".subagent-tail", { hasText: "60" }).waitFor();
  const [line, words] = await Promise.all(
    [".subagent-tail", ".subagent-tail > span"].map((one) => writer.locator(one).boundingBox()),
  );
  assert.ok(line && words);
  assert.ok(Math.abs(line.x + line.width - words.x - words.width) < 2 || words.width < line.width);
  await research.getByRole("img", { name: "stopped" }).waitFor();
  await page.getByText("0 of 2 done, 1 stopped").waitFor();
  await page.locator('.subagent[data-status="working"]', { hasText: "Writer" }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await page.locator('.subagent[data-status="canceled"]', { hasText: "Writer" }).waitFor();
  await page.getByText("Stopped.").waitFor();
  await page.getByText("0 of 2 done, 2 stopped").waitFor();
  assert.equal(await page.locator(".thread .problem, .thread .status.cross").count(), 0);
});

test("messages sent while busy queue, steer or interrupt", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "count slowly to 2000");
  await rows(page, "text").getByText("1 2 3").waitFor();
  await sendMessage(page, "say queued");
  await page.getByRole("list", { name: "Queued messages" }).getByText("say queued").waitFor();
  await sendMessage(page, "say taken out");
  await page.locator(".queue li", { hasText: "taken out" }).getByRole("button").click();
  await page.locator(".queue li", { hasText: "taken out" }).waitFor({ state: "detached" });
  await page.getByText("Steer", { exact: true }).click();
  await sendMessage(page, "say steered");
  await page.getByText("Sent while working").waitFor();
  await page.getByText("Interrupt", { exact: true }).click();
  await sendMessage(page, "say interrupted");
  await page.getByText("Stopped.").last().waitFor();
  await rows(page, "text").getByText("interrupted", { exact: true }).waitFor();
  await rows(page, "text").getByText("queued", { exact: true }).waitFor();
  await waitUntilIdle(page);
  // A rewind into the middle of a task is not possible, so the button is disabled.
  for (const [words, open] of [
    ["count slowly", true],
    ["say queued", false],
  ] as const) {
    const said = rows(page, "message").filter({ hasText: words });
    await said.hover();
    for (const name of ["Edit and run again", "Rewind to here"]) {
      const button = said.getByRole("button", { name });
      assert.equal(await button.isEnabled(), open, `${name}: ${words}`);
      const why = /Sent while an agent was working/;
      assert.equal(why.test((await button.getAttribute("title")) ?? ""), !open);
      assert.equal(why.test((await button.getAttribute("aria-description")) ?? ""), !open);
    }
    assert.ok(await said.getByRole("button", { name: "Fork before this message" }).isEnabled());
  }
});

test("what failed is retried, and any message edited and run again", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "fail");
  await page.getByText("the model failed, as it was asked to").waitFor();
  await screenshot(page, "failed");
  const failed = await rows(page, "end").getAttribute("data-key");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.locator(`[data-key="${failed}"]`).waitFor({ state: "detached" });
  await page.getByText("the model failed, as it was asked to").waitFor();
  await waitUntilIdle(page);
  const said = rows(page, "message");
  assert.equal(await said.count(), 1);
  await said.hover();
  await said.getByRole("button", { name: "Edit and run again" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("say better");
  await page.keyboard.press("Enter");
  await rows(page, "text").getByText("better").waitFor();
  await waitUntilIdle(page);
  assert.equal(await said.count(), 1);
});

test("what could not be said again in other words stays in its editor", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "say first");
  await waitUntilIdle(page);
  await page.route("**/rewind", (route) => route.abort());
  const said = rows(page, "message");
  await said.hover();
  await said.getByRole("button", { name: "Edit and run again" }).click();
  const editor = page.getByRole("textbox", { name: "Edit message" });
  await editor.fill("say second");
  await editor.press("Enter");
  await page.getByRole("alert").getByText("the server does not respond").waitFor();
  assert.equal(await editor.inputValue(), "say second");
  await page.unroute("**/rewind");
  await editor.press("Enter");
  await rows(page, "text").getByText("second").waitFor();
  await editor.waitFor({ state: "detached" });
});

test("what could not be sent returns to the composer, each time", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "say hello");
  await waitUntilIdle(page);
  await page.route("**/messages", (route) => route.abort());
  for (const draft of ["", "a draft"]) {
    await sendMessage(page, "say lost");
    await page.locator(".outgoing").getByRole("alert").waitFor();
    await composer(page).fill(draft);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const wanted = draft === "" ? "say lost" : `${draft}\n\nsay lost`;
    await page.waitForFunction(
      (text) => document.querySelector<HTMLTextAreaElement>(".composer textarea")?.value === text,
      wanted,
    );
  }
});

async function three(page: Page): Promise<string> {
  const contextId = await startConversation(page, "say alpha");
  await waitUntilIdle(page);
  for (const word of ["beta", "gamma"]) {
    await sendMessage(page, `say ${word}`);
    await rows(page, "text").getByText(word, { exact: true }).waitFor();
    await waitUntilIdle(page);
  }
  return contextId;
}

// SESSION-27 to SESSION-29
test("going back is shown at once, and undone when the server refuses", options, async () => {
  const { page } = await env.open();
  await three(page);
  const refuse = latch();
  await page.route("**/rewind", async (route) => {
    await refuse.opened;
    const problem = { status: 409, code: "busy", detail: "a task of this context is running" };
    await route.fulfill({ status: 409, json: problem });
  });
  const second = rows(page, "message").nth(1);
  await second.hover();
  await second.getByRole("button", { name: "Rewind to here" }).click();
  await rows(page, "message").nth(1).waitFor({ state: "detached" });
  refuse.open();
  await page.getByRole("alert").getByText("a task of this context is running").waitFor();
  assert.deepEqual(await rows(page, "text").allInnerTexts(), ["alpha", "beta", "gamma"]);
  await page.unroute("**/rewind");
  await page.getByRole("button", { name: "Dismiss" }).click();
  await second.hover();
  const rewound = page.waitForResponse("**/rewind");
  await second.getByRole("button", { name: "Rewind to here" }).click();
  await rows(page, "message").nth(1).waitFor({ state: "detached" });
  await rewound;
  await page.reload();
  await rows(page, "text").getByText("alpha").waitFor();
  assert.deepEqual(await rows(page, "text").allInnerTexts(), ["alpha"]);
});

test("what was left behind is in Branches, and can be gone back to", options, async () => {
  const { page } = await env.open();
  await three(page);
  const last = rows(page, "message").nth(2);
  await last.hover();
  await last.getByRole("button", { name: "Rewind to here" }).click();
  await last.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Branches" }).click();
  const branches = page.getByRole("complementary", { name: "Branches" });
  await branches.getByText("say gamma").waitFor();
  await screenshot(page, "branches");
  await page.setViewportSize({ width: 1280, height: 320 });
  await page.locator(".thread").hover();
  await page.mouse.wheel(0, -5_000);
  await page.waitForFunction(() => document.querySelector(".thread")?.scrollTop === 0);
  await branches.getByRole("button", { name: "Restore" }).click();
  await rows(page, "text").getByText("gamma").waitFor();
  // Restoring it scrolls there.
  await page.waitForFunction(() => {
    const {
      scrollHeight = 0,
      scrollTop = 0,
      clientHeight = 0,
    } = document.querySelector(".thread") ?? {};
    return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 5;
  });
  assert.deepEqual(await rows(page, "text").allInnerTexts(), ["alpha", "beta", "gamma"]);
});

test("a fork goes on by itself, and both know of each other", options, async () => {
  const { page } = await env.open();
  const contextId = await three(page);
  const end = rows(page, "end").nth(1);
  await end.hover();
  await end.getByRole("button", { name: "Fork from here" }).click();
  await page.waitForURL((url) => !url.hash.includes(contextId));
  await rows(page, "text").getByText("beta").waitFor();
  assert.deepEqual(await rows(page, "text").allInnerTexts(), ["alpha", "beta"]);
  await page.locator("h2.title").getByRole("button", { name: "Fork of say alpha" }).waitFor();
  await sendMessage(page, "say delta");
  await rows(page, "text").getByText("delta").waitFor();
  await page.getByRole("button", { name: "Branches" }).click();
  await page.getByText("This is a fork of").getByRole("link").click();
  await rows(page, "text").getByText("gamma").waitFor();
  await page.getByRole("button", { name: "Branches" }).click();
  await page.locator(".forks a").waitFor();
  assert.equal(await composer(page).inputValue(), "");
});
