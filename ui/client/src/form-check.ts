import type { Json, JsonObject } from "./events.js";
import type { FieldKind } from "./form.js";
import { itemType } from "./form-list.js";

/**
 * Validates a value and returns an error message. The server checks patterns: a hostile pattern
 * could run forever.
 */
export function validate(kind: FieldKind, schema: JsonObject, value: Json): string | undefined {
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
    return `${what} must be a ${whole ? "whole " : ""}number.`;
  }
  if (whole && !Number.isSafeInteger(value)) {
    return `${what} must be a whole number.`;
  }
  const [min, max] = [limit(schema["minimum"]), limit(schema["maximum"])];
  const [above, below] = [limit(schema["exclusiveMinimum"]), limit(schema["exclusiveMaximum"])];
  const step = limit(schema["multipleOf"]);
  if (min !== undefined && value < min) {
    return `${what} must be at least ${min}.`;
  }
  if (max !== undefined && value > max) {
    return `${what} must be at most ${max}.`;
  }
  if (above !== undefined && value <= above) {
    return `${what} must be more than ${above}.`;
  }
  if (below !== undefined && value >= below) {
    return `${what} must be less than ${below}.`;
  }
  const steps = step === undefined || step <= 0 ? 0 : value / step;
  return Math.abs(steps - Math.round(steps)) > 1e-9
    ? `${what} must be a multiple of ${step}.`
    : undefined;
}

/** The validated formats, each with its description. The server checks other formats. */
const FORMATS: Readonly<Record<string, readonly [string, (value: string) => boolean]>> = {
  email: ["an email address", (value) => /^[^\s@]+@[^\s@]+$/.test(value)],
  uri: ["a full address, such as https://example.com", (value) => URL.canParse(value)],
  date: ["a date, such as 2026-01-31", isDate],
  "date-time": ["a date and a time, such as 2026-01-31T12:00:00Z", isDateTime],
};

function isDate(value: string): boolean {
  const there = /^\d{4}-\d\d-\d\d$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
  // `Date` turns February 30 into a day in March.
  return (
    there !== undefined && !Number.isNaN(there.getTime()) && there.toISOString().startsWith(value)
  );
}

function isDateTime(value: string): boolean {
  return (
    isDate(value.slice(0, 10)) && /^.{10}[Tt ]\d/.test(value) && !Number.isNaN(Date.parse(value))
  );
}

function badText(schema: JsonObject, value: string): string | undefined {
  const [min, max] = [limit(schema["minLength"]), limit(schema["maxLength"])];
  const { length } = [...value];
  if (min !== undefined && length < min) {
    return `This must have at least ${min} characters.`;
  }
  if (max !== undefined && length > max) {
    return `This must have at most ${max} characters.`;
  }
  const format = schema["format"];
  const known = typeof format === "string" && Object.hasOwn(FORMATS, format) && FORMATS[format];
  return known && !known[1](value) ? `This must be ${known[0]}.` : undefined;
}

function badList(kind: FieldKind, schema: JsonObject, value: readonly Json[]): string | undefined {
  const [min, max] = [limit(schema["minItems"]), limit(schema["maxItems"])];
  if (min !== undefined && value.length < min) {
    return `At least ${min} items are required.`;
  }
  if (max !== undefined && value.length > max) {
    return `At most ${max} items are allowed.`;
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
