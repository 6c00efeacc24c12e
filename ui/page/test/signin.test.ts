import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParleyEvent } from "@parley/client";
import type { Page } from "playwright-core";
import { SKIP, setUp } from "./page.js";
import { Replay } from "./replay.js";
import { watchForViolations } from "./violations.js";

const env = setUp();
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");

/** A log that ends with a sign-in at this address, as an MCP server with OAuth 2 requests it. */
async function asking(authUrl: string): Promise<Replay> {
  const { api } = env.server;
  const { contextId } = await api.createContext({});
  await api.send(contextId, { content: "sign in to tickets", agentId: "agent-code" });
  let events: ParleyEvent[] = [];
  while (!events.some((event) => event.kind === "auth-required")) {
    events = (await api.events(contextId, { limit: 1_000 })).events;
  }
  const asked = events.map((event) =>
    event.kind === "auth-required"
      ? { ...event, authType: "oauth2" as const, authUrl, scopes: ["read", "<b>write</b>"] }
      : event,
  );
  const replay = await Replay.start(contextId, asked, await api.agentTypes());
  replay.advance(asked.length);
  return replay;
}

test(
  "a sign-in elsewhere is a link to a tab of its own, which names the host",
  options,
  async () => {
    const replay = await asking("https://login.example.org/authorize?state=abc");
    try {
      const { page } = await env.open();
      await page.goto(`${replay.url}/#/c/${replay.contextId}`);
      const link = questionCard(page).getByRole("link", { name: "Sign in at login.example.org" });
      await link.waitFor();
      assert.equal(
        await link.getAttribute("href"),
        "https://login.example.org/authorize?state=abc",
      );
      assert.equal(await link.getAttribute("target"), "_blank");
      assert.match((await link.getAttribute("rel")) ?? "", /noopener noreferrer/);
      await questionCard(page).getByText("for: read, <b>write</b>").waitFor();
      // A sign-in on an external page needs no key.
      assert.equal(await questionCard(page).locator("input").count(), 0);
    } finally {
      replay.stop();
    }
  },
);

for (const address of [
  "javascript:window.hit=1",
  "data:text/html,<script>1</script>",
  "file:///",
]) {
  test(
    `a sign-in at ${address.split(":")[0]}: is not a link, and asks for nothing`,
    options,
    async () => {
      const replay = await asking(address);
      try {
        const { page } = await env.open();
        await page.goto(`${replay.url}/#/c/${replay.contextId}`);
        const clean = await watchForViolations(page, replay.url);
        await questionCard(page).getByText("This page does not open it").waitFor();
        assert.equal(await questionCard(page).locator("a, input, .primary").count(), 0);
        await clean();
      } finally {
        replay.stop();
      }
    },
  );
}
