const RELEASED_MS = 60_000;

/** Saves something as a file. What it is called by is never opened: it is only a name. */
export function save(name: string, parts: readonly BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASED_MS);
}
