import { FIELDS } from "./hooks.js";

/** Kinds of `<input>` that letters do nothing in. */
const WITHOUT_TEXT = ["button", "checkbox", "color", "file", "radio", "range", "reset", "submit"];

/** True on a Mac, where Option and a letter type another letter. */
export const MAC = /^Mac|^iP/.test(navigator.platform);

/** How the modifier keys are called here. */
export const MODIFIER = MAC ? "⌘" : "Ctrl";
export const NAVIGATION = MAC ? "Ctrl+⌥" : "Alt";

/** True if letters typed in this element are text, or choose something in it. */
export function takesText(element: Element | null): boolean {
  const field = element?.closest(FIELDS) ?? null;
  const typed = !(field instanceof HTMLInputElement) || !WITHOUT_TEXT.includes(field.type);
  return field !== null && typed;
}

/** True for Ctrl or Command with a key, and no other modifier. */
export function isCommand(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
}

/** True for Alt with a key (on a Mac: Control and Option), where that types no letter. */
export function isNavigation(event: KeyboardEvent): boolean {
  const alone = !event.metaKey && !event.shiftKey && !event.getModifierState("AltGraph");
  return alone && event.altKey && event.ctrlKey === MAC;
}

/** True if a key begins a text: a letter, a sign, an accent, or a text that is pasted. */
export function beginsText(event: KeyboardEvent): boolean {
  if (isCommand(event)) {
    return event.key.toLowerCase() === "v";
  }
  const sign = event.key.length === 1 && event.key !== " ";
  if (event.ctrlKey || event.metaKey || event.altKey) {
    // AltGr types letters, and so does Option on a Mac.
    const typed = event.getModifierState("AltGraph") || (MAC && !event.ctrlKey && !event.metaKey);
    return sign && typed;
  }
  return sign || event.key === "Dead" || event.key === "Process";
}

/** Where a typed text belongs: to the form of what is asked, else to where messages are written. */
export function visibleInput(): HTMLElement | undefined {
  const fields = document.querySelectorAll<HTMLElement>(
    ".dock [data-typing] :is(input, textarea), .composer > textarea",
  );
  return [...fields].find((field) => takesText(field) && field.checkVisibility());
}

/** The box where messages are written. */
export function composerBox(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>(".composer > textarea");
}

/** Moves the focus to the visible input, so that this key lands there. */
export function typeIntoVisibleInput(event: KeyboardEvent): void {
  if (!event.defaultPrevented && beginsText(event) && !takesText(event.target as Element | null)) {
    visibleInput()?.focus({ preventScroll: true });
  }
}
