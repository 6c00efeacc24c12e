/** The key that does what a button does, on that button; screen readers hear of it otherwise. */
export function Key({ name }: { name: string }) {
  return <kbd aria-hidden="true">{name}</kbd>;
}
