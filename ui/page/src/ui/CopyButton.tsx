import { useEffect, useState } from "preact/hooks";
import { Icon } from "./Icon.js";

const SHOWN_MS = 1_500;

/** Copies a text and confirms it. */
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
      type="button"
      class="icon-button small"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      <Icon name={copied ? "check" : "copy"} />
      <span class="sr-only" role="status">
        {copied ? "Copied" : ""}
      </span>
    </button>
  );
}

/** Copies text; returns true on success. Insecure pages need the deprecated command. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "sr-only";
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}
