// Benchmarks by targets on screen: a table whose rows contain a plot. The row under the pointer, or
// whose name has the focus, is described in full beside it.

import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ChartFrame, type Table } from "../frame";
import { Mark } from "../Mark";
import { pictureOf } from "../picture";
import { Scrolling } from "../scrolling";
import type { Theme } from "../theme";
import { useDrawn } from "../visible";
import {
  AXIS_HEIGHT,
  alikeSign,
  axisSvg,
  type RelativeCell,
  type RelativeModel,
  type RelativeRow,
  relativeScale,
  relativeSvg,
  rowHeight,
  rowSvg,
} from "./relative-svg";

export interface RelativeChartProps {
  model: RelativeModel;
  theme: Theme;
  summary: string;
  file: string;
  table: () => Table;
  /** Called to show more about a row. */
  onRow: (key: string) => void;
}

/** What to say about a row, and where. */
interface Told {
  row: RelativeRow;
  x: number;
  y: number;
}

export function RelativeChart(props: RelativeChartProps) {
  const { model, theme, summary, file, table, onRow } = props;
  const [told, setTold] = useState<Told | null>(null);
  const tip = useId();
  const holder = useRef<HTMLDivElement>(null);
  const drawn = useDrawn(
    holder,
    useMemo(() => ({ model, theme }), [model, theme]),
  );
  const tell = (row: RelativeRow, element: Element) => {
    const { left, bottom } = (
      element.querySelector(".plot-cell") ?? element
    ).getBoundingClientRect();
    setTold({ row, x: left, y: bottom });
  };
  const rows = useMemo(
    () => (
      <Rows
        model={model}
        drawn={drawn}
        tip={tip}
        onRow={onRow}
        tell={tell}
        hide={() => setTold(null)}
      />
    ),
    [model, drawn, onRow],
  );
  return (
    <ChartFrame
      title={model.title}
      summary={summary}
      file={file}
      table={table}
      picture={() => pictureOf(() => relativeSvg(model, theme))}
    >
      <div ref={holder}>
        <Scrolling label={model.title}>{rows}</Scrolling>
      </div>
      {told ? <RowTip id={tip} {...told} /> : <div id={tip} role="tooltip" hidden />}
    </ChartFrame>
  );
}

interface RowsProps {
  model: RelativeModel;
  drawn: { model: RelativeModel; theme: Theme } | null;
  tip: string;
  onRow: (key: string) => void;
  tell: (row: RelativeRow, element: Element) => void;
  hide: () => void;
}

function Rows({ model, drawn, tip, onRow, tell, hide }: RowsProps) {
  const head = useRef<HTMLTableCellElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = head.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const height = rowHeight(model);
  const hasRatios = model.rows.some((row) => row.cells.some((cell) => cell?.ratio != null));
  const isDrawn = drawn !== null && width > 40 && drawn.model === model && hasRatios;
  const scale = isDrawn ? relativeScale(model, 10, width - 10) : null;
  const svg = (content: string, high: number) =>
    `<svg width="${width}" height="${high}" font-family="inherit" aria-hidden="true">${content}</svg>`;
  return (
    <table class={`relative${model.columns.length > 5 ? " many" : ""}`} role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader" class="name-head">
            Benchmark
          </th>
          <th scope="col" role="columnheader" class="plot-head" ref={head}>
            <span class="hidden">relative to the best</span>
            {scale && drawn && (
              <div
                dangerouslySetInnerHTML={{
                  __html: svg(axisSvg(scale, drawn.theme, AXIS_HEIGHT), AXIS_HEIGHT),
                }}
              />
            )}
          </th>
          {model.columns.map(({ label, colour, mark }) => (
            <th key={label} scope="col" role="columnheader" class="value-head">
              <Mark index={mark} colour={colour} /> {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {model.rows.map((row) => (
          <tr
            key={row.key}
            role="row"
            onPointerEnter={({ currentTarget }) => tell(row, currentTarget)}
            onPointerLeave={hide}
          >
            <th scope="row" role="rowheader">
              <button
                type="button"
                class="link"
                aria-describedby={tip}
                onClick={() => onRow(row.key)}
                onFocus={({ currentTarget }) => {
                  const own = currentTarget.closest("tr");
                  if (own && currentTarget.matches(":focus-visible")) tell(row, own);
                }}
                onBlur={hide}
                onKeyDown={(event) => event.key === "Escape" && hide()}
              >
                {row.title}
              </button>
            </th>
            <td class="plot-cell" role="cell" style={{ height: `${height}px` }}>
              {scale && drawn ? (
                <div
                  dangerouslySetInnerHTML={{
                    __html: svg(rowSvg(row, scale, drawn.theme, { top: 0, height }), height),
                  }}
                />
              ) : null}
            </td>
            {row.cells.map((cell, column) => (
              <ValueCell
                key={model.columns[column]?.label}
                cell={cell}
                label={model.columns[column]?.label ?? ""}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ValueCell({ cell, label }: { cell: RelativeCell | null; label: string }) {
  if (cell === null) {
    return (
      <td role="cell" class="value empty" data-label={label}>
        –
      </td>
    );
  }
  const { said, ratio, shortRatio, ratioInterval, isFirst, isBest, isAlike } = cell;
  return (
    <td role="cell" class={`value${isBest ? " best" : isFirst ? " first" : ""}`} data-label={label}>
      <span class="own">{said}</span>
      {isBest && <span class="hidden"> (the best)</span>}
      {ratio !== null && !isFirst && (
        <small class={isAlike ? "alike" : undefined}>
          {isAlike ? alikeSign(cell) : shortRatio}
          {isAlike && <span class="hidden"> cannot be told apart from the best</span>}
          <span class="paper-only">
            {isAlike && ` ${shortRatio}`} {ratioInterval}
          </span>
        </small>
      )}
    </td>
  );
}

const TIP_WIDTH = 430;

function RowTip({ id, row, x, y }: Told & { id: string }) {
  const left = Math.max(8, Math.min(x, innerWidth - TIP_WIDTH - 8));
  const isAbove = y > innerHeight - 40 - 22 * row.cells.length;
  const place = isAbove ? { bottom: `${innerHeight - y + 40}px` } : { top: `${y + 4}px` };
  return (
    <div id={id} role="tooltip" class="row-tip" style={{ left: `${left}px`, ...place }}>
      <b>{row.title}</b>
      <table>
        <tbody>
          {row.cells.map(
            (cell) =>
              cell && (
                <tr key={cell.label}>
                  <td>
                    <Mark index={cell.mark} colour={cell.colour} /> {cell.label}
                  </td>
                  <td class="number">
                    {cell.said} {cell.interval}
                  </td>
                  <td>{cell.saidRatio}</td>
                </tr>
              ),
          )}
        </tbody>
      </table>
    </div>
  );
}
