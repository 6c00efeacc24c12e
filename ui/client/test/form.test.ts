import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftOf,
  editedOf,
  fieldsOf,
  isPicked,
  keyOfPath,
  type JsonObject,
  pick,
  problemsOf,
  formValueOf,
} from "../src/index.js";

const TRIP: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", title: "Who", description: "As in the passport" },
    seats: { type: "integer", default: 1 },
    travelClass: { enum: ["first", "second"] },
    window: { type: "boolean" },
    address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["name", "address"],
};

test("a schema becomes fields, those inside objects too", () => {
  assert.deepEqual(
    fieldsOf(TRIP).map(({ path, label, kind, required }) => [
      path.join("."),
      label,
      kind,
      required,
    ]),
    [
      ["name", "Who", "text", true],
      ["seats", "Seats", "integer", false],
      ["travelClass", "Travel class", "choice", false],
      ["window", "Window", "boolean", false],
      ["address.city", "Address: City", "text", true],
      ["tags", "Tags", "list", false],
    ],
  );
});

test("what is filled in becomes the answer, and what is empty is left out", () => {
  const draft = { ...draftOf(TRIP, undefined), name: "Ada", "address/city": "Bern" };
  assert.deepEqual(problemsOf(TRIP, draft), []);
  assert.deepEqual(formValueOf(TRIP, draft), { name: "Ada", seats: 1, address: { city: "Bern" } });
});

test("a value becomes a draft and the same value again", () => {
  const value = {
    name: "Ada",
    seats: 3,
    travelClass: "second",
    window: false,
    address: { city: "Oslo" },
    tags: ["a", "b"],
  };
  assert.deepEqual(formValueOf(TRIP, draftOf(TRIP, value)), value);
});

test("what does not fit is said, field by field", () => {
  const more = { more: { type: "array", items: { type: "object" } } };
  const withMore = { ...TRIP, properties: { ...(TRIP["properties"] as JsonObject), ...more } };
  const draft = { seats: "1.5", more: "[", "address/city": " " };
  assert.deepEqual(
    problemsOf(withMore, draft).map(({ path, message }) => [path.join("."), message]),
    [
      ["name", "This field is required."],
      ["seats", "This must be a whole number."],
      ["address.city", "This field is required."],
      ["more", "This must be JSON."],
    ],
  );
});

test("an answer need not be an object, and a hostile name is only a name", () => {
  assert.equal(formValueOf({ type: "number" }, { "": "2.5" }), 2.5);
  assert.deepEqual(formValueOf({}, { "": '{"a":1}' }), { a: 1 });
  const hostile = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  ) as JsonObject;
  const draft = Object.fromEntries([["__proto__", "x"]]);
  const made = formValueOf(hostile, draft) as object;
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
});

test("a field may be called what all objects have", () => {
  const properties = { constructor: { type: "string" }, toString: { type: "number" } };
  const schema: JsonObject = { type: "object", properties };
  const draft = draftOf(schema, undefined);
  assert.deepEqual(problemsOf(schema, draft), []);
  assert.deepEqual(formValueOf(schema, draft), {});
  assert.deepEqual(formValueOf(schema, { ...draft, toString: "3" }), { toString: 3 });
});

test("what a form does not touch stays as it was, whatever it is", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string" },
      note: { type: "string" },
      mode: { enum: ["a", "b"] },
      options: { type: "object", properties: { deep: { type: "number" } } },
    },
  };
  const options = { deep: 1, other: 2 };
  const value = { path: "a.txt", note: null, mode: "c", options, extra: [1] };
  const draft = draftOf(schema, value);
  assert.deepEqual(editedOf(schema, value, draft), value);
  assert.deepEqual(editedOf(schema, value, { ...draft, path: "b.txt", "options/deep": "" }), {
    ...value,
    path: "b.txt",
    options: { other: 2 },
  });
  assert.equal(value.path, "a.txt");
});

