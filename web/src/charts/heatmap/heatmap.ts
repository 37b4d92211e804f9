// A matrix as colours: where its cells are, which cell is at a point, and how it is drawn. The
// bitmap has one pixel per cell and is scaled without smoothing, so the cost does not grow with its
// size.

import { type Box, drawTicksBelow, drawTicksBeside, type Tick, thinned } from "../axes";
import { bitmapOf, packedColour, packedPalette, type Size } from "../bitmap";
import { rgbOf } from "../colour";
import { measured, type Table } from "../frame";
import { type ColourScale, drawLegend, entryFor, legendHeight, shareOn } from "../legend";
import type { Painter } from "../painter";
import type { Palette } from "../palettes";
import type { Theme } from "../theme";

/** Columns from left to right, or rows from bottom to top. */
export interface CellAxis {
  label: string;
  cells: number;
  /** Ticks, in cells: 0 is where the first one begins, `cells` where the last one ends. */
  ticks: readonly Tick[];
  /** More ticks on the other side, in another unit. */
  otherTicks?: readonly Tick[];
  /** What a cell represents, in words. */
  cell(index: number): string;
}

export interface Matrix {
  columns: CellAxis;
  rows: CellAxis;
  /** Row by row, lowest first. 0 and NaN mean nothing. */
  values: ArrayLike<number>;
}

export interface Cell {
  column: number;
  row: number;
}

export function valueAt({ columns, values }: Matrix, { column, row }: Cell): number {
  return values[row * columns.cells + column] ?? 0;
}

/** A row for each cell that is not empty. */
export function tableOfCells(
  matrix: Matrix,
  label: string,
  said: (value: number) => string,
): Table {
  const { columns, rows } = matrix;
  const table: Table = { head: [columns.label, rows.label, label], rows: [] };
  for (let column = 0; column < columns.cells; column += 1) {
    for (let row = 0; row < rows.cells; row += 1) {
      const value = valueAt(matrix, { column, row });
      if (value > 0) {
        table.rows.push([columns.cell(column), rows.cell(row), measured(value, said)]);
      }
    }
  }
  return table;
}

/** A scale from the smallest value above 0 to the largest. */
export function scaleOf(
  values: ArrayLike<number>,
  rest: Pick<ColourScale, "palette" | "first" | "isLog" | "label" | "format" | "never">,
): ColourScale {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    if (value > 0 && value < least) least = value;
    if (value > most) most = value;
  }
  if (most === 0) return { ...rest, least: 1, most: 1 };
  return { ...rest, least: rest.isLog ? least : 0, most };
}

/** Where the cells are; the margins are for ticks and labels. */
export function boxOf(size: Size, { rows }: Matrix): Box {
  const left = 78;
  const right = rows.otherTicks && size.width > 520 ? 46 : 14;
  const below = 40 + legendHeight(size.width);
  return { x: left, y: 8, width: size.width - left - right, height: size.height - 8 - below };
}

/** The cell at a point, if there is one. */
export function cellAt(box: Box, matrix: Matrix, x: number, y: number): Cell | null {
  const column = Math.floor(((x - box.x) / box.width) * matrix.columns.cells);
  const row = Math.floor((1 - (y - box.y) / box.height) * matrix.rows.cells);
  const isInside =
    column >= 0 && column < matrix.columns.cells && row >= 0 && row < matrix.rows.cells;
  return isInside ? { column, row } : null;
}

/** The rectangle of a cell. */
export function boxOfCell(box: Box, matrix: Matrix, { column, row }: Cell): Box {
  const width = box.width / matrix.columns.cells;
  const height = box.height / matrix.rows.cells;
  return { x: box.x + column * width, y: box.y + box.height - (row + 1) * height, width, height };
}

/** The cell that an arrow key moves to; null for other keys. */
export function cellBeside(cell: Cell, key: string, matrix: Matrix): Cell | null {
  const within = (index: number, cells: number) => Math.max(0, Math.min(cells - 1, index));
  const moved = (columns: number, rows: number) => ({
    column: within(cell.column + columns, matrix.columns.cells),
    row: within(cell.row + rows, matrix.rows.cells),
  });
  switch (key) {
    case "ArrowLeft":
      return moved(-1, 0);
    case "ArrowRight":
      return moved(1, 0);
    case "ArrowUp":
      return moved(0, 1);
    case "ArrowDown":
      return moved(0, -1);
    case "Home":
      return { ...cell, column: 0 };
    case "End":
      return { ...cell, column: matrix.columns.cells - 1 };
    default:
      return null;
  }
}

/** The pixels of the cells, top row first. */
export function heatmapBitmap(matrix: Matrix, scale: ColourScale, theme: Theme): HTMLCanvasElement {
  return bitmapOf(heatmapPixels(matrix, scale, theme), {
    width: matrix.columns.cells,
    height: matrix.rows.cells,
  });
}

export function heatmapPixels(matrix: Matrix, scale: ColourScale, theme: Theme): Uint32Array {
  const [across, down] = [matrix.columns.cells, matrix.rows.cells];
  const pixels = new Uint32Array(across * down).fill(packedColour(...rgbOf(theme.never)));
  const colours = packedPalette(scale.palette as Palette);
  for (let row = 0; row < down; row += 1) {
    for (let column = 0; column < across; column += 1) {
      const value = matrix.values[row * across + column] ?? 0;
      if (!(value > 0)) continue;
      pixels[(down - 1 - row) * across + column] =
        colours[entryFor(scale, shareOn(scale, value))] ?? 0;
    }
  }
  return pixels;
}

export interface HeatmapDrawing {
  matrix: Matrix;
  scale: ColourScale;
  bitmap: HTMLCanvasElement;
  theme: Theme;
  selected: Cell | null;
}

export function drawHeatmap(painter: Painter, size: Size, drawing: HeatmapDrawing) {
  const { matrix, scale, bitmap, theme, selected } = drawing;
  const box = boxOf(size, matrix);
  painter.image(bitmap, box.x, box.y, box.width, box.height);
  painter.outline(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1, theme.rule);
  drawAxes(painter, box, matrix, theme);
  const x = size.width < 520 ? 8 : box.x;
  const legend = { x, y: size.height - legendHeight(size.width) + 8, width: size.width - x - 14 };
  drawLegend(painter, legend, scale, theme);
  if (!selected) return;
  const cell = boxOfCell(box, matrix, selected);
  painter.outline(cell.x - 0.5, cell.y - 0.5, cell.width + 1, cell.height + 1, theme.surface, 4);
  painter.outline(cell.x - 0.5, cell.y - 0.5, cell.width + 1, cell.height + 1, theme.accent, 2);
}

function drawAxes(painter: Painter, box: Box, matrix: Matrix, theme: Theme) {
  const { columns, rows } = matrix;
  const acrossAt = (at: number) => box.x + (at / columns.cells) * box.width;
  const upAt = (at: number) => box.y + box.height - (at / rows.cells) * box.height;
  drawTicksBelow(painter, box, thinned(columns.ticks, 56, acrossAt), acrossAt, theme);
  const left = { theme, side: "left" } as const;
  drawTicksBeside(painter, box, thinned(rows.ticks, 16, upAt), upAt, left);
  if (rows.otherTicks && box.width > 400) {
    const right = { theme, side: "right" } as const;
    drawTicksBeside(painter, box, thinned(rows.otherTicks, 16, upAt), upAt, right);
  }
  const middle = { fill: theme.muted, align: "center" } as const;
  painter.text(columns.label, box.x + box.width / 2, box.y + box.height + 31, middle);
  painter.text(rows.label, 12, box.y + box.height / 2, { ...middle, upwards: true });
}
