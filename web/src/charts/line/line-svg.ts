// A line chart as an SVG file, the same as uPlot draws on screen.

import { trimmed } from "../../format/units";
import { place, type Scale, ticks } from "../scales";
import { element, file, text } from "../svg";
import type { Theme } from "../theme";
import {
  type LineChartModel,
  type LinePoint,
  type LineSeries,
  MARKER_ROW,
  markerRows,
  rowsOf,
  xDomain,
  yDomain,
} from "./line-model";

const MARGIN = { top: 40, right: 24, bottom: 48, left: 76 };
const LEGEND_LINE = 18;

/** The whole file. */
export function lineSvg(model: LineChartModel, theme: Theme, width = 760, height = 420): string {
  const named = model.series.filter((series) => !series.unnamed);
  const legend = named.length * LEGEND_LINE;
  const x: Scale = {
    kind: model.x.kind,
    domain: xDomain(model),
    range: [MARGIN.left, width - MARGIN.right],
  };
  const y: Scale = {
    kind: model.y.kind,
    domain: yDomain(model),
    range: [height - MARGIN.bottom, MARGIN.top + markerRows(model) * MARKER_ROW],
  };
  const parts = [
    text(model.title, {
      x: MARGIN.left,
      y: 22,
      fill: theme.ink,
      "font-size": 15,
      "font-weight": 600,
    }),
    axes(model, x, y, theme),
    ...markersSvg(model, x, y),
    ...model.series.map((series) => seriesSvg(series, x, y)),
    ...named.map((series, index) => legendSvg(series, height + index * LEGEND_LINE, theme)),
  ];
  return file(width, height + legend + 8, theme.surface, parts.join(""));
}

function axes(model: LineChartModel, x: Scale, y: Scale, theme: Theme): string {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const parts: string[] = [];
  for (const value of ticks(x.kind, x.domain, 7, model.x.isBinary)) {
    const at = place(x, value);
    parts.push(element("line", { x1: at, x2: at, y1: top, y2: bottom, stroke: theme.rule }));
    const anchor = { "text-anchor": "middle", fill: theme.muted };
    parts.push(text(trimmed(model.x.format(value)), { x: at, y: bottom + 18, ...anchor }));
  }
  for (const value of ticks(y.kind, y.domain, 6, model.y.isBinary)) {
    const at = place(y, value);
    parts.push(element("line", { x1: left, x2: right, y1: at, y2: at, stroke: theme.rule }));
    const anchor = { "text-anchor": "end", fill: theme.muted };
    parts.push(text(trimmed(model.y.format(value)), { x: left - 8, y: at + 4, ...anchor }));
  }
  const middle = (left + right) / 2;
  parts.push(
    text(model.x.label, { x: middle, y: bottom + 38, "text-anchor": "middle", fill: theme.ink }),
    text(model.y.label, {
      transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`,
      "text-anchor": "middle",
      fill: theme.ink,
    }),
  );
  return parts.join("");
}

/** Approximate width of a letter, as text cannot be measured when a file is written. */
const LETTER = 6;

/** Ranges behind the lines, with their names in rows above the plot. */
function markersSvg({ markers }: LineChartModel, x: Scale, y: Scale): string[] {
  const [low, high] = x.domain;
  const [bottom, top] = y.range;
  const seen = markers.filter(({ from, to = from }) => to >= low && from <= high);
  const stretches = seen.map(({ from, to = from }) => [
    place(x, Math.max(from, low)),
    place(x, Math.min(to, high)),
  ]) as [number, number][];
  const places = seen.map(({ label }, index) => {
    const width = label.length * LETTER;
    const [left = 0] = stretches[index] ?? [];
    return { start: Math.max(x.range[0], Math.min(left, x.range[1] - width)), width };
  });
  const rows = rowsOf(places);
  return seen.map(({ label, colour }, index) => {
    const [left, right] = stretches[index] as [number, number];
    const width = Math.max(1, right - left);
    const at = { x: places[index]?.start, y: top - 5 - MARKER_ROW * (rows[index] as number) };
    return (
      element("rect", {
        x: left,
        y: top,
        width,
        height: bottom - top,
        fill: colour,
        opacity: 0.25,
      }) + text(label, { ...at, fill: colour, "font-size": 11 })
    );
  });
}

function seriesSvg(series: LineSeries, x: Scale, y: Scale): string {
  const { points, colour, dash, fitted, scattered, stepped } = series;
  const drawn = points.filter((point) => Number.isFinite(point.y) && within(y, point.y));
  const parts: string[] = [];
  const banded = drawn.filter((point) => point.low !== undefined && point.high !== undefined);
  if (banded.length > 1 && !scattered) {
    const upper = banded.map((point) => pair(x, y, point.x, point.high as number));
    const lower = banded.map((point) => pair(x, y, point.x, point.low as number)).reverse();
    const shape = [...upper, ...lower].join(" ");
    parts.push(element("polygon", { points: shape, fill: colour, opacity: 0.18 }));
  }
  if (!scattered) {
    parts.push(
      element("polyline", {
        points: corners(drawn, stepped ?? false)
          .map((point) => pair(x, y, point.x, point.y))
          .join(" "),
        fill: "none",
        stroke: colour,
        "stroke-width": fitted ? 1 : 2,
        "stroke-dasharray": dash.length > 0 ? dash.join(" ") : undefined,
      }),
    );
  }
  if (!fitted && !stepped) {
    for (const point of drawn) {
      const [cx, cy] = [place(x, point.x), place(y, point.y)];
      parts.push(element("circle", { cx, cy, r: 2.5, fill: colour }));
    }
  }
  return parts.join("");
}

/** The corners of a line. For a stepped one, each value is repeated where the next one begins. */
function corners(points: LinePoint[], stepped: boolean): Pick<LinePoint, "x" | "y">[] {
  if (!stepped) return points;
  return points.flatMap((point, index) => {
    const next = points[index + 1];
    return next === undefined ? [point] : [point, { x: next.x, y: point.y }];
  });
}

function within(scale: Scale, value: number): boolean {
  return scale.kind === "linear" || value > 0;
}

function pair(x: Scale, y: Scale, at: number, value: number): string {
  const clamped = within(y, value) ? value : y.domain[0];
  return `${place(x, at).toFixed(2)},${place(y, clamped).toFixed(2)}`;
}

function legendSvg({ label, colour, dash }: LineSeries, top: number, theme: Theme): string {
  const stroke = {
    stroke: colour,
    "stroke-width": 2,
    "stroke-dasharray": dash.length > 0 ? dash.join(" ") : undefined,
  };
  return (
    element("line", { x1: MARGIN.left, x2: MARGIN.left + 28, y1: top, y2: top, ...stroke }) +
    text(label, { x: MARGIN.left + 36, y: top + 4, fill: theme.ink })
  );
}