test("limits of numbers, texts and lists are said where they are not kept", () => {
  const cases: readonly [JsonObject, string, string | undefined][] = [
    [{ type: "number", minimum: 1 }, "0.5", "This must be at least 1."],
    [{ type: "number", maximum: 9 }, "10", "This must be at most 9."],
    [{ type: "number", exclusiveMinimum: 0 }, "0", "This must be more than 0."],
    [{ type: "number", exclusiveMaximum: 1 }, "1", "This must be less than 1."],
    [{ type: "number", multipleOf: 0.1 }, "0.25", "This must be a multiple of 0.1."],
    [{ type: "number", multipleOf: 0.1, minimum: 0.3, maximum: 0.3 }, "0.3", undefined],
    [{ type: "integer", minimum: 1 }, "1e400", "This must be a whole number."],
    [{ type: "string", minLength: 3 }, "ab", "This must have at least 3 characters."],
    [{ type: "string", maxLength: 1 }, "😀", undefined],
    [{ type: "string", maxLength: 1 }, "ab", "This must have at most 1 characters."],
    [
      { type: "array", items: { type: "string" }, minItems: 2 },
      "a",
      "At least 2 items are required.",
    ],
    [
      { type: "array", items: { enum: ["a", "b"] }, maxItems: 1 },
      "0 1",
      "At most 1 items are allowed.",
    ],
    [{ type: "array", items: { type: "integer" } }, "1\n2.5", "Number 2 must be a whole number."],
    [{ type: "array", items: { type: "number", maximum: 1 } }, "2", "Number 1 must be at most 1."],
    [{ type: "integer", minimum: 5 }, " ", "This field is required."],
    [{ type: "string", format: "email" }, "ann", "This must be an email address."],
    [{ type: "string", format: "email" }, "ann@example.com", undefined],
    [{ type: "string", format: "uri" }, "https://example.com/a?b", undefined],
    [{ type: "string", format: "date" }, "2026-02-30", "This must be a date, such as 2026-01-31."],
    [{ type: "string", format: "date" }, "2026-02-28", undefined],
    [{ type: "string", format: "date-time" }, "2026-01-31T12:00:00+02:00", undefined],
    [{ type: "string", format: "of our own" }, "anything", undefined],
    // Patterns are not evaluated: this one would run forever.
    [{ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50)}!`, undefined],
  ];
  for (const [schema, given, message] of cases) {
    const [found] = problemsOf(schema, { "": given });
    assert.equal(found?.message, message, `${JSON.stringify(schema)} ${given}`);
  }
  for (const [format, given] of [
    ["uri", "example.com"],
    ["date-time", "2026-01-31"],
    ["date-time", "2026-02-30T12:00:00Z"],
  ]) {
    const [found] = problemsOf({ type: "string", format: format ?? "" }, { "": given ?? "" });
    assert.match(found?.message ?? "", /^This must be a .*such as/, `${format} ${given}`);
  }
});

test("lists are written line by line, or as JSON where lines cannot say it", () => {
  const words: JsonObject = { type: "array", items: { type: "string" } };
  assert.deepEqual(formValueOf(words, { "": " one \n\ntwo" }), ["one", "two"]);
  for (const value of [["a", "b"], ["two\nlines"], [" space"], ["[1]"], ['["a"]']]) {
    assert.deepEqual(formValueOf(words, draftOf(words, value)), value);
  }
  const numbers: JsonObject = { type: "array", items: { type: "number" } };
  assert.deepEqual(formValueOf(numbers, draftOf(numbers, [1, 2.5])), [1, 2.5]);
  const colours: JsonObject = { type: "array", items: { enum: ["red", "green", "blue"] } };
  assert.equal(fieldsOf(colours)[0]?.kind, "several");
  const picked = pick(pick(draftOf(colours, ["blue"])[""] ?? "", 0, true), 1, true);
  assert.equal(isPicked(picked, 1), true);
  assert.deepEqual(formValueOf(colours, { "": pick(picked, 1, false) }), ["red", "blue"]);
});

test("a text that is needed may be empty where that is as good as any other", () => {
  const edit: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1 },
      text: { type: "string", maxLength: 10_000 },
      count: { type: "integer" },
    },
    required: ["path", "text", "count"],
  };
  const names = (draft: Record<string, string>, emptyTexts: boolean) =>
    problemsOf(edit, draft, { emptyTexts }).map(({ path }) => path.join("."));
  assert.deepEqual(names({ path: "", text: "", count: "" }, false), ["path", "text", "count"]);
  assert.deepEqual(names({ path: "", text: "", count: "" }, true), ["path", "count"]);
  assert.deepEqual(formValueOf(edit, { path: "a", text: "", count: "1" }), {
    path: "a",
    text: "",
    count: 1,
  });
});

test("what is blank and not needed is left out, and is no zero", () => {
  const properties = { n: { type: "number" }, i: { type: "integer" }, t: { type: "string" } };
  const schema: JsonObject = { type: "object", properties };
  const blank = { [keyOfPath(["n"])]: " ", [keyOfPath(["i"])]: "\t", [keyOfPath(["t"])]: " " };
  assert.deepEqual(formValueOf(schema, blank), { t: " " });
  assert.deepEqual(editedOf(schema, { n: 7, i: 3 }, blank), { t: " " });
});
