// A heat map with axes, a legend, and a read-out of the cell under the pointer or the cursor.

import { useMemo, useState } from "preact/hooks";
import { canvasPicture, type Size } from "../bitmap";
import { ChartFrame } from "../frame";
import { firstOn } from "../legend";
import type { Painter } from "../painter";
import { type Palette, viridis } from "../palettes";
import { Stage } from "../stage";
import type { Theme } from "../theme";
import {
  boxOf,
  type Cell,
  cellAt,
  cellBeside,
  drawHeatmap,
  heatmapBitmap,
  type Matrix,
  scaleOf,
  tableOfCells,
  valueAt,
} from "./heatmap";

export interface HeatmapProps extends Matrix {
  title: string;
  summary: string;
  file: string;
  theme: Theme;
  /** What the values are, for the legend and the table: `share of operations`. */
  label: string;
  /** A value in words. */
  format(value: number): string;
  /** What to call cells with 0. */
  never?: string;
  palette?: Palette;
  scale?: "log" | "linear";
  /** The values at the ends of the palette; by default those of this map. */
  range?: { least: number; most: number };
  height?: number;
}

const HEIGHT = 360;

export function Heatmap(props: HeatmapProps) {
  const { theme, columns, rows, values, palette = viridis } = props;
  const matrix = { columns, rows, values };
  const [selected, setSelected] = useState<Cell | null>(null);
  const [width, setWidth] = useState(0);
  const isLog = props.scale !== "linear";
  const { label, format, never, range } = props;
  const scale = useMemo(() => {
    const rest = { palette, first: firstOn[theme.name], isLog, label, format, never };
    return { ...scaleOf(values, rest), ...range };
  }, [values, theme, palette, isLog, label, format, never, range?.least, range?.most]);
  const bitmap = useMemo(
    () => heatmapBitmap(matrix, scale, theme),
    [values, columns.cells, rows.cells, scale, theme],
  );
  const height = props.height ?? HEIGHT;
  const draw = (cell: Cell | null) => (painter: Painter, size: Size) =>
    drawHeatmap(painter, size, { matrix, scale, bitmap, theme, selected: cell });
  const pointed = (x: number, y: number) =>
    setSelected(cellAt(boxOf({ width, height }, matrix), matrix, x, y));
  const typed = (event: KeyboardEvent) => {
    const next = cellBeside(selected ?? { column: 0, row: 0 }, event.key, matrix);
    if (next) setSelected(selected ? next : { column: 0, row: 0 });
    return next !== null;
  };
  return (
    <ChartFrame
      title={props.title}
      summary={props.summary}
      file={props.file}
      table={() => tableOfCells(matrix, label, format)}
      picture={() =>
        canvasPicture({ title: props.title, theme, size: { width, height }, draw: draw(null) })
      }
    >
      <Stage
        theme={theme}
        label={`${props.title}: heat map. Arrow keys move from cell to cell.`}
        height={height}
        draw={draw(selected)}
        onWidth={setWidth}
        onPoint={pointed}
        onLeave={() => setSelected(null)}
        onKey={typed}
        tip={selected && describe(matrix, selected, props)}
        cursor="crosshair"
      />
      <p class="reading" aria-live="polite">
        {selected
          ? describe(matrix, selected, props)
          : "Point at a cell, or walk with the arrow keys, to read it."}
      </p>
    </ChartFrame>
  );
}

function describe(matrix: Matrix, cell: Cell, { format, never, label }: HeatmapProps): string {
  const value = valueAt(matrix, cell);
  const words = value > 0 ? `${format(value)} (${label})` : (never ?? format(0));
  return `${matrix.columns.cell(cell.column)}, ${matrix.rows.cell(cell.row)}: ${words}`;
}
