// Benchmarks below each other on one axis. For each, every target is shown as a multiple of the
// best, with its interval, so that benchmarks can be compared whose units or orders of magnitude
// differ. Absolute values are beside them.

import { markSvg } from "../marks";
import { domainOf, padded, place, type Scale, ticks, tickTexts } from "../scales";
import { element, file, text } from "../svg";
import type { Theme } from "../theme";

/** One target on one benchmark. */
export interface RelativeCell {
  label: string;
  colour: string;
  /** The index of its mark. */
  mark: number;
  /** Its own figure, in words. */
  said: string;
  /** The ends of its interval, in words; empty if there is none. */
  interval: string;
  /** What it costs relative to the best; null if that is not known. */
  ratio: number | null;
  low?: number | undefined;
  high?: number | undefined;
  /** Only the ratio; empty if it is not known. */
  shortRatio: string;
  /** The interval of the ratio, in words; empty if it is not known. */
  ratioInterval: string;
  /** The ratio in words, with everything that is known about it. */
  saidRatio: string;
  /** The one that others are compared with. */
  isFirst: boolean;
  /** Certainly better than some other. */
  isBest: boolean;
  /** Cannot be told apart from the first. */
  isAlike: boolean;
}

export interface RelativeRow {
  key: string;
  title: string;
  /** In the order of the columns; null if nothing was measured. */
  cells: (RelativeCell | null)[];
}

export interface RelativeModel {
  title: string;
  columns: { label: string; colour: string; mark: number }[];
  rows: RelativeRow[];
}

/** Each target has its own lane in a row. */
const LANE = 8;
const ROW_PADDING = 10;
const ROW_LEAST = 24;
/** The smallest span of an axis, on both sides of 1. */
const SPAN_LEAST = 1.15;
/** Intervals are cut off at this factor beyond the largest ratio. */
const BEYOND = 1.6;
export const AXIS_HEIGHT = 22;
/** Approximate width of a digit in tick labels. */
const DIGIT = 6.5;

export function rowHeight({ columns }: RelativeModel): number {
  return Math.max(ROW_LEAST, columns.length * LANE + ROW_PADDING);
}

/** The domain: the ratios of all rows, and those parts of their intervals that are near. */
export function relativeDomain({ rows }: RelativeModel): [number, number] {
  const cells = rows.flatMap((row) => row.cells.flatMap((cell) => cell ?? []));
  const ratios = cells.flatMap(({ ratio }) => ratio ?? []);
  const [least, most] = domainOf("log10", [...ratios, 1 / SPAN_LEAST, SPAN_LEAST]);
  const ends = cells.flatMap(({ low, high }) => [
    Math.max(low ?? 1, least / BEYOND),
    Math.min(high ?? 1, most * BEYOND),
  ]);
  return padded("log10", domainOf("log10", [...ends, least, most]), 0.03);
}

export function relativeScale(model: RelativeModel, left: number, right: number): Scale {
  return { kind: "log10", domain: relativeDomain(model), range: [left, right] };
}

const said = (value: number, significant = 3) => `${Number(value.toPrecision(significant))}×`;

/** Beyond this span, ticks are at 1, 2 and 5 times powers of ten. */
const LINEAR_MOST = 3.5;

function steps(low: number, high: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    found.push(...[1, 2, 5].map((factor) => Number((factor * 10 ** power).toPrecision(3))));
  }
  return found.filter((value) => value >= low && value <= high);
}

function ticksOf({ domain, range: [left, right] }: Scale): [number, string][] {
  const [low, high] = domain;
  const isWide = high / low > LINEAR_MOST;
  const at = isWide ? steps(low, high) : ticks("linear", domain, Math.max(2, (right - left) / 70));
  const texts = tickTexts(at, said);
  const places = at.map((value, index): [number, string] => [value, texts[index] ?? ""]);
  // Leave out labels that would collide, but never that of 1.
  const scale = { kind: "log10" as const, domain, range: [left, right] as [number, number] };
  let before = Number.NEGATIVE_INFINITY;
  const one = place(scale, 1);
  return places.filter(([value]) => {
    const x = place(scale, value);
    const isNearOne = value !== 1 && Math.abs(x - one) < 30;
    if (isNearOne || (value !== 1 && x - before < 34)) return false;
    before = x;
    return true;
  });
}

