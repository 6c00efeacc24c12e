import { FIELDS } from "./hooks.js";

/** Types of `<input>` that take no text. */
const WITHOUT_TEXT = ["button", "checkbox", "color", "file", "radio", "range", "reset", "submit"];

/** True on macOS and iOS, where Option with a letter types another letter. */
export const MAC = /^Mac|^iP/.test(navigator.platform);

/** The names of the modifier keys on this platform. */
export const MODIFIER = MAC ? "⌘" : "Ctrl";
export const NAVIGATION = MAC ? "Ctrl+⌥" : "Alt";

/** True if this element takes typed letters. */
export function takesText(element: Element | null): boolean {
  const field = element?.closest(FIELDS) ?? null;
  const typed = !(field instanceof HTMLInputElement) || !WITHOUT_TEXT.includes(field.type);
  return field !== null && typed;
}

/** True for Ctrl or Command without other modifiers. */
export function isCommand(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
}

/** True for Alt without other modifiers (on macOS Control and Option), where it types no letter. */
export function isNavigation(event: KeyboardEvent): boolean {
  const alone = !event.metaKey && !event.shiftKey && !event.getModifierState("AltGraph");
  return alone && event.altKey && event.ctrlKey === MAC;
}

/** True if a key starts text input: a letter, a symbol, an accent or a paste. */
export function beginsText(event: KeyboardEvent): boolean {
  if (isCommand(event)) {
    return event.key.toLowerCase() === "v";
  }
  const sign = event.key.length === 1 && event.key !== " ";
  if (event.ctrlKey || event.metaKey || event.altKey) {
    // AltGr, and Option on macOS, type letters.
    const typed = event.getModifierState("AltGraph") || (MAC && !event.ctrlKey && !event.metaKey);
    return sign && typed;
  }
  return sign || event.key === "Dead" || event.key === "Process";
}

/**
 * The input that receives typed text: the form of the current question, or the composer. In the
 * inbox, the form of the question that has the focus.
 */
export function visibleInput(): HTMLElement | undefined {
  const inbox = document.querySelector(".inbox") !== null;
  const within = inbox ? document.activeElement?.closest(".question-card") : document;
  const fields =
    within?.querySelectorAll<HTMLElement>(
      ".question-card [data-typing] :is(input, textarea), .composer > textarea",
    ) ?? [];
  return [...fields].find((field) => takesText(field) && field.checkVisibility());
}

/** The text area of the composer. */
export function composerBox(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>(".composer > textarea");
}

/** Moves the focus to the visible input, which then receives this key. */
export function typeIntoVisibleInput(event: KeyboardEvent): void {
  if (!event.defaultPrevented && beginsText(event) && !takesText(event.target as Element | null)) {
    visibleInput()?.focus({ preventScroll: true });
  }
}
