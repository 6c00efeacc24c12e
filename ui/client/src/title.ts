import type { MessageInfo } from "./types.js";

const TITLE_MAX = 50;

/** The default title of a context with these messages. */
export function titleOf(messages: readonly MessageInfo[]): string | undefined {
  const first = messages.find((one) => one.role === "user" && one.content !== "")?.content;
  if (first === undefined || first.length <= TITLE_MAX) {
    return first;
  }
  // Do not split a surrogate pair.
  const split = /[\uD800-\uDBFF]/.test(first.charAt(TITLE_MAX - 1));
  return first.slice(0, split ? TITLE_MAX - 1 : TITLE_MAX);
}
