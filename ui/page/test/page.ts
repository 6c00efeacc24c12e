import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, afterEach, before, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
  type Page,
} from "playwright-core";
import { NO_SERVER, Server, type ServerOptions } from "./server.js";

/** The address of the browser that the test runner started. */
const BROWSER = process.env["PARLEY_PAGE_BROWSER"];
const PATIENCE_MS = 30_000;
const IMAGES = new URL("../../../../docs/images/", import.meta.url);

/** Why tests that need a browser and a server are skipped, or false. */
export const SKIP: string | false =
  NO_SERVER || (BROWSER === undefined ? "needs Chromium: apt-get install chromium" : false);

/** The server and browser of one test file. */
export interface TestSetup {
  readonly server: Server;
  /** Opens a page with its own storage; its errors are in `errors`. */
  open(options?: OpenOptions): Promise<Opened>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** The part of the address after `#`. */
  readonly at?: string;
}

export interface Opened {
  readonly page: Page;
  /** Console errors and policy violations. */
  readonly errors: readonly string[];
}

/** Connects to a server and a browser before the tests of a file, and leaves them afterwards. */
export function setUp(options: ServerOptions = {}): TestSetup {
  let browser: Browser | undefined;
  let server: Server | undefined;
  const opened: BrowserContext[] = [];
  if (SKIP === false) {
    before(async () => {
      server = await Server.start(options);
      browser = await chromium.connect(BROWSER ?? "");
    });
    // A page that stays open goes on drawing what its running tasks write.
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((context) => context.close()));
    });
    after(async () => {
      await browser?.close();
      await server?.stop();
    });
  }
  return {
    get server(): Server {
      if (server === undefined) {
        throw new Error("the test server is not started");
      }
      return server;
    },
    async open({ at = "", ...rest }: OpenOptions = {}): Promise<Opened> {
      if (browser === undefined || server === undefined) {
        throw new Error("the test server is not started");
      }
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        // Without a graphics card, an endless animation takes a core.
        reducedMotion: "reduce",
        ...rest,
      });
      opened.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") {
          errors.push(message.text());
        }
      });
      await page.goto(`${server.url}/${at}`);
      return { page, errors };
    },
  };
}

/** The text of a file that the page saved. */
export async function downloadedText(download: Download): Promise<string> {
  // `text` would remove a byte order mark.
  return (await buffer(await download.createReadStream())).toString("utf8");
}

/** The message input. */
export function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message" });
}

/** Sends a message in the open conversation. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Starts a conversation and waits until the page shows it. */
export async function startConversation(page: Page, text: string): Promise<string> {
  await page.goto(`${new URL(page.url()).origin}/#/`);
  await sendMessage(page, text);
  await page.waitForURL(/#\/c\//);
  await page.getByRole("log").waitFor();
  return decodeURIComponent(/#\/c\/([^/]+)/.exec(page.url())?.[1] ?? "");
}

/** Waits until no task is working in the open conversation. */
export async function waitUntilIdle(page: Page): Promise<void> {
  await page.locator(".task-footer").last().waitFor();
  await page.locator(".task-status").waitFor({ state: "detached" });
}

/** Stops the running task. */
export async function stop(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await page.getByText("Stopped.").last().waitFor();
  await waitUntilIdle(page);
}

/** Stops the running task by keyboard. */
export async function stopByKeys(page: Page): Promise<void> {
  await page.keyboard.press("ControlOrMeta+Shift+Period");
  await page.getByText("Stopped.").first().waitFor();
}

/** A shell command that runs until `end` is called, or until the end of the test. */
export function heldCommand(t: TestContext): {
  readonly command: string;
  readonly end: () => void;
} {
  // The command runs for as long as this folder exists.
  const folder = mkdtempSync(join(tmpdir(), "parley-running-"));
  const end = (): void => rmSync(folder, { recursive: true, force: true });
  t.after(end);
  return { command: `while [ -e ${folder} ]; do sleep 0.1; done`, end };
}

/** A promise that is resolved by calling `open`. */
export function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Saves a screenshot for the documentation, if PARLEY_IMAGES is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env["PARLEY_IMAGES"] !== undefined) {
    mkdirSync(IMAGES, { recursive: true });
    await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, IMAGES)) });
  }
}
