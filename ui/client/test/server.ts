import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Why tests are skipped that need a server, or false. */
export const NO_SERVER: string | false =
  process.env["PARLEY_URL"] === undefined && process.env["PARLEY_PROGRAM"] === undefined
    ? "needs a server: set PARLEY_URL, or PARLEY_PROGRAM to the program that starts one (./parley)"
    : false;

const PATIENCE_MS = 60_000;
/** The program may have to be built first. */
const START_MS = 240_000;

/** A real server: the one at PARLEY_URL, or one started by PARLEY_PROGRAM with its own data. */
export class Server {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess | undefined,
    private readonly folder: string | undefined,
  ) {}

  static async start(): Promise<Server> {
    const url = process.env["PARLEY_URL"];
    if (url !== undefined) {
      return new Server(url, undefined, undefined);
    }
    const folder = mkdtempSync(join(tmpdir(), "parley-ui-"));
    const program = process.env["PARLEY_PROGRAM"] ?? "";
    const child = spawn(program, ["--port", "0", "--data", join(folder, "data")], {
      cwd: folder,
      // The server exits with this process, even if it is killed.
      env: { ...withoutKeys(process.env), PARLEY_PARENT_PID: String(process.pid) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      return new Server(await ready(child), child, folder);
    } catch (failure) {
      child.kill("SIGKILL");
      throw failure;
    }
  }

  async stop(): Promise<void> {
    const { process: child } = this;
    if (child !== undefined && child.exitCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      await gone;
      clearTimeout(kill);
    }
    if (this.folder !== undefined) {
      rmSync(this.folder, { recursive: true, force: true });
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
