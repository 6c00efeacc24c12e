import type { MessageInfo } from "./types.js";

const TITLE_MAX = 50;

/** The title that a context has whose messages these are, if nobody gave it one. */
export function titleOf(messages: readonly MessageInfo[]): string | undefined {
  const first = messages.find((one) => one.role === "user" && one.content !== "")?.content;
  if (first === undefined || first.length <= TITLE_MAX) {
    return first;
  }
  // Never half of a character that takes two.
  const split = /[\uD800-\uDBFF]/.test(first.charAt(TITLE_MAX - 1));
  return first.slice(0, split ? TITLE_MAX - 1 : TITLE_MAX);
}
