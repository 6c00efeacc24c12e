const SCHEMES = ["http:", "https:", "mailto:"];
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  copy: "©",
};
const CODE_POINT_MAX = 0x10ffff;

/** The address, if it is a web or mail address. */
export function safeLink(href: string): string | undefined {
  try {
    const url = new URL(href);
    return SCHEMES.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes character entities; the result stays text. */
export function decodeEntities(text: string): string {
  return text.includes("&")
    ? text.replace(
        /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,6}));/g,
        (all, ten, hex, name) => {
          const code =
            ten !== undefined ? Number(ten) : hex !== undefined ? parseInt(hex, 16) : NaN;
          if (Number.isNaN(code)) {
            return NAMED[name as string] ?? all;
          }
          return code > 0 && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : all;
        },
      )
    : text;
}
