import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../ui/CopyButton.js";
import { highlight, type CodeSpan } from "./highlight.js";

/** A block of code with its language, highlighting and a copy button. */
export const Code = memo(({ text, language }: { text: string; language?: string | undefined }) => {
  const name = language?.trim().split(/\s/)[0] ?? "";
  return (
    <div class="code">
      <div class="code-head">
        <span>{name === "" ? "text" : name.slice(0, 40)}</span>
        <CopyButton text={text} what="code" />
      </div>
      <pre tabIndex={0}>
        <CodeText text={text} language={language} />
      </pre>
    </div>
  );
});

/** Code with highlighting, to be placed in a `pre`. */
export function CodeText({ text, language }: { text: string; language?: string | undefined }) {
  const spans = useMemo(() => highlight(text, language), [text, language]);
  return <code>{spans.map(show)}</code>;
}

function show(span: CodeSpan): ComponentChildren {
  return typeof span === "string" ? (
    span
  ) : (
    <span class={span.className}>{span.children.map(show)}</span>
  );
}
