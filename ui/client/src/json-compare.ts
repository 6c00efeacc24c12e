import type { Json } from "./events.js";

/** A value in a JSON tree, compared with an earlier version. */
export interface JsonNode {
  /** The name or index in the parent; empty at the root. */
  readonly name: string;
  /** The path, which is the same in every version. */
  readonly path: string;
  readonly change: "same" | "added" | "removed" | "changed";
  readonly value: Json | undefined;
  readonly before: Json | undefined;
  /** The number of differences in this subtree. */
  readonly differences: number;
  readonly children: readonly JsonNode[];
}

const DEPTH_MAX = 200;

/** Converts a value to a tree. */
export function jsonTree(value: Json): JsonNode {
  return node("", "", value, value, 0);
}

/** Compares two values as one tree. */
export function compareJson(before: Json, after: Json): JsonNode {
  return node("", "", before, after, 0);
}

function node(
  name: string,
  path: string,
  before: Json | undefined,
  value: Json | undefined,
  depth: number,
): JsonNode {
  const children = depth >= DEPTH_MAX ? [] : below(path, before, value, depth);
  const change =
    before === undefined
      ? "added"
      : value === undefined
        ? "removed"
        : same(before, value, depth)
          ? "same"
          : "changed";
  const inside = children.reduce((sum, child) => sum + child.differences, 0);
  const differences = change === "changed" && inside > 0 ? inside : Number(change !== "same");
  return { name, path, change, value, before, differences, children };
}

function below(
  path: string,
  before: Json | undefined,
  value: Json | undefined,
  depth: number,
): JsonNode[] {
  const [old, now] = [partsOf(before), partsOf(value)];
  // If the type changed, only the new value is shown.
  const comparable = old === undefined || now === undefined || old.list === now.list;
  const names = new Set([
    ...(now?.parts.keys() ?? []),
    ...(comparable || now === undefined ? (old?.parts.keys() ?? []) : []),
  ]);
  return [...names].map((name) => {
    const was = now === undefined || comparable ? old?.parts.get(name) : undefined;
    return node(name, `${path}/${escapePointer(name)}`, was, now?.parts.get(name), depth + 1);
  });
}

function partsOf(value: Json | undefined): { list: boolean; parts: Map<string, Json> } | undefined {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  return { list: Array.isArray(value), parts: new Map(Object.entries(value)) };
}

function same(a: Json, b: Json, depth: number): boolean {
  return a === b || (typeof a === "object" && stable(a, depth) === stable(b, depth));
}

/** JSON with sorted names: their order has no meaning. */
function stable(value: Json, depth: number): string {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) {
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map((one) => stable(one, depth + 1)).join(",")}]`;
  }
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([k, v]) => `${JSON.stringify(k)}:${stable(v, depth + 1)}`).join(",")}}`;
}

/** Escapes a name as in a JSON pointer. */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
