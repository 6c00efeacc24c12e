import type { Json, JsonObject } from "./events.js";

/** A column of a dataset; its type is `number` if all its values are numeric. */
export interface Column {
  readonly name: string;
  readonly type: "number" | "text";
}

/** The sort order of rows. */
export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

/** Selects rows that contain the text or match a comparison such as `>10`. */
export interface RowFilter {
  /** The column to search; any column if undefined. */
  readonly column?: string | undefined;
  readonly text: string;
}

/** A point of a chart. */
export interface Point {
  readonly label: string;
  readonly value: number;
  /** The number of rows it combines. */
  readonly rows: number;
}

/** The data of a chart. */
export interface Chart {
  readonly points: readonly Point[];
  readonly min: number;
  readonly max: number;
  /** The number of groups that are not shown. */
  readonly others: number;
}

export const COLUMNS_MAX = 100;
export const POINTS_MAX = 40;
const ORDER = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The first columns, up to the display limit. */
export function columnsOf(rows: readonly JsonObject[], schema?: Json): readonly Column[] {
  return namesOf(rows, schema)
    .slice(0, COLUMNS_MAX)
    .map((name) => ({ name, type: typeOf(rows, name) }));
}

/** All column names: first those of the schema, then those of the rows, in order of appearance. */
export function namesOf(rows: readonly JsonObject[], schema?: Json): readonly string[] {
  const names = new Set<string>(schemaNames(schema));
  for (const row of rows) {
    for (const name of Object.keys(row)) {
      names.add(name);
    }
  }
  return [...names];
}

function schemaNames(schema: Json | undefined): string[] {
  if (typeof schema !== "object" || schema === null) {
    return [];
  }
  if (Array.isArray(schema)) {
    return schema.flatMap((one) => {
      const name = typeof one === "object" && !Array.isArray(one) ? one?.["name"] : one;
      return typeof name === "string" ? [name] : [];
    });
  }
  const { properties, columns } = schema;
  if (typeof properties === "object" && properties !== null && !Array.isArray(properties)) {
    return Object.keys(properties);
  }
  return columns === undefined ? [] : schemaNames(columns);
}

function typeOf(rows: readonly JsonObject[], name: string): Column["type"] {
  let found = false;
  for (const row of rows) {
    const value = cellOf(row, name);
    if (value !== undefined && value !== null && value !== "") {
      if (numberOf(value) === undefined) {
        return "text";
      }
      found = true;
    }
  }
  return found ? "number" : "text";
}

/** The value as a number, including numeric strings; undefined if it is not numeric. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === "number") {
    return value;
  }
  if (typeof value !== "string" || !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) {
    return undefined;
  }
  return Number(value);
}

/** The value of a column. Ignores inherited properties. */
export function cellOf(row: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

/** The text of a cell. */
export function cellText(value: Json | undefined): string {
  if (value === undefined || value === null) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The filtered and sorted rows. Does not modify the input. */
export function rowsFor(
  rows: readonly JsonObject[],
  columns: readonly Column[],
  filter: RowFilter,
  order: Order | undefined,
): readonly JsonObject[] {
  const wanted = matching(rows, columns, filter);
  const column = columns.find((one) => one.name === order?.column);
  if (order === undefined || column === undefined) {
    return wanted;
  }
  const sign = order.descending ? -1 : 1;
  return [...wanted].sort((a, b) => {
    const { name, type } = column;
    return compare(cellOf(a, name), cellOf(b, name), type, sign);
  });
}

function matching(
  rows: readonly JsonObject[],
  columns: readonly Column[],
  { column, text }: RowFilter,
): readonly JsonObject[] {
  const words = text.trim().toLowerCase();
  if (words === "") {
    return rows;
  }
  const names = column === undefined ? columns.map((one) => one.name) : [column];
  const compared = /^(>=|<=|>|<|=)\s*([+-]?[\d.]+(?:e[+-]?\d+)?)$/i.exec(words);
  const limit = numberOf(compared?.[2]);
  if (compared !== null && limit !== undefined) {
    const fits = comparison(compared[1] ?? "=", limit);
    return rows.filter((row) => names.some((name) => fits(numberOf(cellOf(row, name)))));
  }
  return rows.filter((row) =>
    names.some((name) => cellText(cellOf(row, name)).toLowerCase().includes(words)),
  );
}

function comparison(sign: string, limit: number): (value: number | undefined) => boolean {
  return (value) => {
    if (value === undefined) {
      return false;
    }
    switch (sign) {
      case ">":
        return value > limit;
      case "<":
        return value < limit;
      case ">=":
        return value >= limit;
      case "<=":
        return value <= limit;
      default:
        return value === limit;
    }
  };
}

/** Empty cells come last in both directions. */
function compare(
  a: Json | undefined,
  b: Json | undefined,
  type: Column["type"],
  sign: number,
): number {
  const [left, right] = [cellText(a), cellText(b)];
  if (left === "" || right === "") {
    return Number(left === "") - Number(right === "");
  }
  return type === "number"
    ? sign * ((numberOf(a) ?? 0) - (numberOf(b) ?? 0))
    : sign * ORDER.compare(left, right);
}

/**
 * Sums `value` for each text in `label`, in order of appearance. Without a label, each row is a
 * point; many rows are summed in ranges.
 */
export function chartOf(
  rows: readonly JsonObject[],
  label: string | undefined,
  value: string,
): Chart {
  const groups = new Map<string, { sum: number; rows: number }>();
  const range = Math.ceil(rows.length / POINTS_MAX);
  rows.forEach((row, i) => {
    const key =
      label === undefined ? rangeName(i, range, rows.length) : cellText(cellOf(row, label));
    const group = groups.get(key) ?? { sum: 0, rows: 0 };
    group.sum += numberOf(cellOf(row, value)) ?? 0;
    group.rows += 1;
    groups.set(key, group);
  });
  const all = [...groups].map(([key, group]) => ({
    label: key === "" ? "(empty)" : key,
    value: Number(group.sum.toPrecision(15)),
    rows: group.rows,
  }));
  const points = all.slice(0, POINTS_MAX);
  const values = points.map((point) => point.value);
  return {
    points,
    min: Math.min(0, ...values),
    max: Math.max(0, ...values),
    others: all.length - points.length,
  };
}

function rangeName(index: number, size: number, count: number): string {
  const first = Math.floor(index / size) * size;
  const last = Math.min(count, first + size);
  return size === 1 ? `${first + 1}` : `${first + 1}–${last}`;
}
