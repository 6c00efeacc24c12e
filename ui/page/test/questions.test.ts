import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import {
  startConversation,
  composer,
  screenshot,
  sendMessage,
  waitUntilIdle,
  SKIP,
  setUp,
} from "./page.js";

const env = setUp({ files: { "notes.txt": "one\ntwo\nthree\n" } });
const options = { skip: SKIP };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const questionCard = (page: Page) => page.locator(".question-card");
const ready = (page: Page) =>
  questionCard(page).locator(".primary:enabled, .choice:enabled").first().waitFor();
/** Denies the call without a reason. */
async function deny(page: Page): Promise<void> {
  await ready(page);
  await questionCard(page).getByRole("button", { name: "Deny…" }).click();
  await page.keyboard.press("Enter");
}
const ask = (question: object) => `use ask_user ${JSON.stringify(question)}`;

test(
  "an approval shows what would happen, until when, and is given with a chord",
  options,
  async () => {
    const { page } = await env.open();
    await startConversation(page, "write four to notes.txt");
    await questionCard(page).getByText("-one").waitFor();
    await questionCard(page).getByText("+four").waitFor();
    assert.match(await questionCard(page).locator("time").innerText(), /expires|left/);
    await screenshot(page, "approval");
    await ready(page);
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.getByText("I have written notes.txt").waitFor();
    await questionCard(page).waitFor({ state: "detached" });
  },
);

test("who begins with a press and not by typing answers with one chord", options, async () => {
  const { page } = await env.open();
  await page.getByText("Approve a command").click();
  await ready(page);
  await page.keyboard.press("y");
  assert.equal(await composer(page).inputValue(), "y");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("ControlOrMeta+Enter");
  await waitUntilIdle(page);
  await page.locator('[data-kind="text"]').getByText("hello from the shell").last().waitFor();
});

/** The answers in a context, in order. */
async function answers(contextId: string): Promise<unknown[]> {
  const filter = { kinds: ["input-received"] };
  const { events } = await env.server.api.events(contextId, { filter });
  return events.map((event) => event.kind === "input-received" && event.value);
}

test(
  "an approval takes no focus from where one types, so that no text answers",
  options,
  async () => {
    const { page } = await env.open();
    const contextId = await startConversation(page, "say hello");
    await waitUntilIdle(page);
    await sendMessage(page, "run echo typed");
    await ready(page);
    await page.keyboard.type("yd y");
    assert.equal(await composer(page).inputValue(), "yd y");
    await page.getByRole("searchbox").focus();
    await page.keyboard.type("y");
    await questionCard(page).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("d");
    assert.equal(await composer(page).inputValue(), "yd yd");
    await deny(page);
    await questionCard(page).waitFor({ state: "detached" });
    assert.deepEqual(await answers(contextId), [false]);
  },
);

test("what comes up under the hand is not answered by what was meant before", options, async () => {
  const { page } = await env.open();
  await page.evaluate(() => {
    const watch = new MutationObserver(() => {
      const approve = document.querySelector<HTMLButtonElement>(".question-card button.primary");
      if (approve !== null) {
        watch.disconnect();
        approve.click();
        approve.form?.requestSubmit();
        setTimeout(() => {
          approve.click();
          const key = { key: "Enter", ctrlKey: true, bubbles: true };
          document.body.dispatchEvent(new KeyboardEvent("keydown", key));
          document.body.dataset["pressed"] = "yes";
        }, 150);
      }
    });
    watch.observe(document.body, { childList: true, subtree: true });
  });
  const contextId = await startConversation(page, "run echo sudden");
  await page.locator("body[data-pressed]").waitFor();
  await deny(page);
  await questionCard(page).waitFor({ state: "detached" });
  assert.deepEqual(await answers(contextId), [false]);
});

test("keys do not answer through a dialog, nor by being held", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo through");
  await ready(page);
  await page.keyboard.press("ControlOrMeta+/");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.evaluate(() => {
    const held = { key: "Enter", ctrlKey: true, repeat: true, bubbles: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", held));
  });
  await deny(page);
  await questionCard(page).waitFor({ state: "detached" });
  assert.deepEqual(await answers(contextId), [false]);
});

test("the button that denies asks why, and lets one go back", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo keys");
  const why = page.getByRole("textbox", { name: "Reason" });
  await ready(page);
  await questionCard(page).getByRole("button", { name: "Deny…" }).click();
  await page.keyboard.type("yes, but");
  assert.equal(await why.inputValue(), "yes, but");
  await page.keyboard.press("Escape");
  await why.waitFor({ state: "detached" });
  assert.deepEqual(await answers(contextId), []);
  await questionCard(page).getByRole("button", { name: "Deny…" }).click();
  await page.keyboard.type("not today");
  assert.equal(await why.inputValue(), "not today");
  await page.keyboard.press("Enter");
  await page.getByText("denied: not today").waitFor();
  assert.deepEqual(await answers(contextId), [{ approved: false, reason: "not today" }]);
});

test("a call is denied with a reason, which the agent is told", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "run echo dangerous");
  await questionCard(page).getByRole("button", { name: "Deny…" }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("not on a Sunday");
  await page.keyboard.press("Enter");
  await page.getByText("denied: not on a Sunday").waitFor();
  await waitUntilIdle(page);
  await page.locator('[data-kind="text"]').getByText("not on a Sunday").waitFor();
});

