import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { begin, settled, SKIP, stage } from "./page.js";

/** An MCP server that asks for a colour with a form, and returns what it is told. */
const PROGRAM = fileURLToPath(
  new URL("../../../../server/src/test/resources/dev/parley/mcp/odd-server.js", import.meta.url),
);
const it = stage({
  config: JSON.stringify({
    mcpServers: { odd: { command: [process.execPath, PROGRAM], permission: "allow" } },
    agents: [{ id: "asker", type: "llm", tools: ["mcp:odd", "ask_user"] }],
    supervisor: { fallbackAgent: "asker" },
  }),
});
const options = { skip: SKIP };
const dock = (page: Page) => page.locator(".dock");

async function described(page: Page, name: string): Promise<string> {
  const button = dock(page).getByRole("button", { name, exact: true });
  const id = await button.getAttribute("aria-describedby");
  return page.locator(`[id="${id}"]`).innerText();
}

for (const { button, value, action, says } of [
  { button: "Decline", value: "declined", action: "decline", says: /do not want to answer/ },
  { button: "Skip", value: "skipped", action: "cancel", says: /was canceled/ },
]) {
  test(`${button} tells an MCP server to ${action} its form`, options, async () => {
    const { page, trouble } = await it.open();
    const contextId = await begin(page, "use odd_ask {}");
    await dock(page).getByLabel("Colour").waitFor();
    assert.match(await described(page, button), says);
    assert.deepEqual(await violations(page), []);
    await dock(page).getByRole("button", { name: button, exact: true }).click();
    await page.locator(".asked").getByText(value, { exact: true }).waitFor();
    await settled(page);
    const { events } = await it.server.api.events(contextId, {
      filter: { kinds: ["input-received", "tool-complete"] },
    });
    assert.deepEqual(
      events.map((event) => event.kind === "input-received" && event.value).filter(Boolean),
      [{ [value]: true }],
    );
    const done = events.find((event) => event.kind === "tool-complete");
    assert.match(JSON.stringify(done), new RegExp(`action[^a-z]+${action}`));
    assert.deepEqual(trouble, []);
  });
}

test("a question that no MCP server asks has no Decline", options, async () => {
  const { page } = await it.open();
  const schema = { type: "object", properties: { colour: { type: "string" } } };
  await begin(page, `use ask_user ${JSON.stringify({ question: "Which?", schema })}`);
  await dock(page).getByRole("button", { name: "Skip", exact: true }).click();
  assert.equal(await dock(page).getByRole("button", { name: "Decline" }).count(), 0);
  await settled(page);
});
