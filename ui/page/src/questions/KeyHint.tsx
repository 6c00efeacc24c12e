/** The shortcut of a button; screen readers get it from `aria-keyshortcuts`. */
export function KeyHint({ name }: { name: string }) {
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the element cannot be focused.
  return <kbd aria-hidden="true">{name}</kbd>;
}
