import {
  type Column,
  columnsOf,
  commandOutputOf,
  fileTextOf,
  type JsonObject,
  type Order,
  rowsFor,
  tableRowsOf,
  type ToolCall,
} from "@parley/client";
import { useMemo, useState } from "preact/hooks";
import { JsonView } from "../artifacts/JsonTree.js";
import { Table } from "../artifacts/Table.js";
import { Diff } from "../questions/Diff.js";
import { FileTextView } from "../text/FileTextView.js";
import { JsonText } from "../text/JsonText.js";
import { TerminalText } from "../text/TerminalText.js";
import { count } from "../ui/format.js";

/** Longer JSON is shown as a tree. */
const JSON_TEXT_MAX = 600;

/** The result of a tool call, displayed as what it is. */
export function ToolResultView({ call }: { call: ToolCall }) {
  const { result } = call;
  const command = commandOutputOf(result);
  const diff = isObject(result) && typeof result["diff"] === "string" ? result["diff"] : "";
  const file = fileTextOf(result, call.arguments);
  const rows = useMemo(() => tableRowsOf(result), [result]);
  if (diff !== "") {
    return <Diff text={diff} />;
  }
  if (command !== undefined) {
    return <TerminalText command={command} />;
  }
  if (file !== undefined) {
    return <FileTextView file={file} />;
  }
  if (rows !== undefined) {
    return <ResultTable rows={rows} />;
  }
  return isObject(result) || Array.isArray(result) ? (
    <JsonResult value={result} />
  ) : (
    <JsonText value={result} />
  );
}

function JsonResult({ value }: { value: JsonObject | NonNullable<ToolCall["result"]> }) {
  const long = useMemo(() => JSON.stringify(value).length > JSON_TEXT_MAX, [value]);
  return long ? <JsonView value={value} /> : <JsonText value={value} />;
}

function ResultTable({ rows }: { rows: readonly JsonObject[] }) {
  const [order, setOrder] = useState<Order>();
  const columns = useMemo<readonly Column[]>(() => columnsOf(rows), [rows]);
  const sorted = useMemo(
    () => rowsFor(rows, columns, { text: "", column: undefined }, order),
    [rows, columns, order],
  );
  const sort = (column: string): void =>
    setOrder({ column, descending: order?.column === column && !order.descending });
  return (
    <div class="result-table">
      <Table rows={sorted} columns={columns} order={order} onSort={sort} />
      <p class="muted">{count(rows.length, "row")}</p>
    </div>
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
