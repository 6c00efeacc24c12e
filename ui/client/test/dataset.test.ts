import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chartOf,
  columnsOf,
  namesOf,
  csvOf,
  fileKind,
  fileName,
  imageType,
  type JsonObject,
  languageOf,
  POINTS_MAX,
  rowsFor,
} from "../src/index.js";

const ROWS: readonly JsonObject[] = [
  { name: "pear", price: 2, note: null },
  { name: "Apple", price: "10.5" },
  { name: "fig", price: -3, extra: { a: 1 } },
  { name: "kiwi" },
];
const COLUMNS = columnsOf(ROWS, { properties: { price: {}, name: {} } });

test("columns are those of the schema, then those of the rows, with their types", () => {
  assert.deepEqual(COLUMNS, [
    { name: "price", type: "number" },
    { name: "name", type: "text" },
    { name: "note", type: "text" },
    { name: "extra", type: "text" },
  ]);
  assert.deepEqual(
    columnsOf([], [{ name: "a" }, "b"]).map((one) => one.name),
    ["a", "b"],
  );
  assert.deepEqual(columnsOf([], "nothing"), []);
});

test("rows are sorted by number or by word, with what is missing last, either way", () => {
  const names = (column: string, descending: boolean) =>
    rowsFor(ROWS, COLUMNS, { text: "" }, { column, descending }).map((row) => row["name"]);
  assert.deepEqual(names("price", false), ["fig", "pear", "Apple", "kiwi"]);
  assert.deepEqual(names("price", true), ["Apple", "pear", "fig", "kiwi"]);
  assert.deepEqual(names("name", false), ["Apple", "fig", "kiwi", "pear"]);
  assert.equal(ROWS[0]?.["name"], "pear", "what was given is as it was");
});

test("rows are found by words, and by numbers that compare", () => {
  const found = (text: string, column?: string) =>
    rowsFor(ROWS, COLUMNS, { text, column }, undefined).map((row) => row["name"]);
  assert.deepEqual(found("P"), ["pear", "Apple"]);
  assert.deepEqual(found(">=2"), ["pear", "Apple"]);
  assert.deepEqual(found("< 0", "price"), ["fig"]);
  assert.deepEqual(found("=2"), ["pear"]);
  assert.deepEqual(found('"a":1', "extra"), ["fig"]);
  assert.deepEqual(found("pear", "price"), []);
});

test("a chart has sums by label, and a limit", () => {
  const rows = [
    { k: "a", v: 1 },
    { k: "b", v: -2.5 },
    { k: "a", v: "4" },
    { k: "", v: "no number" },
  ];
  const chart = chartOf(rows, "k", "v");
  assert.deepEqual(
    chart.points.map(({ label, value, rows: n }) => [label, value, n]),
    [
      ["a", 5, 2],
      ["b", -2.5, 1],
      ["(empty)", 0, 1],
    ],
  );
  assert.deepEqual([chart.min, chart.max, chart.others], [-2.5, 5, 0]);
  const many = Array.from({ length: 1_000 }, (_, i) => ({ k: `${i}`, v: 1 }));
  assert.equal(chartOf(many, "k", "v").others, 1_000 - POINTS_MAX);
  const stretches = chartOf(many, undefined, "v").points;
  assert.equal(stretches[0]?.label, "1–25");
  assert.equal(
    stretches.reduce((sum, point) => sum + point.value, 0),
    1_000,
  );
});

test("a column may be called what all objects have", () => {
  const rows: JsonObject[] = [{ constructor: "x", toString: 3 }, { city: "Bern" }];
  const columns = columnsOf(rows);
  assert.deepEqual(
    columns.map((one) => `${one.name} ${one.type}`),
    ["constructor text", "toString number", "city text"],
  );
  const order = { column: "constructor", descending: false };
  assert.deepEqual(rowsFor(rows, columns, { text: "" }, order), rows);
  assert.deepEqual(rowsFor(rows, columns, { text: "native" }, undefined), []);
  assert.equal(chartOf(rows, "constructor", "toString").points.length, 2);
  assert.equal(csvOf([{ city: "Bern" }], ["constructor", "city"]), "constructor,city\r\n,Bern\r\n");
});

test("CSV is quoted, and holds no formula that a spreadsheet would run", () => {
  const nasty = ["=1+1", "+1+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", '="a"&A1'];
  const csv = csvOf(
    nasty.map((cell) => ({ "=head": cell, n: -5, t: "-5", q: 'a "b", c\nd' })),
    ["=head", "n", "t", "q"],
  );
  assert.ok(csv.startsWith("'=head,n,t,q\r\n"));
  for (const record of csv.split("\r\n").slice(1, -1)) {
    assert.match(record, /^"?'/);
    assert.ok(record.endsWith(',-5,-5,"a ""b"", c\nd"'), record);
  }
});

test("how a file is shown is told by its type, then by its name, from closed lists", () => {
  const cases = [
    [{ name: "a.md" }, "markdown"],
    [{ name: "a.txt", mimeType: "text/markdown; charset=utf-8" }, "markdown"],
    [{ name: "a.png", encoding: "base64" }, "image"],
    [{ name: "a.svg", mimeType: "image/svg+xml" }, "image"],
    [{ name: "a.pdf", encoding: "base64" }, "pdf"],
    [{ mimeType: "application/pdf" }, "pdf"],
    [{ name: "a.html", mimeType: "text/html" }, "code"],
    [{ name: "a.png", mimeType: "text/html" }, "code"],
    [{ name: "a.bin", encoding: "base64" }, "binary"],
    [{ mimeType: "image/x-unknown" }, "binary"],
    [{}, "code"],
  ] as const;
  for (const [file, kind] of cases) {
    assert.equal(fileKind(file), kind, JSON.stringify(file));
  }
  assert.equal(imageType({ mimeType: "text/html", name: "a.png" }), undefined);
  assert.equal(languageOf({ name: "A.TS" }), "typescript");
  assert.equal(languageOf({ mimeType: "application/json" }), "json");
});

test("a name to save by is only the name of a file", () => {
  assert.equal(fileName("../../etc/passwd", "x"), "_.._etc_passwd");
  assert.equal(fileName("a\u202egpj.exe\u0000", "x"), "agpj.exe");
  assert.equal(fileName(" .. ", "x"), "x");
  assert.equal(fileName(undefined, "x"), "x");
});

test("of many columns the first are shown, and all are known; sums keep their digits", () => {
  const row = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`c${i}`, i]));
  assert.equal(columnsOf([row]).length, 100);
  assert.deepEqual(namesOf([row, { more: 1 }]).slice(-2), ["c129", "more"]);
  const large = [{ bytes: 1_234_567_890_123 }, { bytes: 0.1 }, { bytes: 0.2 }];
  const sums = chartOf(large, "bytes", "bytes").points.map((point) => point.value);
  assert.deepEqual(sums, [1_234_567_890_123, 0.1, 0.2]);
  const tenths = [
    { a: "x", n: 0.1 },
    { a: "x", n: 0.2 },
  ];
  assert.equal(chartOf(tenths, "a", "n").points[0]?.value, 0.3);
});
