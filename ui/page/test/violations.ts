import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** Watches for security violations; call the returned function to check that there were none. */
export async function watchForViolations(page: Page, origin: string): Promise<() => Promise<void>> {
  const seen: string[] = [];
  page.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("popup", (popup) => seen.push(`popup: ${popup.url()}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith(`blob:${origin}`)) {
      seen.push(`request: ${url}`);
    }
  });
  await page.addInitScript(() => {
    const reports: string[] = [];
    Object.assign(window, { reports });
    document.addEventListener("securitypolicyviolation", (event) => {
      reports.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.reload();
  return async () => {
    assert.equal(await page.evaluate("window.hit"), undefined);
    assert.deepEqual(await page.evaluate("window.reports"), []);
    assert.deepEqual(seen, []);
    const forbidden = "iframe, object, embed, link, style, base, form form, [onerror], [onload]";
    assert.equal(await page.locator(`#page script, #page :is(${forbidden})`).count(), 0);
    const links = page.locator("#page a[href]");
    for (const href of await links.evaluateAll((all) => all.map((a) => a.getAttribute("href")))) {
      assert.match(href ?? "", /^(https?:|mailto:|#)/);
    }
  };
}
