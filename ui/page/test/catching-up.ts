import type { Page } from "playwright-core";
import type { Server } from "./server.js";

/** How far a context has come. */
export async function head(server: Server, contextId: string): Promise<number> {
  return Number.parseInt(String((await server.api.context(contextId)).position), 10);
}

/** How many milliseconds from now until the page shows all up to an event. */
export async function caughtUp(page: Page, seq: number): Promise<number> {
  const begun = performance.now();
  await page.waitForFunction(
    (wanted) =>
      Number.parseInt(document.querySelector(".thread")?.getAttribute("data-position") ?? "") >=
      wanted,
    seq,
  );
  return performance.now() - begun;
}
