import type { Json, JsonObject } from "./events.js";

/** Formats a list with one item per line, or as JSON if an item does not fit on a line. */
export function linesOf(schema: JsonObject, value: Json): string {
  if (!Array.isArray(value)) {
    return JSON.stringify(value, null, 2);
  }
  const lines = value.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const text = lines.join("\n");
  const same = JSON.stringify(listOf(schema, text)) === JSON.stringify(value);
  return same ? text : JSON.stringify(value, null, 2);
}

/** Parses lines into a list. Invalid numbers stay strings. */
export function listOf(schema: JsonObject, text: string): Json[] {
  const numbers = ["number", "integer"].includes(itemType(schema) ?? "");
  return (
    asJson(text, numbers) ??
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .map((line) => (numbers && Number.isFinite(Number(line)) ? Number(line) : line))
  );
}

/** The type of the list's items, if there is only one. */
export function itemType(schema: JsonObject): string | undefined {
  const { type } = schema["items"] as { type?: Json };
  const first = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof first === "string" ? first : undefined;
}

function asJson(text: string, numbers: boolean): Json[] | undefined {
  try {
    const value = JSON.parse(text) as Json;
    const wanted = numbers ? "number" : "string";
    const fits = Array.isArray(value) && value.every((one) => typeof one === wanted);
    return fits ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The indexes of the selected options. */
export function picks(options: readonly Json[], value: Json): string {
  const wanted = new Set((Array.isArray(value) ? value : []).map((one) => JSON.stringify(one)));
  return options.flatMap((one, i) => (wanted.has(JSON.stringify(one)) ? [i] : [])).join(" ");
}

/** Adds or removes one option. */
export function pick(picked: string, option: number, wanted: boolean): string {
  const others = numbersOf(picked).filter((one) => one !== option);
  return [...others, ...(wanted ? [option] : [])].sort((a, b) => a - b).join(" ");
}

/** True if an option is selected. */
export function isPicked(picked: string, option: number): boolean {
  return numbersOf(picked).includes(option);
}

export function pickedOf(options: readonly Json[], picked: string): Json[] {
  return numbersOf(picked).flatMap((i) => options[i] ?? []);
}

function numbersOf(picked: string): number[] {
  return picked.split(" ").filter(Boolean).map(Number);
}
