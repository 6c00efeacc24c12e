import type { Json } from "@parley/client";
import { Code } from "./Code.js";

/** A readable value: text as it is, everything else as JSON. */
export function JsonText({ value }: { value: Json | undefined }) {
  if (value === undefined) {
    return <p class="muted">nothing</p>;
  }
  return typeof value === "string" ? (
    <pre class="plain" tabIndex={0}>
      {value}
    </pre>
  ) : (
    <Code text={JSON.stringify(value, null, 2)} language="json" />
  );
}
