import { useEffect, useState } from "preact/hooks";
import { Icon } from "./Icon.js";

const SHOWN_MS = 1_500;

/** Copies a text, and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) {
      return undefined;
    }
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    void copyText(text).then(setCopied);
  };
  return (
    <button
      class="icon-button small"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={copied ? "check" : "copy"} />
      <span class="sr" role="status">
        {copied ? "Copied" : ""}
      </span>
    </button>
  );
}

/** True if it is in the clipboard. On plain addresses elsewhere only the old way is left. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "sr";
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}
