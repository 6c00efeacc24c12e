import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { COLOUR_RULES, violations } from "./axe.js";
import { waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ own: true, files: { "notes.txt": "one\ntwo\nthree\n" } });
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
const MODES = [
  { name: "light", colorScheme: "light", width: 1280, rules: undefined },
  // Only the colours differ from the screens above.
  { name: "dark", colorScheme: "dark", width: 1280, rules: COLOUR_RULES },
  { name: "on a phone, dark", colorScheme: "dark", width: 390, rules: undefined },
] as const;
const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "As in the passport" },
    seats: { type: "integer", minimum: 1 },
    class: { enum: ["first", "second"] },
    meals: { type: "array", items: { enum: ["lunch", "dinner"] } },
    window: { type: "boolean" },
  },
  required: ["name", "seats"],
};

/** Conversations for each screen, by name. */
const at = new Map<string, string>();
const ASKED: Readonly<Record<string, string>> = {
  approval: "write four to notes.txt",
  form: `use ask_user ${JSON.stringify({ question: "Where to?", schema: SCHEMA })}`,
  choice: 'use ask_user {"question": "Which colour?", "options": ["red", "green"]}',
  words: "ask me which colour",
  "sign-in": "sign in to api.example.org",
};

async function make(name: string, ...said: readonly string[]): Promise<string> {
  const { api } = env.server;
  const { contextId } = await api.createContext({});
  at.set(name, contextId);
  for (const content of said) {
    await rest(contextId);
    await api.send(contextId, { content, agentId: "agent-code" });
  }
  return contextId;
}

