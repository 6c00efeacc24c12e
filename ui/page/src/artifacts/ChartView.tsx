import { type Chart, chartOf, type Column, type JsonObject, type Point } from "@parley/client";
import { useMemo, useState } from "preact/hooks";
import { ColumnPick } from "./DatasetView.js";

interface ChartProps {
  readonly rows: readonly JsonObject[];
  readonly columns: readonly Column[];
}

/** A bar or line chart of the shown rows. */
export function ChartView({ rows, columns }: ChartProps) {
  const numbers = columns.filter((column) => column.type === "number");
  const [value, setValue] = useState("");
  const [label, setLabel] = useState(
    () => columns.find((column) => column.type === "text")?.name ?? "",
  );
  const [line, setLine] = useState(false);
  const shown = numbers.some((one) => one.name === value) ? value : (numbers[0]?.name ?? "");
  const chart = useMemo(
    () => chartOf(rows, label === "" ? undefined : label, shown),
    [rows, label, shown],
  );
  if (shown === "") {
    return <p class="muted">This table has no numeric column to chart.</p>;
  }
  const by = label === "" ? "row" : label;
  return (
    <figure class="chart" aria-label={`Chart of ${shown} by ${by}`}>
      <figcaption>
        <ColumnPick label="Values" columns={numbers} value={shown} onChoose={setValue} />
        <span class="muted">by</span>
        <ColumnPick label="Labels" none="row" columns={columns} value={label} onChoose={setLabel} />
        <span class="spacer" />
        <button
          type="button"
          class="button small muted"
          aria-pressed={line}
          onClick={() => setLine(!line)}
        >
          Line
        </button>
      </figcaption>
      {line ? <Line chart={chart} /> : <Bars chart={chart} />}
      {chart.others > 0 && <p class="muted">{chart.others} more not shown</p>}
    </figure>
  );
}

function Bars({ chart: { points, min, max } }: { chart: Chart }) {
  const all = max - min || 1;
  const percent = (part: number): string => `${(100 * part) / all}%`;
  return (
    <ol class="bars">
      {points.map((point) => (
        <li key={point.label}>
          <span class="bar-label" title={point.label}>
            {point.label}
          </span>
          <span class="bar-track" aria-hidden="true">
            <span
              class="bar"
              style={{
                left: percent(Math.min(point.value, 0) - min),
                width: percent(Math.abs(point.value)),
              }}
            />
          </span>
          <span class="bar-value">{point.value.toLocaleString("en")}</span>
        </li>
      ))}
    </ol>
  );
}

const WIDTH = 100;
const HEIGHT = 36;

function Line({ chart: { points, min, max } }: { chart: Chart }) {
  const step = points.length > 1 ? WIDTH / (points.length - 1) : 0;
  const y = (value: number): number => HEIGHT - (HEIGHT * (value - min)) / (max - min || 1);
  const [first, last] = [points[0], points.at(-1)];
  const words = (point: Point | undefined): string =>
    point === undefined ? "nothing" : `${point.value} at ${point.label}`;
  return (
    <>
      <svg
        class="line"
        viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`From ${words(first)} to ${words(last)}`}
      >
        <line x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} class="zero" />
        <polyline points={points.map((point, i) => `${i * step},${y(point.value)}`).join(" ")} />
      </svg>
      <div class="line-ends muted">
        <span>{first?.label}</span>
        <span>
          {min.toLocaleString("en")} to {max.toLocaleString("en")}
        </span>
        <span>{last?.label}</span>
      </div>
    </>
  );
}
