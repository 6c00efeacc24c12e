import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.js";
import {
  startConversation,
  composer,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
  stop,
} from "./page.js";

// An own server: other conversations in the list would change the tab order.
const env = setUp({ own: true });
const options = { skip: SKIP };
/** More than the number of focusable elements on a page. */
const TABS_MAX = 300;
const NARROW = { viewport: { width: 390, height: 844 } };

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe-core finds nothing wrong on the main screens, ${colorScheme}`, options, async () => {
    const { page } = await env.open({ colorScheme });
    await page.getByText("Try one of these").waitFor();
    assert.deepEqual(await violations(page), [], "first screen");
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await startConversation(page, "delegate think about tea to research and writer");
    await waitUntilIdle(page);
    await page
      .getByRole("button", { name: /Research/ })
      .first()
      .click();
    await sendMessage(
      page,
      "say # Title\n\n- one\n- [two](https://example.org)\n\n```js\nlet a = 1;\n```",
    );
    await page.locator("pre .hljs-keyword").last().waitFor();
    await waitUntilIdle(page);
    assert.deepEqual(await violations(page), [], "conversation");
    await screenshot(page, `conversation-${colorScheme}`);
    await sendMessage(page, "run echo hello");
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.locator(".call, .question").last().waitFor();
    assert.deepEqual(await violations(page), [], "approval");
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByRole("button", { name: "Branches" }).click();
    assert.deepEqual(await violations(page), [], "branches");
    await page.getByRole("button", { name: "Delete conversation" }).click();
    assert.deepEqual(await violations(page), [], "dialog");
  });
}

test("everything can be done from the keyboard", options, async () => {
  const { page } = await env.open();
  await page.getByText("Try one of these").waitFor();
  // The box to write in has the focus.
  await page.keyboard.type("say from the keyboard");
  await page.keyboard.press("Enter");
  await page.locator('[data-kind="text"]').getByText("from the keyboard").waitFor();
  await waitUntilIdle(page);
  await page.keyboard.press("Alt+n");
  await page.getByText("Try one of these").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.type("run echo yes");
  await page.keyboard.press("Enter");
  await page.locator(".question-card .primary:enabled").waitFor();
  await page.keyboard.press("ControlOrMeta+Enter");
  await waitUntilIdle(page);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.locator('[data-group="done"] [aria-current]').waitFor();
  await page.keyboard.press("Alt+j");
  await page.locator('[data-kind="text"]').getByText("from the keyboard").waitFor();
  await page.keyboard.press("ControlOrMeta+/");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // Every button and link can be reached by Tab, and shows that it has been.
  await waitUntilIdle(page);
  const left = new Set(["Copy message", "Edit and run again", "Run again", "Branches", "Message"]);
  const reached: string[] = [];
  await page.locator(".thread").focus();
  for (let i = 0; i < TABS_MAX && left.size > 0; i++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(
      () =>
        document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName ?? "",
    );
    reached.push(name);
    left.delete(name);
  }
  assert.deepEqual([...left], [], `reached were ${reached.join(", ")}`);
});

// AGENT-79
test("the end is followed until the reader scrolls up, and again from there", options, async () => {
  const { page } = await env.open({ viewport: { width: 900, height: 500 } });
  const lines = Array.from({ length: 60 }, (_, i) => `- line ${i}`).join("\n");
  await startConversation(page, `say ${lines}`);
  await waitUntilIdle(page);
  const thread = page.locator(".thread");
  // The page scrolls to new content in the next frame.
  await page.waitForFunction(() => {
    const e = document.querySelector(".thread");
    return e !== null && e.scrollHeight - e.clientHeight - e.scrollTop < 30;
  });
  await sendMessage(page, "count slowly to 300");
  await page.locator('[data-kind="text"]').getByText(/1 2 3/).waitFor();
  await thread.hover();
  await page.mouse.wheel(0, -400);
  await page.getByRole("button", { name: "Newest" }).waitFor();
  const place = await thread.evaluate((e) => e.scrollTop);
  const marker = page.getByText("line 50", { exact: true }).last();
  const before = await marker.boundingBox();
  await page
    .locator('[data-kind="text"]')
    .getByText(/99 100/)
    .waitFor({ state: "attached" });
  // Visible text does not move while text is added below.
  assert.equal(await thread.evaluate((e) => e.scrollTop), place);
  assert.deepEqual(await marker.boundingBox(), before);
  await page.getByRole("button", { name: "Newest" }).click();
  await page.waitForFunction(() => {
    const e = document.querySelector(".thread");
    return e !== null && e.scrollHeight - e.clientHeight - e.scrollTop < 30;
  });
  await page.getByRole("button", { name: "Newest" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await waitUntilIdle(page);
});

test("nothing jumps while text streams", options, async () => {
  const { page } = await env.open();
  await page.evaluate(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        shifts.push((entry as PerformanceEntry & { value: number }).value);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  await startConversation(page, "say first");
  await waitUntilIdle(page);
  await page.evaluate("window.shifts.length = 0");
  await sendMessage(page, "count slowly to 80");
  await page.locator('[data-kind="text"]').getByText(/79 80/).waitFor();
  await waitUntilIdle(page);
  const moved = await page.evaluate<number>("window.shifts.reduce((a, b) => a + b, 0)");
  assert.ok(moved < 0.1, `layout shift ${moved}`);
});

test("nothing jumps while sub-agents work, tools run and artifacts grow", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "say first");
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "Artifacts", exact: true }).click();
  await env.server.api.writeArtifact(contextId, "notes", { text: "# Notes", name: "notes.md" });
  await page.getByRole("article", { name: "notes.md" }).waitFor();
  await page.evaluate(() => {
    const moved: string[] = [];
    Object.assign(window, { moved });
    interface Shift extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Node | null }[];
    }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        const names = entry.sources.map(({ node }) => (node as Element | null)?.className ?? "");
        moved.push(`${entry.value.toFixed(4)} ${names.join(", ")}`);
      }
    }).observe({ type: "layout-shift" });
  });
  for (const content of [
    "delegate count slowly to 60 to research and writer",
    "write a report on the history of tea",
  ]) {
    const ended = await page.locator(".task-footer").count();
    await env.server.api.send(contextId, { content, agentId: "agent-code" });
    await page.locator(".task-footer").nth(ended).waitFor();
    await waitUntilIdle(page);
  }
  await page.getByText("2 of 2 done").waitFor();
  await page.getByText("I have written a report").waitFor();
  await waitUntilIdle(page);
  const moved = await page.evaluate<string[]>("window.moved");
  const sum = moved.reduce((all, one) => all + Number.parseFloat(one), 0);
  assert.ok(sum < 0.1, moved.join("\n"));
});

test("who wants no motion sees none, and things still work", options, async () => {
  const { page } = await env.open({ reducedMotion: "reduce" });
  await startConversation(page, "count slowly to 400");
  await page.locator(".task-status").waitFor();
  const moving = await page.evaluate(() =>
    document.getAnimations().map((one) => (one as CSSAnimation).animationName),
  );
  assert.deepEqual(moving, []);
  await stop(page);
  const { page: usual } = await env.open({ reducedMotion: "no-preference" });
  await startConversation(usual, "count slowly to 400");
  await usual.locator(".task-status").waitFor();
  assert.ok((await usual.evaluate(() => document.getAnimations().length)) > 0);
  await stop(usual);
});

test("light and dark are as the machine wants them, and change at once", options, async () => {
  const { page } = await env.open({ colorScheme: "light" });
  await page.getByText("Try one of these").waitFor();
  const bright = () =>
    page.evaluate(() => {
      const [r = 0, g = 0, b = 0] = (
        getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g) ?? []
      ).map(Number);
      return (r + g + b) / 3;
    });
  assert.ok((await bright()) > 200);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.ok((await bright()) < 60);
});

test(
  "a screen of 390 pixels shows one thing at a time, and never scrolls sideways",
  options,
  async () => {
    const { page } = await env.open(NARROW);
    await page.getByText("Try one of these").waitFor();
    await screenshot(page, "phone-list");
    const sideways = () =>
      page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
    assert.equal(await sideways(), false);
    const wide = "x".repeat(300);
    await startConversation(
      page,
      `say a ${wide}\n\n| ${Array(20).fill("column").join(" | ")} |\n|${"---|".repeat(20)}`,
    );
    await waitUntilIdle(page);
    assert.equal(await sideways(), false);
    assert.equal(await page.getByRole("navigation").isVisible(), false);
    await sendMessage(
      page,
      "run echo one two three four five six seven eight nine ten eleven twelve",
    );
    await page.getByRole("button", { name: "Approve" }).waitFor();
    assert.equal(await sideways(), false);
    assert.equal(await composer(page).isVisible(), true);
    await page.getByRole("button", { name: "Approve" }).click();
    await waitUntilIdle(page);
    const thoughts = page.getByRole("combobox", { name: "Thoughts to show" });
    await thoughts.selectOption("none");
    assert.equal(await sideways(), false);
    await page.context().setOffline(true);
    const words = page.locator('.connection[data-status="waiting"] .connection-text');
    await words.waitFor();
    assert.equal(await words.innerText(), "Reconnecting");
    assert.equal(await words.evaluate((one) => one.scrollWidth > one.clientWidth), false);
    for (const width of [390, 375, 360, 320]) {
      await page.setViewportSize({ width, height: 844 });
      assert.equal(await sideways(), false, `${width} pixels without a server`);
    }
    await page.setViewportSize(NARROW.viewport);
    await page.context().setOffline(false);
    await page.getByRole("link", { name: "All conversations" }).click();
    await page.getByRole("navigation").waitFor();
    // Existing conversations are reachable without passing the suggestions.
    await page.locator(".suggestion").first().waitFor({ state: "hidden" });
    await page.getByText("Try one of these").click();
    await page.locator(".suggestion").first().waitFor();
  },
);
