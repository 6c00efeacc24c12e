import { COLUMNS_MAX, namesOf } from "./dataset.js";
import type { Json, JsonObject } from "./events.js";

/** The content of a text file, or a part of it. */
export interface FileText {
  readonly path: string;
  readonly text: string;
  /** The number of the first line; undefined if it is unknown. */
  readonly firstLine: number | undefined;
  /** True if the file goes on. */
  readonly cut: boolean;
}

/** Fields that may accompany the content of a file. */
const FILE_FIELDS: readonly string[] = ["path", "content", "size", "nextOffset"];
const TABLE_ROWS_MIN = 2;

/**
 * The file that a tool has read, if its result is one: an object with `path` and `content`.
 * Undefined for all other results.
 */
export function fileTextOf(
  result: Json | undefined,
  args: JsonObject | undefined,
): FileText | undefined {
  if (!isObject(result) || Object.keys(result).some((name) => !FILE_FIELDS.includes(name))) {
    return undefined;
  }
  const { path, content, nextOffset } = result;
  if (typeof path !== "string" || typeof content !== "string") {
    return undefined;
  }
  const offset = args?.["offset"] ?? 0;
  const firstLine = offset === 0 ? 1 : undefined;
  return { path, text: content, firstLine, cut: nextOffset !== undefined };
}

/**
 * The rows of a table, if the result of a tool is one: a list of flat objects, or an object that
 * contains nothing but such a list. Undefined for all other results.
 */
export function tableRowsOf(result: Json | undefined): readonly JsonObject[] | undefined {
  const values = isObject(result) ? Object.values(result) : [];
  const list = Array.isArray(result) ? result : values.length === 1 ? values[0] : undefined;
  if (!Array.isArray(list) || list.length < TABLE_ROWS_MIN) {
    return undefined;
  }
  const rows = list.filter((row): row is JsonObject => isObject(row) && isFlat(row));
  const names = rows.length === list.length ? namesOf(rows).length : 0;
  return names > 0 && names <= COLUMNS_MAX ? rows : undefined;
}

function isFlat(row: JsonObject): boolean {
  return Object.values(row).every((value) => typeof value !== "object" || value === null);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
