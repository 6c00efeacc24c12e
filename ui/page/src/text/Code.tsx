import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../ui/CopyButton.js";
import { highlight, type Stretch } from "./highlight.js";

/** A block of code, with its language, colours, and a button to copy it. */
export const Code = memo(({ text, language }: { text: string; language?: string | undefined }) => {
  const stretches = useMemo(() => highlight(text, language), [text, language]);
  const name = language?.trim().split(/\s/)[0] ?? "";
  return (
    <div class="code">
      <div class="code-head">
        <span>{name === "" ? "text" : name.slice(0, 40)}</span>
        <CopyButton text={text} what="code" />
      </div>
      <pre tabIndex={0}>
        <code>{stretches.map(show)}</code>
      </pre>
    </div>
  );
});

function show(stretch: Stretch): ComponentChildren {
  return typeof stretch === "string" ? (
    stretch
  ) : (
    <span class={stretch.className}>{stretch.children.map(show)}</span>
  );
}
