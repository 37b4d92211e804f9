// The histogram over time, in the form that heat maps and surfaces take: log2 buckets of latency
// over slices of time.

import { count as counted, figure, nanoseconds, trimmed } from "../format/units";
import { linearTicks, type Tick } from "./axes";
import type { CellAxis, Matrix } from "./heatmap/heatmap";

/** The contract's timeline with its array decoded. */
export interface Timeline {
  slice_ns: number;
  slices: number;
  log2_first: number;
  rows: number;
  /** Operations, row by row, and slice by slice within a row. */
  count: Float64Array;
}

const NS_PER_S = 1e9;

/** The axis of time since the replicate began, in slices. */
export function timeAxis({ slice_ns, slices }: Timeline): CellAxis {
  const seconds = (slice: number) => (slice * slice_ns) / NS_PER_S;
  const ticks = linearTicks(seconds(slices), 8).map((at) => ({
    at: (at * NS_PER_S) / slice_ns,
    text: trimmed(figure("s", at)),
  }));
  const cell = (slice: number) =>
    `${figure("s", seconds(slice))} to ${figure("s", seconds(slice + 1))}`;
  return { label: "time since the replicate began", cells: slices, ticks, cell };
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 2 to this power, as people write it. */
export function powerOfTwo(exponent: number): string {
  return `2${[...String(exponent)].map((digit) => SUPERSCRIPTS[Number(digit)]).join("")}`;
}

/** The axis of buckets, each from a power of 2 to the next. Ticks are at round times between their
 * limits. */
export function latencyAxis({ log2_first, rows }: Timeline): CellAxis {
  const ticks: Tick[] = [];
  for (let power = 0; power <= 12; power += 1) {
    const at = Math.log2(10 ** power) - log2_first;
    if (at >= 0 && at <= rows) ticks.push({ at, text: trimmed(nanoseconds(10 ** power)) });
  }
  const otherTicks = Array.from({ length: rows + 1 }, (_, row) => row)
    .filter((row) => (row + log2_first) % 4 === 0)
    .map((row) => ({ at: row, text: powerOfTwo(row + log2_first) }));
  const cell = (row: number) => {
    const low = 2 ** (row + log2_first);
    return `${nanoseconds(low)} to ${nanoseconds(low * 2)}`;
  };
  return { label: "latency, in buckets of 2ⁿ ns", cells: rows, ticks, otherTicks, cell };
}

/** Each count as a share of its slice's operations; 0 if a slice has none. */
export function sharesOf({ count, slices, rows }: Timeline): Float64Array {
  const shares = new Float64Array(count.length);
  for (let slice = 0; slice < slices; slice += 1) {
    let sum = 0;
    for (let row = 0; row < rows; row += 1) sum += count[row * slices + slice] ?? 0;
    if (sum === 0) continue;
    for (let row = 0; row < rows; row += 1) {
      const at = row * slices + slice;
      shares[at] = (count[at] ?? 0) / sum;
    }
  }
  return shares;
}

/** The share of each slice's operations in each bucket. */
export function timelineMatrix(timeline: Timeline): Matrix {
  const [columns, rows] = [timeAxis(timeline), latencyAxis(timeline)];
  return { columns, rows, values: sharesOf(timeline) };
}

/** A sentence about how many operations there were, and the fullest bucket at the start and the
 * end. */
export function timelineSummary(timeline: Timeline): string {
  const { slices, rows, count, log2_first, slice_ns } = timeline;
  const peak = (slice: number) => {
    let best = 0;
    for (let row = 1; row < rows; row += 1) {
      if ((count[row * slices + slice] ?? 0) > (count[best * slices + slice] ?? 0)) best = row;
    }
    return nanoseconds(2 ** (best + log2_first));
  };
  const sum = count.reduce((total, value) => total + value, 0);
  if (sum === 0) return "No operation was recorded.";
  const span = figure("s", (slices * slice_ns) / NS_PER_S);
  return (
    `${counted(sum)} operations in ${slices} time slices over ${span}: the fullest bucket ` +
    `of the first slice begins at ${peak(0)}, that of the last at ${peak(slices - 1)}.`
  );
}
