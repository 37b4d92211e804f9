// How the targets of one benchmark compare to its best, run by run.

import type { MetricReport } from "../contract";
import { ratio, ratioWithin } from "../format/units";
import { type Benchmark, type CellView, metricOf, primary, type Report } from "./model";
import { type Relative, relativeTo } from "./relative";
import { meaningOf } from "./verdicts";

/** A cell compared to the others of its benchmark. */
export interface Standing {
  cell: CellView;
  metric: MetricReport;
  /** How it compares to the best of its run; null if that is not known. */
  relative: Relative | null;
  /** The one with the best figure, which the others of its run are compared with. */
  isFirst: boolean;
  /** Also certainly better than some other. */
  isBest: boolean;
  /** Cannot be told apart from that one. */
  isAlike: boolean;
}

/** The metric by which targets of a benchmark are compared: the primary one, or a speed-up. */
export function comparedMetric(
  report: Report,
  { name, cells }: Benchmark,
): MetricReport | undefined {
  for (const { side } of cells) {
    const { comparisons } = report.runs[side.run]?.document ?? { comparisons: [] };
    const found = comparisons.find((one) => one.benchmark === name);
    const metric = found && cells.map((cell) => metricOf(cell, found.metric)).find(Boolean);
    if (metric) return metric;
  }
  return cells.map(primary).find(Boolean);
}

/** Cached results, as several sections ask for the same. */
const known = new WeakMap<Benchmark, Standing[]>();

/** All cells that have a figure, in the order of the page. */
export function standings(report: Report, benchmark: Benchmark): Standing[] {
  const found = known.get(benchmark) ?? standingsOf(report, benchmark);
  known.set(benchmark, found);
  return found;
}

function standingsOf(report: Report, benchmark: Benchmark): Standing[] {
  const metric = comparedMetric(report, benchmark);
  if (metric === undefined) return [];
  const runs = [...new Set(benchmark.cells.map(({ side }) => side.run))];
  return runs.flatMap((run) => {
    const own = benchmark.cells.filter(({ side }) => side.run === run);
    const relatives = relativesOf(report, benchmark, run, own, metric);
    const isDecided = relatives.some(isWorse);
    return own.flatMap((cell): Standing[] => {
      const figure = metricOf(cell, metric.name);
      if (figure === undefined) return [];
      const relative = relatives.find(({ target }) => target === cell.side.target) ?? null;
      const isFirst = relative?.isReference ?? false;
      const isAlike = relative !== null && !isFirst && !isWorse(relative);
      return [{ cell, metric: figure, relative, isFirst, isBest: isFirst && isDecided, isAlike }];
    });
  });
}

function isWorse({ verdict, isReference }: Relative): boolean {
  return !isReference && meaningOf(verdict).isDifferent;
}

/** How targets compare to the one with the best figure, as in the sentences. Figures and pairs can
 * put two targets in opposite orders; then the pairs are right. */
function relativesOf(
  report: Report,
  { name }: Benchmark,
  run: number,
  cells: CellView[],
  { name: metric, better }: MetricReport,
): Relative[] {
  if (better === "neither") return [];
  const { comparisons } = report.runs[run]?.document ?? { comparisons: [] };
  const pairs = comparisons.filter((one) => one.benchmark === name);
  const isMore = better === "higher";
  const figures = cells.flatMap((cell) => {
    const value = metricOf(cell, metric)?.figure.value;
    return value === undefined ? [] : [{ target: cell.side.target, value }];
  });
  figures.sort((one, other) => (one.value - other.value) * (isMore ? -1 : 1));
  const targets = cells.map(({ side }) => side.target);
  const to = (target: string) => relativeTo(pairs, targets, target, isMore);
  const first = figures.map(({ target }) => to(target)).find((all) => all.length > 0) ?? [];
  return first.some((one) => isWorse(one) && one.ratio < 1) ? to("") : first;
}

type Said = Pick<MetricReport, "name" | "unit" | "better">;

/** What a slowdown slows, by its name: `code` of `code_slowdown`; null for another metric. */
function slowed({ name, better }: Said): string | null {
  const [what, ...rest] = name.split("_slowdown");
  return rest.length === 0 || better !== "lower" ? null : (what ?? "").replaceAll("_", " ");
}

/** What a target does before a ratio, as in `slows the code 1.3x more`; empty before `slower`. */
export function verb(metric: Said): string {
  const what = slowed(metric);
  return what === null ? "" : `slows the ${what} `;
}

/** What to call a worse figure: `slower` for times and rates. */
export function worse(metric: Said): string {
  const { unit, better } = metric;
  if (slowed(metric) !== null) return "more";
  if (["ns", "s", "operations/s", "bytes/s"].includes(unit)) return "slower";
  return better === "higher" ? "lower" : "larger";
}

/** The ratio of a target to the reference, and its interval if it has one. */
export function saidRelative({ ratio: value, interval }: Relative): {
  value: string;
  interval: string;
} {
  if (interval === null) return { value: ratio(value), interval: "" };
  return ratioWithin(value, interval.low, interval.high);
}
