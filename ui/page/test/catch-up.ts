import type { Page } from "playwright-core";
import type { Server } from "./server.js";

/** The last event of a context. */
export async function head(server: Server, contextId: string): Promise<number> {
  return Number.parseInt(String((await server.api.context(contextId)).position), 10);
}

/** The milliseconds until the page shows everything up to an event. */
export async function caughtUp(page: Page, seq: number): Promise<number> {
  const begun = performance.now();
  await page.waitForFunction(
    (wanted) =>
      Number.parseInt(document.querySelector(".thread")?.getAttribute("data-position") ?? "", 10) >=
      wanted,
    seq,
  );
  return performance.now() - begun;
}