/** The ticks, above the first row. */
export function axisSvg(scale: Scale, theme: Theme, y: number): string {
  const right = scale.range[1];
  return ticksOf(scale)
    .map(([value, name]) => {
      const x = place(scale, value);
      // The last label ends where the plot does, as the figures begin next to it.
      const isAtEnd = x + (name.length * DIGIT) / 2 > right;
      return text(name, {
        x: isAtEnd ? right : x,
        y: y - 6,
        "text-anchor": isAtEnd ? "end" : "middle",
        fill: value === 1 ? theme.ink : theme.muted,
        "font-size": 11,
        "font-weight": value === 1 ? 600 : 400,
      });
    })
    .join("");
}

/** One row, between `top` and `top + height`. */
export function rowSvg(
  row: RelativeRow,
  scale: Scale,
  theme: Theme,
  { top, height }: { top: number; height: number },
): string {
  const parts = ticksOf(scale).map(([value]) => {
    const x = place(scale, value);
    const stroke = value === 1 ? theme.muted : theme.rule;
    return element("line", { x1: x, x2: x, y1: top, y2: top + height, stroke });
  });
  const lanes = row.cells.length;
  const first = top + height / 2 - ((lanes - 1) * LANE) / 2;
  row.cells.forEach((cell, lane) => {
    if (cell?.ratio != null) parts.push(cellSvg(cell, scale, theme, first + lane * LANE));
  });
  return parts.join("");
}

function cellSvg(cell: RelativeCell, scale: Scale, theme: Theme, y: number): string {
  const { ratio, low, high, colour, mark, isFirst, isAlike } = cell;
  const [from, to] = scale.domain;
  const within = (value: number) => place(scale, Math.min(to, Math.max(from, value)));
  const parts: string[] = [];
  if (low !== undefined && high !== undefined) {
    const ends = { x1: within(low), x2: within(high), y1: y, y2: y };
    parts.push(
      element("line", {
        ...ends,
        stroke: colour,
        "stroke-width": 3,
        opacity: 0.4,
        "stroke-linecap": "round",
      }),
    );
  }
  const fill = isAlike ? theme.surface : colour;
  const [x, r] = [within(ratio as number), isFirst ? 4.2 : 3.4];
  parts.push(markSvg(mark, { x, y, r, fill, stroke: colour }));
  return parts.join("");
}

const NAMES = 250;
const VALUES = 132;
const HEAD = 58;

/** The whole file: names, the plot, and absolute values. */
export function relativeSvg(model: RelativeModel, theme: Theme, plot = 380): string {
  const values = NAMES + plot;
  const width = values + model.columns.length * VALUES + 12;
  const height = rowHeight(model);
  const scale = relativeScale(model, NAMES + 8, values - 12);
  const title = { x: 8, y: 22, fill: theme.ink, "font-size": 15, "font-weight": 600 };
  const parts = [text(model.title, title), axisSvg(scale, theme, HEAD)];
  model.columns.forEach(({ label, colour, mark }, column) => {
    const x = values + column * VALUES;
    parts.push(markSvg(mark, { x: x + 5, y: HEAD - 10, r: 4, fill: colour }));
    parts.push(text(label, { x: x + 14, y: HEAD - 6, fill: theme.ink, "font-weight": 600 }));
  });
  model.rows.forEach((row, index) => {
    const top = HEAD + index * height;
    const middle = top + height / 2 + 4;
    parts.push(rowSvg(row, scale, theme, { top, height }));
    parts.push(text(row.title, { x: 8, y: middle, fill: theme.ink }));
    row.cells.forEach((cell, column) => {
      if (cell === null) return;
      const x = values + column * VALUES;
      const weight = { "font-weight": cell.isFirst ? 700 : 400 };
      parts.push(text(shortSaid(cell), { x, y: middle, fill: theme.ink, ...weight }));
    });
  });
  return file(width, HEAD + model.rows.length * height + 12, theme.surface, parts.join(""));
}

/** The sign for what cannot be told apart from the best: "?" if its interval alone would say that
 * it is worse, but among this many comparisons some are worse by chance. */
export function alikeSign({ low, high }: Pick<RelativeCell, "low" | "high">): "≈" | "?" {
  const isBesideOne = low !== undefined && high !== undefined && (low > 1 || high < 1);
  return isBesideOne ? "?" : "≈";
}

/** The figure, and how it compares to the best. */
export function shortSaid(cell: RelativeCell): string {
  const { said: own, isAlike, isFirst, shortRatio } = cell;
  return isFirst ? own : `${own} ${isAlike ? alikeSign(cell) : shortRatio}`.trimEnd();
}
