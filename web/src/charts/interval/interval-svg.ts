// Dots with their intervals, one per row: the plot for figures that are not on a curve. Rows of a
// group (a benchmark) are drawn together; what is beside a value says it in numbers.

import { trimmed } from "../../format/units";
import type { Axis } from "../line/line-model";
import { domainOf, padded, place, type Scale, type ScaleKind, ticks, tickTexts } from "../scales";
import { element, escaped, file, text } from "../svg";
import type { Theme } from "../theme";

export interface IntervalRow {
  /** A target or a level. */
  label: string;
  colour: string;
  value: number;
  low?: number | undefined;
  high?: number | undefined;
  /** The figure in words, to the right of the plot. */
  said: string;
  /** Drawn hollow: cannot be told apart, or has no interval. */
  hollow?: boolean | undefined;
}

export interface IntervalGroup {
  title: string;
  rows: IntervalRow[];
}

export interface IntervalModel {
  title: string;
  axis: Axis;
  groups: IntervalGroup[];
  /** The value that means no difference: 1 for ratios. */
  reference?: number;
}

const ROW = 18;
const TITLE_ROW = 20;
const HEAD = 44;
const FOOT = 12;
const LABEL_WIDTH = 128;
/** Letters of a label that there is room for at this width. */
const LETTERS_MOST = 20;
/** Below this width, numbers are only in the table, not beside the plot. */
const WIDTH_WITH_NUMBERS = 560;
/** Estimated width of a letter, to work out the room for the texts, between these limits. */
const LETTER = 6.3;
const SAID_LEAST = 120;
const SAID_MOST = 300;
/** Half of the smallest span of an axis, relative to the value in its middle. */
const SPAN_LEAST = 0.05;

/** The height of a model's chart. */
export function intervalHeight({ groups }: IntervalModel): number {
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0);
  return HEAD + FOOT + rows * ROW + groups.length * TITLE_ROW;
}

/** The whole file, in the given width. */
export function intervalSvg(model: IntervalModel, theme: Theme, width: number): string {
  const height = intervalHeight(model);
  const x: Scale = {
    kind: model.axis.kind,
    domain: intervalDomain(model),
    range: [LABEL_WIDTH + 12, width - (width < WIDTH_WITH_NUMBERS ? 16 : saidWidth(model))],
  };
  const parts = [axis(model, x, height, theme)];
  let top = HEAD;
  for (const group of model.groups) {
    const title = { x: 4, y: top + 14, fill: theme.ink, "font-weight": 600 };
    parts.push(text(group.title, title));
    top += TITLE_ROW;
    for (const row of group.rows) {
      parts.push(rowSvg(row, x, top + ROW / 2, theme, width));
      top += ROW;
    }
  }
  return file(width, height, theme.surface, parts.join(""));
}

function saidWidth({ groups }: IntervalModel): number {
  const longest = Math.max(...groups.flatMap(({ rows }) => rows.map(({ said }) => said.length)), 0);
  return Math.min(SAID_MOST, Math.max(SAID_LEAST, longest * LETTER + 20));
}

export function intervalDomain({ axis, groups, reference }: IntervalModel): [number, number] {
  const values = groups.flatMap((group) =>
    group.rows.flatMap((row) => [row.value, row.low ?? row.value, row.high ?? row.value]),
  );
  if (reference !== undefined) values.push(reference);
  return padded(axis.kind, widened(axis.kind, domainOf(axis.kind, values)), 0.06);
}

/** Values that hardly differ must not look as if they did: an axis spans at least a tenth of
 * them. */
function widened(kind: ScaleKind, [low, high]: [number, number]): [number, number] {
  const middle = kind === "linear" ? (low + high) / 2 : Math.sqrt(low * high);
  const half = Math.abs(middle) * SPAN_LEAST;
  return [Math.min(low, middle - half), Math.max(high, middle + half)];
}

function axis(model: IntervalModel, x: Scale, height: number, theme: Theme): string {
  const most = Math.max(2, (x.range[1] - x.range[0]) / 90);
  const label = { y: 14, fill: theme.muted, "font-size": 11 };
  const parts = [text(model.axis.label, { x: 4, ...label })];
  const values = ticks(x.kind, x.domain, most, model.axis.isBinary);
  const texts = tickTexts(values, model.axis.format);
  for (const [index, value] of values.entries()) {
    const at = place(x, value);
    parts.push(
      element("line", { x1: at, x2: at, y1: HEAD - 8, y2: height - FOOT, stroke: theme.rule }),
      text(trimmed(texts[index] ?? ""), {
        x: at,
        y: HEAD - 12,
        "text-anchor": "middle",
        fill: theme.muted,
        "font-size": 11,
      }),
    );
  }
  if (model.reference !== undefined) {
    const at = place(x, model.reference);
    const stroke = { stroke: theme.muted, "stroke-width": 1.5 };
    parts.push(element("line", { x1: at, x2: at, y1: HEAD - 8, y2: height - FOOT, ...stroke }));
  }
  return parts.join("");
}

/** Both ends of a label that is too long, as labels of several runs differ at their ends. */
export function shortened(label: string): string {
  const letters = [...label];
  if (letters.length <= LETTERS_MOST) return label;
  const half = (LETTERS_MOST - 1) / 2;
  const ends = [letters.slice(0, Math.ceil(half)), letters.slice(-Math.floor(half))];
  return ends.map((end) => end.join("")).join("…");
}

function rowSvg(row: IntervalRow, x: Scale, middle: number, theme: Theme, width: number): string {
  const parts = [
    text(shortened(row.label), {
      x: LABEL_WIDTH,
      y: middle + 4,
      "text-anchor": "end",
      fill: theme.ink,
    }),
  ];
  if (x.kind === "linear" || row.value > 0) {
    const at = place(x, row.value);
    if (row.low !== undefined && row.high !== undefined) {
      const low = x.kind === "linear" || row.low > 0 ? row.low : x.domain[0];
      const ends = { x1: place(x, low), x2: place(x, row.high), y1: middle, y2: middle };
      parts.push(
        element("line", { ...ends, stroke: row.colour, "stroke-width": 5, opacity: 0.35 }),
      );
    }
    const fill = row.hollow ? theme.surface : row.colour;
    const circle = { cx: at, cy: middle, r: 4.2, fill, stroke: row.colour, "stroke-width": 1.6 };
    parts.push(
      element("circle", circle, element("title", {}, escaped(`${row.label}: ${row.said}`))),
    );
  }
  if (width >= WIDTH_WITH_NUMBERS) {
    const beside = { x: x.range[1] + 10, y: middle + 4, fill: theme.muted, "font-size": 11.5 };
    parts.push(text(row.said, beside));
  }
  // Pointing anywhere in the row shows its tooltip.
  const whole = { x: 0, y: middle - ROW / 2, width, height: ROW, fill: "transparent" };
  const tip = { "data-label": row.label, "data-said": row.said };
  return element("g", tip, element("rect", whole) + parts.join(""));
}
