import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, fieldsOf, type JsonObject, problemsOf, valueOf } from "../src/index.js";

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
      ["address.city", "City", "text", true],
      ["tags", "Tags", "json", false],
    ],
  );
});

test("what is filled in becomes the answer, and what is empty is left out", () => {
  const draft = { ...draftOf(TRIP, undefined), name: "Ada", "address/city": "Bern" };
  assert.deepEqual(problemsOf(TRIP, draft), []);
  assert.deepEqual(valueOf(TRIP, draft), { name: "Ada", seats: 1, address: { city: "Bern" } });
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
  assert.deepEqual(valueOf(TRIP, draftOf(TRIP, value)), value);
});

test("what does not fit is said, field by field", () => {
  const draft = { seats: "1.5", tags: "[", "address/city": " " };
  assert.deepEqual(
    problemsOf(TRIP, draft).map(({ path, message }) => [path.join("."), message]),
    [
      ["name", "This is needed."],
      ["seats", "This is to be a whole number."],
      ["address.city", "This is needed."],
      ["tags", "This is to be JSON."],
    ],
  );
});

test("an answer need not be an object, and a hostile name is only a name", () => {
  assert.equal(valueOf({ type: "number" }, { "": "2.5" }), 2.5);
  assert.deepEqual(valueOf({}, { "": '{"a":1}' }), { a: 1 });
  const hostile = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  ) as JsonObject;
  const draft = Object.fromEntries([["__proto__", "x"]]);
  const made = valueOf(hostile, draft) as object;
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
});
