import { type AnsiSpan, ansiSpans, type CommandOutput } from "@parley/client";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../ui/CopyButton.js";
import { JsonText } from "./JsonText.js";

/** The output of a command, with its lines and colors as in a terminal. */
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
  const spans = useMemo(() => ansiSpans(text.replace(/\s+$/, "")), [text]);
  return spans.length === 0 ? (
    <p class="muted">No {name}.</p>
  ) : (
    <div class="code terminal">
      <div class="code-head">
        <span>{name}</span>
        <CopyButton text={spans.map((span) => span.text).join("")} what={name} />
      </div>
      <pre tabIndex={0}>{spans.map(show)}</pre>
    </div>
  );
}

function show(span: AnsiSpan, i: number) {
  const classes = classesOf(span);
  return classes === "" ? (
    span.text
  ) : (
    <span key={i} class={classes}>
      {span.text}
    </span>
  );
}

function classesOf({ color, background, bold, dim, italic, underline }: AnsiSpan): string {
  // On a background of its own, text has the color that is readable there.
  const colors = background === undefined ? color !== undefined && `ansi-${color}` : "ansi-marked";
  return [
    colors,
    bold && "ansi-bold",
    dim && "ansi-dim",
    italic && "ansi-italic",
    underline && "ansi-underline",
  ]
    .filter(Boolean)
    .join(" ");
}
