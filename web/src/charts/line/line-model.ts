// What a line chart shows, independent of how it is drawn: by uPlot on screen, as SVG in files.

import { domainOf, padded, type ScaleKind } from "../scales";

/** A point, with its interval if it has one. */
export interface LinePoint {
  x: number;
  y: number;
  low?: number | undefined;
  high?: number | undefined;
}

export interface LineSeries {
  label: string;
  colour: string;
  dash: readonly number[];
  points: LinePoint[];
  /** A law or a prediction: a line without points, not measured. */
  fitted?: boolean;
  /** Only points, without a line between them. */
  scattered?: boolean;
  /** Each value extends to the next position, as in a histogram. */
  stepped?: boolean;
  /** Left out of the legend, where another series has the same name. */
  unnamed?: boolean;
}

export interface Axis {
  label: string;
  kind: ScaleKind;
  /** For sizes: ticks are at multiples of powers of 2. */
  isBinary?: boolean;
  /** How a value is written at a tick and in a read-out, with this many digits if given. */
  format: (value: number, significant?: number) => string;
  /** The largest possible value, where the axis ends. */
  most?: number | undefined;
}

/** A named vertical line, or a named range of the axis. */
export interface Marker {
  from: number;
  to?: number | undefined;
  label: string;
  colour: string;
}

export interface LineChartModel {
  title: string;
  x: Axis;
  y: Axis;
  series: LineSeries[];
  markers: Marker[];
}

/** The number of rows above a plot for the names of markers. */
export function markerRows({ markers }: LineChartModel): number {
  return Math.min(MARKER_ROWS_MOST, markers.length);
}

const MARKER_ROWS_MOST = 4;
/** The height of such a row. */
export const MARKER_ROW = 13;

/** Arranges names with these starts and widths in rows so that they do not overlap. Returns the row
 * of each. */
export function rowsOf(places: readonly { start: number; width: number }[]): number[] {
  const ends: number[] = [];
  return places.map(({ start, width }) => {
    const free = ends.findIndex((end) => end < start);
    const row = free < 0 ? ends.length : free;
    ends[row] = start + width + 6;
    return row;
  });
}

/** The domain of the x axis, from points and markers. */
export function xDomain({ x, series, markers }: LineChartModel): [number, number] {
  const own = domainOf(
    x.kind,
    series.flatMap((one) => one.points.map((point) => point.x)),
  );
  // Markers far from everything that was measured would squeeze the points together, so leave them
  // out.
  const near = markers
    .flatMap((marker) => [marker.from, marker.to ?? marker.from])
    .filter((value) => (x.kind === "linear" ? false : value > own[0] / 4 && value < own[1] * 4));
  return padded(x.kind, domainOf(x.kind, [...own, ...near]), 0.04);
}

/** The domain of the y axis, from points and their intervals. A linear axis begins at 0 if nothing
 * is below. */
export function yDomain({ y, series }: LineChartModel): [number, number] {
  const values = series.flatMap((one) =>
    one.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]),
  );
  const [low, high] = domainOf(y.kind, values);
  if (y.kind === "linear" && low >= 0) {
    return [0, y.most !== undefined ? y.most * 1.02 : high === 0 ? 1 : high * 1.06];
  }
  return padded(y.kind, [low, high], 0.07);
}

/** The values of all series at common positions, as uPlot wants them: null if there is none, or it
 * is not a number. */
export function aligned(series: LineSeries[]): {
  x: number[];
  columns: { y: (number | null)[]; low: (number | null)[]; high: (number | null)[] }[];
} {
  const x = placesOf(series);
  const at = new Map<number, number>();
  // Backwards, so that the first of several points at one position remains.
  for (let index = x.length - 1; index >= 0; index -= 1) at.set(x[index] as number, index);
  const columns = series.map((one) => {
    const column = () => new Array<number | null>(x.length).fill(null);
    const [y, low, high] = [column(), column(), column()] as const;
    const taken = new Map<number, number>();
    for (const point of one.points) {
      const before = taken.get(point.x) ?? 0;
      taken.set(point.x, before + 1);
      const index = (at.get(point.x) as number) + before;
      y[index] = finite(point.y);
      low[index] = finite(point.low);
      high[index] = finite(point.high);
    }
    return { y, low, high };
  });
  return { x, columns };
}

/** The positions at which any series has points, in ascending order. Each is repeated as often as
 * in the series with most points there, so that replicates do not hide each other. */
function placesOf(series: LineSeries[]): number[] {
  const most = new Map<number, number>();
  for (const { points } of series) {
    const own = new Map<number, number>();
    for (const { x } of points) own.set(x, (own.get(x) ?? 0) + 1);
    for (const [x, times] of own) most.set(x, Math.max(times, most.get(x) ?? 0));
  }
  const places = [...most].flatMap(([x, times]) => new Array<number>(times).fill(x));
  return places.sort((one, other) => one - other);
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
