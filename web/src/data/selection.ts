// What is shown: the report without what the address filters out.

import type { Said } from "../contract";
import type { Benchmark, CellView, Curve, Report, Side } from "./model";
import type { Route } from "./route";

/** The parts of a report that are shown. */
export interface Selection {
  sides: Side[];
  /** Benchmarks with the cells of these sides, including those that are points of curves. */
  benchmarks: Benchmark[];
  curves: Curve[];
  /** Whether a sentence about a run is about something that is shown. */
  isShown: (run: number, said: Said) => boolean;
}

/** A route, reduced to what the report knows. An address can be from another report, or typed: what
 * does not exist here must neither empty the page nor leave the filters blank. */
export function known(report: Report, route: Route): Route {
  const labels = new Set(report.sides.map((side) => side.label));
  const named = [...report.benchmarks, ...report.curves].find(({ key }) => key === route.benchmark);
  const dimension = report.dimensions.find((name) => name === route.dimension) ?? null;
  return {
    section: route.section,
    targets: route.targets.filter((label) => labels.has(label)),
    // A benchmark takes precedence over a dimension that it does not belong to.
    dimension: named !== undefined && named.dimension !== dimension ? null : dimension,
    benchmark: named?.key ?? null,
    // Parts that do not exist here become the first of their kind: see footprint.ts.
    footprint: route.footprint,
  };
}

export function select(report: Report, route: Route): Selection {
  const wanted = new Set(route.targets);
  const all = report.sides.every((side) => !wanted.has(side.label));
  const sides = all ? report.sides : report.sides.filter((side) => wanted.has(side.label));
  const shownSides = new Set(sides);
  // The benchmark being looked at does not hide the others: going back shows the page as it was.
  const fits = (benchmark: Benchmark) =>
    route.dimension === null || benchmark.dimension === route.dimension;
  const benchmarks = report.benchmarks
    .filter(fits)
    .map((benchmark) => ({ ...benchmark, cells: shownCells(benchmark, shownSides) }))
    .filter((benchmark) => benchmark.cells.length > 0);
  const shown = new Map(benchmarks.map((benchmark) => [benchmark.key, benchmark]));
  const curves = report.curves
    .map((one) => ({
      ...one,
      benchmarks: one.benchmarks.flatMap((benchmark) => shown.get(benchmark.key) ?? []),
    }))
    .filter((one) => one.benchmarks.length > 0);
  const names = new Set([
    ...benchmarks.map((benchmark) => benchmark.name),
    ...curves.map((one) => one.name),
  ]);
  const isShown = (run: number, said: Said) =>
    (said.dimension == null || route.dimension === null || said.dimension === route.dimension) &&
    (said.subject == null || said.dimension == null || names.has(said.subject)) &&
    (said.targets.length === 0 ||
      sides.some((side) => side.run === run && said.targets.includes(side.target)));
  return { sides, benchmarks, curves, isShown };
}

function shownCells(benchmark: Benchmark, sides: Set<Side>): CellView[] {
  return benchmark.cells.filter((cell) => sides.has(cell.side));
}
