import { existsSync, mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { NO_SERVER, Server, type ServerOptions } from "./server.js";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const PROGRAM = process.env["CHROMIUM"] ?? PROGRAMS.find((one) => existsSync(one));
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const PATIENCE_MS = 30_000;
const IMAGES = new URL("../../../../docs/images/", import.meta.url);

/** Why tests that need a browser are skipped, or false if there is one and a server. */
export const SKIP: string | false =
  NO_SERVER || (PROGRAM === undefined ? "needs Chromium: apt-get install chromium" : false);

/** A server and a browser for the tests of one file. */
export interface Stage {
  readonly server: Server;
  /** A page of its own, as if in another browser; what goes wrong in it is in `trouble`. */
  open(options?: OpenOptions): Promise<Opened>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Behind the `#`. */
  readonly at?: string;
}

export interface Opened {
  readonly page: Page;
  /** What the browser complained of: errors, and what its policy kept from happening. */
  readonly trouble: readonly string[];
}

/** Sets a stage up before the tests of this file, and takes it down after. */
export function stage(options: ServerOptions = {}): Stage {
  let browser: Browser | undefined;
  let server: Server | undefined;
  if (SKIP === false) {
    before(async () => {
      server = await Server.start(options);
      browser = await chromium.launch({ executablePath: PROGRAM ?? "", args: FLAGS });
    });
    after(async () => {
      await browser?.close();
      await server?.stop();
    });
  }
  return {
    get server(): Server {
      if (server === undefined) {
        throw new Error("the stage is not set");
      }
      return server;
    },
    async open({ at = "", ...rest }: OpenOptions = {}): Promise<Opened> {
      if (browser === undefined || server === undefined) {
        throw new Error("the stage is not set");
      }
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      const trouble: string[] = [];
      page.on("pageerror", (error) => trouble.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") {
          trouble.push(message.text());
        }
      });
      await page.goto(`${server.url}/${at}`);
      return { page, trouble };
    },
  };
}

/** Where one writes. */
export function composer(page: Page) {
  return page.getByRole("textbox", { name: "Message" });
}

/** Says something in the conversation that is open. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Begins a conversation with this, and waits until the page shows it. */
export async function begin(page: Page, text: string): Promise<string> {
  await page.goto(`${new URL(page.url()).origin}/#/`);
  await say(page, text);
  await page.waitForURL(/#\/c\//);
  await page.getByRole("log").waitFor();
  return decodeURIComponent(/#\/c\/([^/]+)/.exec(page.url())?.[1] ?? "");
}

/** Waits until nothing is at work in the conversation that is open. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".ended").last().waitFor();
  await page.locator(".doing").waitFor({ state: "detached" });
}

/** Stops what is at work. */
export async function stop(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Stop", exact: true }).last().click();
  await page.getByText("Stopped.").last().waitFor();
  await settled(page);
}

/** Stops what is at work from the keyboard. */
export async function stopByKeys(page: Page): Promise<void> {
  await page.keyboard.press("ControlOrMeta+Shift+Period");
  await page.getByText("Stopped.").first().waitFor();
}

/** What others wait behind until it is opened, whoever comes first. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Keeps a picture for the documents, if PARLEY_IMAGES asks for it. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env["PARLEY_IMAGES"] !== undefined) {
    mkdirSync(IMAGES, { recursive: true });
    await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, IMAGES)) });
  }
}
