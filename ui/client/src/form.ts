import type { Json, JsonObject } from "./events.js";
import { validate } from "./form-check.js";
import { linesOf, listOf, pickedOf, picks } from "./form-list.js";

/** A field of a form, made from a JSON Schema. */
export interface FieldSpec {
  /** The path of its value, outermost name first; empty if the field is the whole answer. */
  readonly path: readonly string[];
  readonly label: string;
  readonly about: string | undefined;
  readonly required: boolean;
  /** A `list` has one item per line; `several` allows multiple options. */
  readonly kind: FieldKind;
  readonly options: readonly Json[];
  readonly format: string | undefined;
  /** The schema of its value. */
  readonly schema: JsonObject;
}

export type FieldKind =
  | "text"
  | "long-text"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "several"
  | "list"
  | "json";

/** The text entered so far, by field path. */
export type FormDraft = Readonly<Record<string, string>>;

/** A validation error of a field. */
export interface FieldProblem {
  readonly path: readonly string[];
  readonly message: string;
}

const DEPTH_MAX = 3;
const LONG = 200;

export function keyOfPath(path: readonly string[]): string {
  return path.map(encodeURIComponent).join("/");
}

/** The fields of a schema. A value that no field can hold becomes a JSON field. */
export function fieldsOf(schema: JsonObject): FieldSpec[] {
  return fields(schema, [], "Answer", true, 0);
}

function fields(
  schema: JsonObject,
  path: readonly string[],
  label: string,
  required: boolean,
  depth: number,
): FieldSpec[] {
  const properties = schema["properties"];
  const options = schema["enum"] ?? oneOf(schema);
  if (typeOf(schema) === "object" && isObject(properties) && depth < DEPTH_MAX) {
    const needed = Array.isArray(schema["required"]) ? schema["required"] : [];
    return Object.entries(properties).flatMap(([name, of]) => {
      const own = text(isObject(of) ? of["title"] : undefined) ?? words(name);
      return fields(
        isObject(of) ? of : {},
        [...path, name],
        // Fields of different objects may have the same name.
        path.length === 0 ? own : `${label}: ${own}`,
        required && needed.includes(name),
        depth + 1,
      );
    });
  }
  const items = typeOf(schema) === "array" && isObject(schema["items"]) ? schema["items"] : {};
  const picked = items["enum"] ?? oneOf(items);
  const kind = Array.isArray(options)
    ? "choice"
    : Array.isArray(picked)
      ? "several"
      : kindOf(schema, items);
  return [
    {
      path,
      label: path.length === 0 ? (text(schema["title"]) ?? label) : label,
      about: text(schema["description"]),
      required,
      kind,
      options: [options, picked].find((one) => Array.isArray(one)) ?? [],
      format: text(schema["format"]),
      schema,
    },
  ];
}

function oneOf(schema: JsonObject): Json[] | undefined {
  const several = schema["oneOf"] ?? schema["anyOf"];
  const all = Array.isArray(several) ? several : [];
  const constants = all.flatMap((one) =>
    isObject(one) && one["const"] !== undefined ? [one["const"]] : [],
  );
  return constants.length > 0 && constants.length === all.length ? constants : undefined;
}

function kindOf(schema: JsonObject, items: JsonObject): FieldKind {
  switch (typeOf(schema)) {
    case "string":
      return Number(schema["maxLength"]) > LONG || schema["format"] === "textarea"
        ? "long-text"
        : "text";
    case "number":
      return "number";
    case "integer":
      return "integer";
    case "boolean":
      return "boolean";
    case "array":
      return ["string", "number", "integer"].includes(typeOf(items) ?? "") ? "list" : "json";
    default:
      return "json";
  }
}

function typeOf(schema: JsonObject): string | undefined {
  const type = schema["type"];
  const first = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof first === "string" ? first : isObject(schema["properties"]) ? "object" : undefined;
}

/** The initial draft of a form: the value, or the schema's defaults. */
export function draftOf(schema: JsonObject, value: Json | undefined): FormDraft {
  // No prototype: a field may be called `constructor`.
  const draft = Object.create(null) as Record<string, string>;
  for (const field of fieldsOf(schema)) {
    const known = at(value, field.path) ?? at(schemaAt(schema, field.path), ["default"]);
    if (known !== undefined) {
      draft[keyOfPath(field.path)] = typed(field, known);
    } else if (field.kind === "boolean" && field.required) {
      draft[keyOfPath(field.path)] = "false";
    }
  }
  return draft;
}

