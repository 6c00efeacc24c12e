import { CopyButton } from "../ui/CopyButton.js";

/** True if a text looks like a unified diff. */
export function isDiff(text: string): boolean {
  return /^@@ /m.test(text) || /^--- .*\n\+\+\+ /m.test(text);
}

/** A unified diff, line by line. */
export function Diff({ text }: { text: string }) {
  return (
    <div class="code diff">
      <div class="code-head">
        <span>change</span>
        <CopyButton text={text} what="change" />
      </div>
      <pre tabIndex={0}>
        <code>
          {text
            .replace(/\n$/, "")
            .split("\n")
            .map((line, i) => (
              <span key={i} class={kindOf(line)}>
                {line}
                {"\n"}
              </span>
            ))}
        </code>
      </pre>
    </div>
  );
}

function kindOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@")) {
    return "diff-head";
  }
  return line.startsWith("+") ? "diff-added" : line.startsWith("-") ? "diff-removed" : "diff-same";
}
