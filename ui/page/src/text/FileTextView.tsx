import { type FileText, languageOf } from "@parley/client";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../ui/CopyButton.js";
import { CodeText } from "./Code.js";

/** A text file with its name and line numbers. */
export function FileTextView({ file }: { file: FileText }) {
  const { path, text, firstLine, cut } = file;
  const numbers = useMemo(() => {
    const lines = text.replace(/\n$/, "").split("\n").length;
    return Array.from({ length: lines }, (_, i) => i + (firstLine ?? 1)).join("\n");
  }, [text, firstLine]);
  return (
    <>
      <div class="code file-text">
        <div class="code-head">
          <span>{path}</span>
          <CopyButton text={text} what="file" />
        </div>
        <div class="file-lines" tabIndex={0} role="group" aria-label={path}>
          {firstLine !== undefined && (
            <pre class="line-numbers" aria-hidden="true">
              {numbers}
            </pre>
          )}
          <pre>
            <CodeText text={text} language={languageOf({ name: path })} />
          </pre>
        </div>
      </div>
      {cut && <p class="muted">The agent read only this part of the file.</p>}
    </>
  );
}