async function rest(contextId: string): Promise<void> {
  while ((await env.server.api.context(contextId)).openTasks > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function prepare(): Promise<void> {
  const { api } = env.server;
  for (const [name, content] of Object.entries(ASKED)) {
    await make(name, content);
  }
  await make("running", "count slowly to 50000");
  await rest(await make("failed", "fail"));
  const gone = await make("deleted");
  await api.deleteContext(gone);
  const branches = await make("branches", "say alpha", "say beta");
  await rest(branches);
  const [, beta] = (await api.messages(branches)).items.filter((one) => one.role === "user");
  await api.rewind(branches, { beforeMessageId: beta?.messageId ?? "" });
  await api.fork(branches, { title: "A fork" });
  const rows = Array.from({ length: 40 }, (_, i) => ({ city: `c${i % 5}`, people: i * i }));
  const made = await make(
    "artifacts",
    "delegate think about tea to research and writer",
    `use dataset ${JSON.stringify({ name: "cities", rows })}`,
  );
  await rest(made);
  await api.writeArtifact(made, "md", { text: "# Notes\n\n- [x] one\n- two", name: "notes.md" });
  await api.writeArtifact(made, "ts", { text: "const a: number = 1;", name: "code.ts" });
  await api.writeArtifact(made, "png", { data: PIXEL, name: "dot.png", mimeType: "image/png" });
  const pdf = { data: "JVBERi0xLjQK", name: "paper.pdf", mimeType: "application/pdf" };
  await api.writeArtifact(made, "pdf", pdf);
  const plan = (title: string, expectedVersion: number) =>
    api.writeArtifact(made, "plan", {
      data: { title, a: [1, null] },
      name: "plan",
      expectedVersion,
    });
  await plan("Tea", 0);
  await plan("Coffee", 1);
}

interface Visit {
  readonly page: Page;
  /** Goes to the conversation of this name. */
  readonly go: (name: string) => Promise<void>;
  readonly check: (screen: string) => Promise<void>;
}

/** All kinds of questions. */
async function asks({ page, go, check }: Visit): Promise<void> {
  for (const name of Object.keys(ASKED)) {
    await go(name);
    await page.locator(".question-card").waitFor();
    await page.locator(".question-actions .button").first().waitFor();
    if (name === "form") {
      await page.getByRole("button", { name: "Answer" }).click();
      await page.getByText("This field is required.").first().waitFor();
    }
    await check(name);
    if (name === "approval") {
      await page.locator(".question-card .button:enabled", { hasText: "Deny" }).click();
      await page.getByRole("textbox", { name: "Reason" }).waitFor();
      await check("approval, with a reason against it");
      await page.getByRole("button", { name: "Back", exact: true }).click();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await check("approval, edited");
    }
  }
}

async function panels({ page, go, check }: Visit): Promise<void> {
  await go("artifacts");
  await waitUntilIdle(page);
  await page.getByRole("button", { name: "Artifacts", exact: true }).click();
  const panel = page.getByRole("complementary", { name: "Artifacts" });
  for (const name of ["cities", "notes.md", "code.ts", "dot.png", "paper.pdf", "plan"]) {
    await panel.locator(".artifact-entry", { hasText: name }).click();
    await panel.getByRole("article", { name }).waitFor();
    if (name === "cities") {
      await panel.getByRole("button", { name: "Chart" }).click();
      await panel.getByRole("button", { name: "Line" }).click();
    } else if (name === "plan") {
      await panel.getByLabel("Compare with").selectOption("1");
      await panel.locator("[data-change=changed]").first().waitFor();
    }
    await check(name);
    await panel.getByRole("button", { name: "All artifacts" }).click();
  }
  await check("all artifacts");
  await panel.getByRole("button", { name: "Close Artifacts" }).click();
  await page.getByRole("button", { name: "Trace", exact: true }).click();
  await page.locator(".event[data-kind=task-complete]").last().hover();
  await check("trace");
  await page.getByRole("button", { name: "Previous event" }).click();
  await page.getByText("As of event").waitFor();
  await check("past");
  await go("branches");
  await page.getByRole("button", { name: "Branches" }).click();
  await page.locator(".forks a").waitFor();
  await check("branches");
}

async function troubles({ page, go, check }: Visit): Promise<void> {
  await go("failed");
  await waitUntilIdle(page);
  await check("a failed task");
  await page.route("**/messages", (route) => route.abort());
  await page.getByRole("textbox", { name: "Message" }).fill("say lost");
  await page.keyboard.press("Enter");
  await page.locator(".outgoing").getByRole("alert").waitFor();
  await page.route("**/rewind", (route) => route.abort());
  await page.getByRole("button", { name: "Rewind to here" }).click();
  await page.getByRole("button", { name: "Dismiss" }).waitFor();
  await check("what did not get there, and what was refused");
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await page.getByRole("dialog").waitFor();
  await check("a dialog");
  await page.keyboard.press("Escape");
  await go("deleted");
  await page.getByText("This conversation was deleted.").waitFor();
  await check("a conversation that is gone");
  await page.route("**/api/contexts?*", (route) => route.abort());
  await page.reload();
  await page.getByText("This conversation was deleted.").waitFor();
  await check("no list");
  await page.goto(`${env.server.url}/#/`);
  await page.getByText(/Can’t load the list/).waitFor({ state: "attached" });
  await check("no list, at the beginning");
}

let prepared: Promise<void> | undefined;

for (const { name, colorScheme, width, rules } of MODES) {
  test(`axe-core finds nothing wrong on any screen, ${name}`, { skip: SKIP }, async () => {
    prepared ??= prepare();
    await prepared;
    const { page } = await env.open({ colorScheme, viewport: { width, height: 844 } });
    const go = async (screen: string): Promise<void> => {
      await page.goto(`${env.server.url}/#/c/${at.get(screen)}`);
      await page.locator(".conversation, .notice[role=alert]").first().waitFor();
    };
    const check = async (screen: string): Promise<void> =>
      assert.deepEqual(await violations(page, rules), [], screen);
    const visit: Visit = { page, go, check };
    await page.locator('[data-group="needs"] .entry').nth(4).waitFor();
    await page.locator('[data-group="runs"] .entry').first().waitFor();
    await check("the list");
    await page.getByText("Options").click();
    await check("the first screen, with options");
    await page.locator("main").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("ControlOrMeta+/");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await check("keys");
    await page.keyboard.press("Escape");
    await asks(visit);
    await panels(visit);
    await troubles(visit);
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      "it scrolls sideways",
    );
  });
}
