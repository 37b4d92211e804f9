// A table of ratios as a picture: rows and columns with names, and cells shaded by how far the
// ratio is from 1. On screen it is an actual table, which screen readers can walk through.

import { element, file, text } from "../svg";
import type { Theme } from "../theme";

/** A cell: its lines, from the most important one on. */
export interface GridCell {
  lines: string[];
  /** How dark, from 0 to 6. With `dear`, it costs more than what it is compared with. */
  depth: number;
  isDear: boolean;
  /** Cannot be told apart: hatched. */
  isAlike: boolean;
  /** No other is better. */
  isBest?: boolean;
  /** The one that others are compared with: neither dear nor cheap. */
  isPlain?: boolean;
}

export interface GridModel {
  title: string;
  columns: string[];
  rows: { name: string; cells: (GridCell | null)[] }[];
}

const NAME_WIDTH = 150;
const CELL = { width: 132, height: 58 };
const HEAD = 66;
const DEAR = { light: "#c14a00", dark: "#e07028" };
const CHEAP = { light: "#0068b2", dark: "#4096dc" };
const BEST = { light: "#e3f1e6", dark: "#15301f" };
const SHADE = { least: 0.07, step: 0.07 };

/** How dark to draw a ratio: one step for each half power of 2. */
export function depthOf(ratio: number): number {
  return Math.min(6, Math.floor(Math.abs(Math.log2(ratio)) * 2));
}

/** The whole file. */
export function gridSvg({ title, columns, rows }: GridModel, theme: Theme): string {
  const width = NAME_WIDTH + columns.length * CELL.width + 16;
  const height = HEAD + rows.length * CELL.height + 16;
  const parts = [
    hatching(theme),
    text(title, { x: 8, y: 24, fill: theme.ink, "font-size": 15, "font-weight": 600 }),
    ...columns.map((name, column) =>
      text(name, {
        x: NAME_WIDTH + (column + 0.5) * CELL.width,
        y: HEAD - 10,
        "text-anchor": "middle",
        fill: theme.muted,
        "font-weight": 600,
      }),
    ),
  ];
  rows.forEach(({ name, cells }, row) => {
    const y = HEAD + row * CELL.height;
    parts.push(text(name, { x: 8, y: y + 22, fill: theme.ink }));
    cells.forEach((cell, column) => {
      if (cell) parts.push(cellSvg(cell, NAME_WIDTH + column * CELL.width, y, theme));
    });
  });
  return file(width, height, theme.surface, parts.join(""));
}

function cellSvg(cell: GridCell, left: number, top: number, theme: Theme): string {
  const colour = (cell.isDear ? DEAR : CHEAP)[theme.name];
  const place = { x: left + 1, y: top + 1, width: CELL.width - 2, height: CELL.height - 2 };
  const opacity = SHADE.least + cell.depth * SHADE.step;
  const middle = { x: left + CELL.width / 2, "text-anchor": "middle", fill: theme.ink };
  return [
    element(
      "rect",
      cell.isBest
        ? { ...place, fill: BEST[theme.name] }
        : cell.isPlain
          ? { ...place, fill: theme.rule, opacity: 0.4 }
          : { ...place, fill: colour, opacity },
    ),
    cell.isAlike ? element("rect", { ...place, fill: "url(#alike)" }) : "",
    ...cell.lines.map((line, index) =>
      text(line, {
        ...middle,
        y: top + 18 + index * 15,
        "font-size": index === 0 ? 13 : 11,
        "font-weight": index === 0 ? 600 : 400,
      }),
    ),
  ].join("");
}

function hatching(theme: Theme): string {
  const line = { x1: 0, y1: 0, x2: 0, y2: 8, stroke: theme.muted, "stroke-width": 2, opacity: 0.3 };
  const pattern = {
    id: "alike",
    width: 8,
    height: 8,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  };
  return element("defs", {}, element("pattern", pattern, element("line", line)));
}
