import type { Json, JsonObject } from "./events.js";

/** The result of a tool that ran a command. */
export interface CommandOutput {
  /** Standard output, or all output if the tool does not separate them. */
  readonly output: string;
  /** Standard error; empty if there is none, or if it is part of `output`. */
  readonly errorOutput: string;
  /** Undefined if the tool did not report one. */
  readonly exitCode: number | undefined;
  /** All other fields of the result; undefined if there are none. */
  readonly rest: JsonObject | undefined;
}

/** Some programs write `exit_code`. */
const EXIT_CODES = ["exitCode", "exit_code"] as const;

/**
 * The output of a command, if the result of a tool is one: an object with `output` and `exitCode`,
 * or with `stdout` or `stderr`, or with nothing but `output`. Undefined for all other results.
 */
export function commandOutputOf(result: Json | undefined): CommandOutput | undefined {
  if (typeof result !== "object" || result === null || Array.isArray(result)) {
    return undefined;
  }
  const { output, stdout, stderr, ...others } = result;
  if (![output, stdout, stderr].every((text) => text === undefined || typeof text === "string")) {
    return undefined;
  }
  const streams = stdout !== undefined || stderr !== undefined;
  const coded = EXIT_CODES.some((name) => name in others);
  const alone = Object.keys(others).length === 0;
  const known = output === undefined ? streams : coded || alone;
  // With both, it is unclear what `output` is.
  if (!known || (output !== undefined && streams)) {
    return undefined;
  }
  const codes = EXIT_CODES.map((name) => others[name]);
  if (codes.some((code) => code !== undefined && code !== null && typeof code !== "number")) {
    return undefined;
  }
  const rest = Object.entries(others).filter(([name]) => !EXIT_CODES.some((one) => one === name));
  return {
    output: String(output ?? stdout ?? ""),
    errorOutput: String(stderr ?? ""),
    exitCode: codes.find((code) => typeof code === "number"),
    rest: rest.length === 0 ? undefined : Object.fromEntries(rest),
  };
}
