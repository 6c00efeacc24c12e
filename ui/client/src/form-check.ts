import type { Json, JsonObject } from "./events.js";
import type { FieldKind } from "./form.js";
import { itemType } from "./form-list.js";

/**
 * Why a value does not fit what is asked of it, for people. Patterns are left to the server: they
 * come from whoever asks, and one can be made that takes for ever.
 */
export function misfit(kind: FieldKind, schema: JsonObject, value: Json): string | undefined {
  if (kind === "number" || kind === "integer") {
    return badNumber(schema, value, kind === "integer", "This");
  }
  if (typeof value === "string") {
    return badText(schema, value);
  }
  return Array.isArray(value) ? badList(kind, schema, value) : undefined;
}

function badNumber(
  schema: JsonObject,
  value: Json,
  whole: boolean,
  what: string,
): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return `${what} is to be a ${whole ? "whole " : ""}number.`;
  }
  if (whole && !Number.isSafeInteger(value)) {
    return `${what} is to be a whole number.`;
  }
  const [min, max] = [limit(schema["minimum"]), limit(schema["maximum"])];
  const [above, below] = [limit(schema["exclusiveMinimum"]), limit(schema["exclusiveMaximum"])];
  const step = limit(schema["multipleOf"]);
  if (min !== undefined && value < min) {
    return `${what} is to be at least ${min}.`;
  }
  if (max !== undefined && value > max) {
    return `${what} is to be at most ${max}.`;
  }
  if (above !== undefined && value <= above) {
    return `${what} is to be more than ${above}.`;
  }
  if (below !== undefined && value >= below) {
    return `${what} is to be less than ${below}.`;
  }
  const steps = step === undefined || step <= 0 ? 0 : value / step;
  return Math.abs(steps - Math.round(steps)) > 1e-9
    ? `${what} is to be a multiple of ${step}.`
    : undefined;
}

/** The formats that people are asked for, by what is meant. Others are left to the server. */
const FORMATS: Readonly<Record<string, readonly [string, (value: string) => boolean]>> = {
  email: ["an email address", (value) => /^[^\s@]+@[^\s@]+$/.test(value)],
  uri: ["a whole address, such as https://example.com", (value) => URL.canParse(value)],
  date: ["a date, such as 2026-01-31", isDate],
  "date-time": ["a date and a time, such as 2026-01-31T12:00:00Z", isDateTime],
};

function isDate(value: string): boolean {
  const there = /^\d{4}-\d\d-\d\d$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
  // The 30th of February would be one in March.
  return there !== undefined && !isNaN(+there) && there.toISOString().startsWith(value);
}

function isDateTime(value: string): boolean {
  return isDate(value.slice(0, 10)) && /^.{10}[Tt ]\d/.test(value) && !isNaN(+new Date(value));
}

function badText(schema: JsonObject, value: string): string | undefined {
  const [min, max] = [limit(schema["minLength"]), limit(schema["maxLength"])];
  const { length } = [...value];
  if (min !== undefined && length < min) {
    return `This is to have at least ${min} characters.`;
  }
  if (max !== undefined && length > max) {
    return `This is to have at most ${max} characters.`;
  }
  const format = schema["format"];
  const known = typeof format === "string" && Object.hasOwn(FORMATS, format) && FORMATS[format];
  return known && !known[1](value) ? `This is to be ${known[0]}.` : undefined;
}

function badList(kind: FieldKind, schema: JsonObject, value: readonly Json[]): string | undefined {
  const [min, max] = [limit(schema["minItems"]), limit(schema["maxItems"])];
  if (min !== undefined && value.length < min) {
    return `There are to be at least ${min}.`;
  }
  if (max !== undefined && value.length > max) {
    return `There are to be at most ${max}.`;
  }
  const type = kind === "list" ? itemType(schema) : undefined;
  if (type !== "number" && type !== "integer") {
    return undefined;
  }
  const items = schema["items"] as JsonObject;
  return value
    .map((one, i) => badNumber(items, one, type === "integer", `Number ${i + 1}`))
    .find((one) => one !== undefined);
}

function limit(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
