import type { Json, JsonObject } from "./events.js";

/** A field of a form, made from a JSON Schema. */
export interface FieldSpec {
  /** Where its value stands: names from the outside in; none, if it is all of the answer. */
  readonly path: readonly string[];
  readonly label: string;
  readonly about: string | undefined;
  readonly required: boolean;
  readonly kind: "text" | "long-text" | "number" | "integer" | "boolean" | "choice" | "json";
  readonly options: readonly Json[];
  readonly format: string | undefined;
}

/** What was typed so far, by the path of each field. */
export type FormDraft = Readonly<Record<string, string>>;

/** What is wrong with a field. */
export interface FieldProblem {
  readonly path: readonly string[];
  readonly message: string;
}

const DEPTH_MAX = 3;
const LONG = 200;

export function keyOfPath(path: readonly string[]): string {
  return path.map(encodeURIComponent).join("/");
}

/** The fields that a schema asks for. What no field can hold is asked for as JSON. */
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
    return Object.entries(properties).flatMap(([name, of]) =>
      fields(
        isObject(of) ? of : {},
        [...path, name],
        text(isObject(of) ? of["title"] : undefined) ?? words(name),
        required && needed.includes(name),
        depth + 1,
      ),
    );
  }
  return [
    {
      path,
      label: text(schema["title"]) ?? label,
      about: text(schema["description"]),
      required,
      kind: Array.isArray(options) ? "choice" : kindOf(schema),
      options: Array.isArray(options) ? options : [],
      format: text(schema["format"]),
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

function kindOf(schema: JsonObject): FieldSpec["kind"] {
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
    default:
      return "json";
  }
}

function typeOf(schema: JsonObject): string | undefined {
  const type = schema["type"];
  const first = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof first === "string" ? first : isObject(schema["properties"]) ? "object" : undefined;
}

/** What a form holds at first: the value, or what the schema has as usual. */
export function draftOf(schema: JsonObject, value: Json | undefined): FormDraft {
  const draft: Record<string, string> = {};
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
  return typeof value === "string" && field.kind !== "json"
    ? value
    : field.kind === "json"
      ? JSON.stringify(value, null, 2)
      : String(value);
}

/** What keeps a form from being sent, field by field. The server checks all of it again. */
export function problemsOf(schema: JsonObject, draft: FormDraft): FieldProblem[] {
  return fieldsOf(schema).flatMap((field) => {
    const message = problem(field, draft[keyOfPath(field.path)] ?? "");
    return message === undefined ? [] : [{ path: field.path, message }];
  });
}

function problem(field: FieldSpec, given: string): string | undefined {
  const empty = field.kind === "choice" ? given === "" || given === "-1" : given.trim() === "";
  if (empty) {
    return field.required ? "This is needed." : undefined;
  }
  switch (field.kind) {
    case "number":
      return Number.isFinite(Number(given)) ? undefined : "This is to be a number.";
    case "integer":
      return Number.isSafeInteger(Number(given)) ? undefined : "This is to be a whole number.";
    case "json":
      return parses(given) ? undefined : "This is to be JSON.";
    default:
      return undefined;
  }
}

/** The answer that a form makes. What is empty and not needed is left out. */
export function valueOf(schema: JsonObject, draft: FormDraft): Json {
  const all = fieldsOf(schema);
  const [only] = all;
  if (only !== undefined && only.path.length === 0) {
    return read(only, draft[""] ?? "") ?? null;
  }
  const value: JsonObject = {};
  for (const field of all) {
    const one = read(field, draft[keyOfPath(field.path)] ?? "");
    if (one !== undefined) {
      put(value, field.path, one);
    }
  }
  return value;
}

function read(field: FieldSpec, given: string): Json | undefined {
  if (given === "" && !(field.required && field.kind === "text")) {
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
    case "json":
      return parses(given) ? (JSON.parse(given) as Json) : undefined;
    default:
      return given;
  }
}

function put(object: JsonObject, path: readonly string[], value: Json): void {
  const [name, ...rest] = path;
  if (name === undefined) {
    return;
  }
  if (rest.length === 0) {
    // Never by assignment: a field may be called __proto__.
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
