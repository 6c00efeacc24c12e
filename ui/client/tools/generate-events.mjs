// Writes src/events.ts from the JSON Schema of the events: node tools/generate-events.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = "../../../protocol/src/main/resources/dev/parley/protocol/events.schema.json";
const TARGET = "../src/events.ts";

/** The text of src/events.ts, for the schema as it is now. */
export function generate() {
  const schema = JSON.parse(readFileSync(new URL(SCHEMA, import.meta.url), "utf8"));
  const kinds = Object.keys(schema.$defs);
  const shared = sharedFields(Object.values(schema.$defs));
  const parts = [
    "// Written by tools/generate-events.mjs from events.schema.json; a test compares them.\n",
    "/** Whatever JSON can say. */",
    "export type Json = null | boolean | number | string | Json[] | JsonObject;\n",
    "/** A JSON object. */",
    "export interface JsonObject {\n  [name: string]: Json;\n}\n",
    "/** What every event has, whatever happened. */",
    `export interface Envelope {\n${fields(schema.$defs[kinds[0]], shared)}}\n`,
  ];
  for (const kind of kinds) {
    const definition = schema.$defs[kind];
    const own = Object.keys(definition.properties).filter((name) => !shared.includes(name));
    const rest = own.filter((name) => name !== "kind");
    parts.push(
      `export interface ${typeName(kind)} extends Envelope {\n  kind: ${JSON.stringify(kind)};\n` +
        `${fields(definition, rest)}}\n`,
    );
  }
  parts.push(
    "/** A fact about a context. */",
    `export type ParleyEvent =\n${kinds.map((kind) => `  | ${typeName(kind)}`).join("\n")};\n`,
    "/** The kinds of events that this version knows. */",
    `export const KINDS = [\n${rows(kinds)}] as const;\n`,
    "export type Kind = (typeof KINDS)[number];",
  );
  return `${parts.join("\n")}\n`;
}

function rows(kinds) {
  const quoted = kinds.map((kind) => `${JSON.stringify(kind)},`);
  const starts = quoted.map((_, i) => i).filter((i) => i % 4 === 0);
  return starts.map((i) => `  ${quoted.slice(i, i + 4).join(" ")}\n`).join("");
}

/** Fields that all kinds have, and that mean the same in all of them. */
function sharedFields(definitions) {
  const first = definitions[0].properties;
  return Object.keys(first).filter(
    (name) =>
      name !== "kind" &&
      definitions.every((definition) => same(definition.properties[name], first[name])),
  );
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function fields(definition, names) {
  return names
    .map((name) => {
      const optional = definition.required?.includes(name) ? "" : "?";
      return `  ${name}${optional}: ${type(definition.properties[name])};\n`;
    })
    .join("");
}

function type(schema) {
  if (schema.enum) {
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  }
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return `${element(type(schema.items))}[]`;
    case "object":
      return schema.properties ? objectType(schema) : "JsonObject";
    case undefined:
      return "Json";
    default:
      throw new Error(`the schema has a type that is not known here: ${schema.type}`);
  }
}

function element(text) {
  return /^\w+$/.test(text) ? text : `(${text})`;
}

function objectType(schema) {
  const inside = Object.keys(schema.properties).map((name) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${name}${optional}: ${type(schema.properties[name])}`;
  });
  return `{ ${inside.join("; ")} }`;
}

/** `internal:llm-call` is `InternalLlmCall`; `message` is `MessageFact`, since browsers have a
 * `MessageEvent` of their own. */
function typeName(kind) {
  const name = kind
    .split(/[^a-z]/)
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join("");
  return /[a-z][A-Z]/.test(name) ? name : `${name}Fact`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL(TARGET, import.meta.url), generate());
}