test("arguments are edited before they are approved", options, async () => {
  const { page } = await env.open();
  await startConversation(page, "run echo before");
  await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Command" }).fill("echo after");
  await questionCard(page).getByRole("button", { name: "Approve with changes" }).click();
  await page.getByText("approved, with changes").waitFor();
  await waitUntilIdle(page);
  await page.locator(".call summary").click();
  await page.locator(".call-body").getByText("after").last().waitFor();
});

test("what was looked at as a form and left as it was is approved as it was", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo same");
  await questionCard(page).getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Command" }).waitFor();
  await questionCard(page).getByRole("button", { name: "Approve with changes" }).click();
  await page.getByText("approved", { exact: true }).waitFor();
  assert.deepEqual(await answers(contextId), [true]);
});

test("a choice is made by a press", options, async () => {
  const { page } = await env.open();
  await startConversation(
    page,
    ask({ question: "Which colour?", options: ["red", "green", "blue"] }),
  );
  await questionCard(page).getByRole("button", { name: "green" }).waitFor();
  await screenshot(page, "choice");
  await ready(page);
  await questionCard(page).getByRole("button", { name: "green" }).click();
  await page.getByText("ask_user answered").waitFor();
  await page.locator(".question").getByText("green").waitFor();
});

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Who travels", description: "As in the passport" },
    seats: { type: "integer", minimum: 1 },
    class: { enum: ["first", "second"] },
    window: { type: "boolean", title: "At the window" },
    address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
  required: ["name", "seats", "address"],
};

test("a form is made from the schema, checks itself, and sends what fits", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, ask({ question: "Where to?", schema: SCHEMA }));
  await page.getByLabel("Who travels").fill("Ada");
  await page.getByLabel("Seats").fill("two");
  await questionCard(page).getByRole("button", { name: "Answer" }).click();
  await page.getByText("This must be a whole number.").waitFor();
  await page.getByText("This field is required.").waitFor();
  await screenshot(page, "form");
  await page.getByLabel("Seats").fill("2");
  await page.getByLabel("Class").selectOption({ label: "second" });
  await page.getByLabel("At the window").check();
  await page.getByLabel("City").fill("Bern");
  await questionCard(page).getByRole("button", { name: "Answer" }).click();
  await waitUntilIdle(page);
  const { events } = await env.server.api.events(contextId, {
    filter: { kinds: ["input-received"] },
  });
  const [received] = events;
  assert.deepEqual(received?.kind === "input-received" && received.value, {
    name: "Ada",
    seats: 2,
    class: "second",
    window: true,
    address: { city: "Bern" },
  });
});

test("a key goes to the vault and is nowhere to be seen", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "sign in to api.example.org");
  await page.getByLabel("Key for api.example.org").fill("s3cret-key");
  await page.keyboard.press("Enter");
  await page.getByText("You are signed in to api.example.org").waitFor();
  assert.doesNotMatch(await page.content(), /s3cret-key/);
  const { events } = await env.server.api.events(contextId, { limit: 1_000 });
  assert.doesNotMatch(JSON.stringify(events), /s3cret-key/);
});

test(
  "several questions are answered in any order, and what another answered goes",
  options,
  async () => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    const contextId = await startConversation(page, "delegate run echo hi to research and writer");
    await questionCard(page).getByText("1 of 2").waitFor();
    await questionCard(page).getByRole("button", { name: "Next question" }).click();
    await questionCard(page).getByText("2 of 2").waitFor();
    await questionCard(page).getByRole("button", { name: "Approve" }).click();
    await questionCard(page).getByText("of 2").waitFor({ state: "detached" });
    const { items } = await env.server.api.inbox();
    const left = items.find((item) => item.contextId === contextId);
    await env.server.api.answer(contextId, left?.inputId ?? "", true);
    await questionCard(page).waitFor({ state: "detached" });
    await waitUntilIdle(page);
  },
);

test(
  "a question is answered in words, and the hand goes on where one writes",
  options,
  async () => {
    const { page } = await env.open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("agent-code");
    await startConversation(page, "ask me which colour");
    await page.getByRole("textbox", { name: /^Answer to Code/ }).fill("blue");
    await page.keyboard.press("Enter");
    await questionCard(page).waitFor({ state: "detached" });
    // Letters typed shortly afterwards are text, not shortcuts.
    await page.keyboard.type("next");
    await waitUntilIdle(page);
    assert.equal(await composer(page).inputValue(), "next");
    await page.locator('[data-kind="text"]').getByText("blue").waitFor();
  },
);

test("on a phone an approval is two taps away, with one hand", options, async () => {
  const { page } = await env.open();
  const contextId = await startConversation(page, "run echo from afar");
  await questionCard(page).waitFor();
  const { page: phone } = await env.open(PHONE);
  await phone.locator(`.entry[href="#/c/${contextId}"]`).tap();
  const approve = phone.getByRole("button", { name: "Approve" });
  await approve.waitFor();
  const box = await approve.boundingBox();
  assert.ok(box !== null && box.height >= 44 && box.y > 844 / 2, JSON.stringify(box));
  await screenshot(phone, "phone-approval");
  await approve.tap();
  await waitUntilIdle(phone);
  await questionCard(page).waitFor({ state: "detached" });
});
