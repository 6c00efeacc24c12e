import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { violations } from "./axe.js";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const TOKEN = "a-token-for-tests";
const HASH = createHash("sha256").update(TOKEN).digest("hex");
const env = setUp({
  token: TOKEN,
  config: `auth: {tokens: [{name: ann, sha256: "${HASH}"}]}\nworkspaces: ["."]\n`,
});

test("where tokens are needed the page asks for one, and keeps it in the tab", {
  skip: SKIP,
}, async () => {
  const { page } = await env.open();
  await page.getByLabel("Token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("This token is not valid").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page), [], colorScheme);
  }
  await page.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.getByText("What would you like done?").waitFor();
  await startConversation(page, "say hello");
  await waitUntilIdle(page);
  await page.reload();
  await page.locator('[data-kind="text"]').getByText("hello").waitFor();
  const kept = await page.evaluate(() => [
    sessionStorage.getItem("parley.token"),
    localStorage.getItem("parley.token"),
    document.cookie,
  ]);
  assert.deepEqual(kept, [TOKEN, null, ""]);
});

const signInEnv = setUp({
  token: TOKEN,
  config: [
    `auth: {tokens: [{name: ann, sha256: "${HASH}"}]}`,
    'signIn: {issuer: "https://login.example.org", clientId: parley, name: Example}',
    'workspaces: ["."]\n',
  ].join("\n"),
});

test("where people sign in the page links to it, and still accepts a token", {
  skip: SKIP,
}, async () => {
  const { page } = await signInEnv.open();
  const link = page.getByRole("link", { name: "Sign in with Example" });
  await link.waitFor();
  assert.equal(await link.getAttribute("href"), "/api/sign-in/start?to=%2F");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.getByText("What would you like done?").waitFor();
});
