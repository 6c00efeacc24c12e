import type { CommandOutput } from "@parley/client";
import { CopyButton } from "../ui/CopyButton.js";
import { JsonText } from "./JsonText.js";

/** The output of a command, with its lines as in a terminal. */
export function TerminalText({ command }: { command: CommandOutput }) {
  const { output, errorOutput, exitCode, rest } = command;
  const failed = exitCode !== undefined && exitCode !== 0;
  return (
    <>
      {failed && <p class="problem">Exit code {exitCode}</p>}
      {(output !== "" || errorOutput === "") && <Lines name="output" text={output} />}
      {errorOutput !== "" && <Lines name="standard error" text={errorOutput} />}
      {rest !== undefined && <JsonText value={rest} />}
    </>
  );
}

function Lines({ name, text }: { name: string; text: string }) {
  return text.trim() === "" ? (
    <p class="muted">No {name}.</p>
  ) : (
    <div class="code terminal">
      <div class="code-head">
        <span>{name}</span>
        <CopyButton text={text} what={name} />
      </div>
      <pre tabIndex={0}>{text.replace(/\n+$/, "")}</pre>
    </div>
  );
}
