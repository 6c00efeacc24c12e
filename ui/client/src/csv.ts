import type { Json, JsonObject } from "./events.js";
import { cellOf, cellText, numberOf } from "./dataset.js";

/** Characters that start a formula in spreadsheets. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const QUOTED = /[",\r\n\t]|^\s|\s$/;

/**
 * Formats rows as CSV (RFC 4180). Text that a spreadsheet would run as a formula gets a leading
 * apostrophe; numbers stay numbers.
 */
export function csvOf(rows: readonly JsonObject[], columns: readonly string[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => cellOf(row, column)))];
  return lines.map((cells) => `${cells.map(field).join(",")}\r\n`).join("");
}

function field(value: Json | undefined): string {
  const text = cellText(value);
  const plain = typeof value === "boolean" || numberOf(value) !== undefined;
  const safe = !plain && FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
