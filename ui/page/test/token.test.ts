import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { violations } from "./axe.js";
import { begin, settled, SKIP, stage } from "./page.js";

const TOKEN = "a-token-for-tests";
const HASH = createHash("sha256").update(TOKEN).digest("hex");
const it = stage({
  token: TOKEN,
  config: `auth: {tokens: [{name: ann, sha256: "${HASH}"}]}\nworkspaces: ["."]\n`,
});

test(
  "where tokens are needed the page asks for one, and keeps it in the tab",
  { skip: SKIP },
  async () => {
    const { page } = await it.open();
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This token is nobody’s").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], colorScheme);
    }
    await page.getByLabel("Token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("What should be done?").waitFor();
    await begin(page, "say hello");
    await settled(page);
    await page.reload();
    await page.locator('[data-kind="text"]').getByText("hello").waitFor();
    const kept = await page.evaluate(() => [
      sessionStorage.getItem("parley.token"),
      localStorage.getItem("parley.token"),
      document.cookie,
    ]);
    assert.deepEqual(kept, [TOKEN, null, ""]);
  },
);
