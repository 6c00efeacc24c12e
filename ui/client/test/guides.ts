import { readFileSync } from "node:fs";

/** The folder of the package. */
export const ROOT = new URL("../../", import.meta.url);

/** The code blocks of a guide in this language. */
export function blocks(file: string, language: string): string[] {
  const text = readFileSync(new URL(file, ROOT), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map(
    (found) => found[1] ?? "",
  );
}
