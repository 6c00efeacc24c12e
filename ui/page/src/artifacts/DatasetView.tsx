import {
  type Column,
  columnsOf,
  csvOf,
  fileName,
  type Json,
  type JsonObject,
  LOADED_ROWS_MAX,
  namesOf,
  type Order,
  rowsFor,
} from "@parley/client";
import { useMemo, useState } from "preact/hooks";
import { count } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";
import { saveFile } from "../ui/save-file.js";
import { ChartView } from "./ChartView.js";
import { Table } from "./Table.js";

interface DatasetProps {
  readonly rows: readonly JsonObject[];
  readonly schema: Json | undefined;
  /** True if rows are missing because of the limit. */
  readonly cut: boolean;
  readonly name: string;
}

/** A live table that can be sorted, filtered, charted and exported. */
export function DatasetView({ rows, schema, cut, name }: DatasetProps) {
  const [order, setOrder] = useState<Order>();
  const [text, setText] = useState("");
  const [column, setColumn] = useState("");
  const [chart, setChart] = useState(false);
  const columns = useMemo(() => columnsOf(rows, schema), [rows, schema]);
  const names = useMemo(() => namesOf(rows, schema), [rows, schema]);
  const filter = { text, column: column === "" ? undefined : column };
  const shown = useMemo(
    () => rowsFor(rows, columns, filter, order),
    [rows, columns, text, column, order],
  );
  const saveCsv = (): void => {
    const base = fileName(name.replace(/\.(csv|jsonl?)$/i, ""), "dataset");
    // The byte order mark marks the file as UTF-8 for spreadsheets.
    saveFile(`${base}.csv`, ["\ufeff", csvOf(shown, names)], "text/csv");
  };
  return (
    <section class="dataset" aria-label="Table">
      <div class="dataset-bar">
        <label class="dataset-filter">
          <span class="sr-only">Filter rows</span>
          <input
            type="search"
            placeholder="Filter: words, or >10"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <ColumnPick
          label="Filter in column"
          none="any column"
          columns={columns}
          value={column}
          onChoose={setColumn}
        />
        <button
          type="button"
          class="button small"
          aria-pressed={chart}
          onClick={() => setChart(!chart)}
        >
          <Icon name="waterfall" /> Chart
        </button>
        <button type="button" class="button small" onClick={saveCsv}>
          <Icon name="download" /> CSV
        </button>
      </div>
      {chart && <ChartView rows={shown} columns={columns} />}
      <Table
        rows={shown}
        columns={columns}
        order={order}
        onSort={(name) => setOrder(next(order, name))}
      />
      <p class="muted dataset-count" role="status">
        {shown.length === rows.length
          ? count(rows.length, "row")
          : `${count(shown.length, "row")} of ${rows.length.toLocaleString("en")}`}
        {cut && `; only the first ${LOADED_ROWS_MAX.toLocaleString("en")} are loaded`}
        {names.length > columns.length &&
          `; the first ${columns.length} of ${names.length} columns are shown`}
      </p>
    </section>
  );
}

/** Cycles through ascending, descending and unsorted. */
function next(order: Order | undefined, column: string): Order | undefined {
  if (order?.column !== column) {
    return { column, descending: false };
  }
  return order.descending ? undefined : { column, descending: true };
}

export function ColumnPick(props: {
  label: string;
  none?: string;
  columns: readonly Column[];
  value: string;
  onChoose: (name: string) => void;
}) {
  return (
    <label class="pick">
      <span class="sr-only">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.none !== undefined && <option value="">{props.none}</option>}
        {props.columns.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
