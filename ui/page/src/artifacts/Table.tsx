import { cellOf, cellText, type Column, type JsonObject, type Order } from "@parley/client";
import { useRef } from "preact/hooks";
import { useVisibleRows } from "../ui/visible-rows.js";

const ROW_HEIGHT = 30;
const CELL_MAX = 300;
const COLUMN_REM = 6;

interface TableProps {
  readonly rows: readonly JsonObject[];
  readonly columns: readonly Column[];
  readonly order: Order | undefined;
  readonly onSort: (column: string) => void;
}

/** A table of any length that renders only the visible rows. */
export function Table({ rows, columns, order, onSort }: TableProps) {
  const box = useRef<HTMLDivElement>(null);
  const { first, last } = useVisibleRows(box, rows.length, ROW_HEIGHT);
  return (
    <div class="table-box" ref={box} tabIndex={0} role="region" aria-label="Rows">
      <table
        aria-rowcount={rows.length + 1}
        style={{ minWidth: `${columns.length * COLUMN_REM}rem` }}
      >
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" data-type={type} aria-sort={sortOf(order, name)}>
                <button type="button" title={name} onClick={() => onSort(name)}>
                  <span>{name}</span>
                  <span aria-hidden="true">{arrowOf(order, name)}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Gap rows={first} columns={columns.length} />}
          {rows.slice(first, last).map((row, i) => (
            <tr key={first + i} aria-rowindex={first + i + 2}>
              {columns.map(({ name, type }) => (
                <Cell key={name} text={cellText(cellOf(row, name))} type={type} />
              ))}
            </tr>
          ))}
          {last < rows.length && <Gap rows={rows.length - last} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ text, type }: { text: string; type: Column["type"] }) {
  const short = text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text;
  return (
    <td data-type={type} title={short}>
      {short}
    </td>
  );
}

/** Placeholder for rows that are not rendered. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row cannot be focused.
    <tr class="gap" aria-hidden="true">
      <td colSpan={Math.max(1, columns)} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

function sortOf(order: Order | undefined, name: string): "none" | "ascending" | "descending" {
  return order?.column !== name ? "none" : order.descending ? "descending" : "ascending";
}

function arrowOf(order: Order | undefined, name: string): string {
  return order?.column !== name ? "" : order.descending ? "↓" : "↑";
}