function typed(field: FieldSpec, value: Json): string {
  if (field.kind === "choice") {
    return String(field.options.findIndex((one) => JSON.stringify(one) === JSON.stringify(value)));
  }
  if (field.kind === "several") {
    return picks(field.options, value);
  }
  if (field.kind === "list") {
    return linesOf(field.schema, value);
  }
  if (value === null && isText(field)) {
    return "";
  }
  return typeof value === "string" && field.kind !== "json"
    ? value
    : field.kind === "json"
      ? JSON.stringify(value, null, 2)
      : String(value);
}

/**
 * The validation errors of a form. The server validates the answer again. Required texts must not
 * be empty, unless `emptyTexts` is true.
 */
export function problemsOf(
  schema: JsonObject,
  draft: FormDraft,
  { emptyTexts = false }: { readonly emptyTexts?: boolean } = {},
): FieldProblem[] {
  return fieldsOf(schema).flatMap((field) => {
    const given = givenIn(draft, field.path);
    const empty = emptyTexts && isText(field) && given === "";
    const message = empty ? validate(field.kind, field.schema, given) : problem(field, given);
    return message === undefined ? [] : [{ path: field.path, message }];
  });
}

function problem(field: FieldSpec, given: string): string | undefined {
  const empty = field.kind === "choice" ? given === "" || given === "-1" : given.trim() === "";
  if (empty) {
    return field.required ? "This field is required." : undefined;
  }
  if (field.kind === "json" && !parses(given)) {
    return "This must be JSON.";
  }
  const value = read(field, given);
  return value === undefined ? undefined : validate(field.kind, field.schema, value);
}

function isText({ kind }: FieldSpec): boolean {
  return kind === "text" || kind === "long-text";
}

/** The answer of a form. Empty optional fields are left out. */
export function formValueOf(schema: JsonObject, draft: FormDraft): Json {
  const all = fieldsOf(schema);
  const [only] = all;
  if (only !== undefined && only.path.length === 0) {
    return read(only, givenIn(draft, [])) ?? null;
  }
  const value: JsonObject = {};
  for (const field of all) {
    const one = read(field, givenIn(draft, field.path));
    if (one !== undefined) {
      put(value, field.path, one);
    }
  }
  return value;
}

/** A value with the changes of a form; untouched parts stay as they are. */
export function editedOf(schema: JsonObject, value: JsonObject, draft: FormDraft): JsonObject {
  const before = draftOf(schema, value);
  const edited = structuredClone(value);
  for (const field of fieldsOf(schema)) {
    const given = givenIn(draft, field.path);
    if (given !== givenIn(before, field.path)) {
      put(edited, field.path, read(field, given));
    }
  }
  return edited;
}

/** The draft of a field. Ignores inherited properties. */
export function givenIn(draft: FormDraft, path: readonly string[]): string {
  const key = keyOfPath(path);
  return Object.hasOwn(draft, key) ? (draft[key] ?? "") : "";
}

function read(field: FieldSpec, given: string): Json | undefined {
  const blank = isText(field) ? given === "" : given.trim() === "";
  if (blank && !(field.required && isText(field))) {
    return undefined;
  }
  switch (field.kind) {
    case "number":
    case "integer":
      return Number(given);
    case "boolean":
      return given === "true";
    case "choice":
      return field.options[Number(given)];
    case "several":
      return pickedOf(field.options, given);
    case "list":
      return listOf(field.schema, given);
    case "json":
      return parses(given) ? (JSON.parse(given) as Json) : undefined;
    default:
      return given;
  }
}

/** Sets a value at a path, or removes it. */
function put(object: JsonObject, path: readonly string[], value: Json | undefined): void {
  const [name, ...rest] = path;
  if (name === undefined) {
    return;
  }
  if (rest.length === 0 && value === undefined) {
    delete object[name];
    return;
  }
  if (rest.length === 0) {
    // Not an assignment: a field may be called `__proto__`.
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    return;
  }
  const known = Object.hasOwn(object, name) ? object[name] : undefined;
  const inner: JsonObject = isObject(known) ? known : {};
  put(inner, rest, value);
  put(object, [name], inner);
}

function at(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );
}

function schemaAt(schema: JsonObject, path: readonly string[]): Json | undefined {
  return at(
    schema,
    path.flatMap((name) => ["properties", name]),
  );
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function words(name: string): string {
  const spaced = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
