import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ParleyApi } from "@parley/client";

/** Why tests are skipped that need a server, or false. */
export const NO_SERVER: string | false =
  process.env["PARLEY_PROGRAM"] === undefined
    ? "needs a server: set PARLEY_PROGRAM to the program that starts one (./parley)"
    : false;

const PATIENCE_MS = 60_000;
/** The program may have to be built first. */
const START_MS = 240_000;
const ATTEMPTS_MAX = 3;
const AGAIN_MS = 1_000;

export interface ServerOptions {
  /** The configuration, as YAML. */
  readonly config?: string;
  readonly token?: string;
  /** Files of the workspace. */
  readonly files?: Readonly<Record<string, string>>;
  /** True if the server must start empty, or is killed by the test. */
  readonly own?: boolean;
}

/** A real server started by PARLEY_PROGRAM, with its own data; it can be killed and restarted. */
export class Server {
  private child: ChildProcess | undefined;
  private port = 0;

  private constructor(
    private readonly folder: string,
    private readonly options: ServerOptions,
  ) {}

  static async start(options: ServerOptions = {}): Promise<Server> {
    const { PARLEY_PAGE_URL: url, PARLEY_PAGE_WORK: work, PARLEY_IMAGES: pictures } = process.env;
    // Screenshots show only the conversations of their own file.
    const own = options.own === true || options.config !== undefined || pictures !== undefined;
    const shared = !own && url && work;
    const folder = shared ? "" : mkdtempSync(join(tmpdir(), "parley-page-"));
    const workspace = shared ? work : join(folder, "work");
    mkdirSync(workspace, { recursive: true });
    for (const [name, content] of Object.entries(options.files ?? {})) {
      writeFileSync(join(workspace, name), content);
    }
    if (shared) {
      const known = new Server(folder, options);
      known.port = Number(new URL(url).port);
      return known;
    }
    if (options.config !== undefined) {
      writeFileSync(join(folder, "parley.yaml"), options.config);
    }
    const server = new Server(folder, options);
    await server.begin();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get api(): ParleyApi {
    const { token } = this.options;
    return new ParleyApi({ url: this.url, ...(token === undefined ? {} : { token }) });
  }

  /** Starts the server on its port, which may be in use for a moment. */
  async begin(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.launch();
      } catch (failure) {
        if (attempt === ATTEMPTS_MAX) {
          throw failure;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  private async launch(): Promise<void> {
    const config = this.options.config === undefined ? [] : ["--config", "../parley.yaml"];
    const program = process.env["PARLEY_PROGRAM"] ?? "";
    const child = spawn(
      program,
      ["serve", "--port", String(this.port), "--data", join(this.folder, "data"), ...config],
      {
        cwd: join(this.folder, "work"),
        // The server exits with this process, even if it is killed.
        env: { ...withoutKeys(process.env), PARLEY_PARENT_PID: String(process.pid) },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.child = child;
    this.port = Number(new URL(await ready(child)).port);
  }

  /** Kills the server. */
  kill(): Promise<void> {
    return this.end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.end("SIGTERM");
    if (this.folder !== "") {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill(signal);
      const kill = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      await gone;
      clearTimeout(kill);
    }
  }
}

/** Without keys, tests cannot call paid models. */
function withoutKeys(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(ANTHROPIC|OPENAI|PARLEY)_/.test(name)),
  );
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the server did not start in time")), START_MS);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended at once: ${code}`)));
    if (child.stdout !== null) {
      createInterface(child.stdout).on("line", (line) => {
        const url = /https?:\/\/\S+/.exec(line)?.[0];
        if (url !== undefined) {
          clearTimeout(late);
          resolve(url);
        }
      });
    }
  });
}
