import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

/** An MCP server that asks for a colour with a form and returns the response. */
const PROGRAM = fileURLToPath(
  new URL("../../../../server/src/test/resources/dev/parley/mcp/odd-server.js", import.meta.url),
);
const env = setUp({
  config: JSON.stringify({
    mcpServers: { odd: { command: [process.execPath, PROGRAM], permission: "allow" } },
    agents: [{ id: "asker", type: "llm", tools: ["mcp:odd", "ask_user"] }],
    supervisor: { fallbackAgent: "asker" },
  }),
});
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");

async function described(page: Page, name: string): Promise<string> {
  const button = questionCard(page).getByRole("button", { name, exact: true });
  const id = await button.getAttribute("aria-describedby");
  return page.locator(`[id="${id}"]`).innerText();
}

for (const { button, value, action, says } of [
  { button: "Decline", value: "declined", action: "decline", says: /do not want to answer/ },
  { button: "Skip", value: "skipped", action: "cancel", says: /was canceled/ },
]) {
  test(`${button} tells an MCP server to ${action} its form`, options, async () => {
    const { page, errors } = await env.open();
    const contextId = await startConversation(page, "use odd_ask {}");
    await questionCard(page).getByLabel("Colour").waitFor();
    assert.match(await described(page, button), says);
    assert.deepEqual(await violations(page), []);
    await questionCard(page).getByRole("button", { name: button, exact: true }).click();
    await page.locator(".question").getByText(value, { exact: true }).waitFor();
    await waitUntilIdle(page);
    const { events } = await env.server.api.events(contextId, {
      filter: { kinds: ["input-received", "tool-complete"] },
    });
    assert.deepEqual(
      events.map((event) => event.kind === "input-received" && event.value).filter(Boolean),
      [{ [value]: true }],
    );
    const done = events.find((event) => event.kind === "tool-complete");
    assert.match(JSON.stringify(done), new RegExp(`action[^a-z]+${action}`));
    assert.deepEqual(errors, []);
  });
}

test("a question that no MCP server asks has no Decline", options, async () => {
  const { page } = await env.open();
  const schema = { type: "object", properties: { colour: { type: "string" } } };
  await startConversation(page, `use ask_user ${JSON.stringify({ question: "Which?", schema })}`);
  await questionCard(page).getByRole("button", { name: "Skip", exact: true }).click();
  assert.equal(await questionCard(page).getByRole("button", { name: "Decline" }).count(), 0);
  await waitUntilIdle(page);
});
