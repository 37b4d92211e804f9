// The runs of a page as one set of cells: by side (a target of a run), benchmark and curve.

import type {
  CellReport,
  CurvePoint,
  Dimension,
  Document,
  MetricReport,
  PageCell,
  PageRun,
  Payload,
  TargetRecord,
} from "../contract";
import type { Decoded } from "./payload";

/** A target of one run: what is drawn in one colour. */
export interface Side {
  index: number;
  run: number;
  target: string;
  /** The target's label, with the run's name if there are several runs. */
  label: string;
  record: TargetRecord;
}

/** A cell with everything that the page knows about it. */
export interface CellView {
  side: Side;
  report: CellReport;
  page: PageCell;
}

/** One benchmark on all sides. */
export interface Benchmark {
  /** A unique key: suite and name. */
  key: string;
  name: string;
  title: string;
  dimension: Dimension;
  curve: CurvePoint | null;
  cells: CellView[];
}

/** One curve: benchmarks that differ in one parameter. */
export interface Curve {
  key: string;
  name: string;
  title: string;
  axis: string;
  unit: string;
  dimension: Dimension;
  benchmarks: Benchmark[];
}

/** A run of the page. */
export interface RunView {
  page: PageRun;
  document: Document;
}

/** Whether a run is a search for cliffs: its cells are probes, which are not compared with
 * anything. */
export function isSearch({ document }: RunView): boolean {
  return (document.searches ?? []).length > 0;
}

/** Everything that is shown. */
export interface Report {
  payload: Payload;
  block: ArrayBuffer;
  runs: RunView[];
  sides: Side[];
  benchmarks: Benchmark[];
  curves: Curve[];
  dimensions: Dimension[];
}

/** Dimensions in the order of the report, with readable names. */
export const DIMENSIONS: readonly [Dimension, string][] = [
  ["io", "I/O"],
  ["on-disk-layout", "On-disk layout"],
  ["in-memory", "In memory"],
  ["caching", "Caching"],
  ["metadata", "Metadata"],
  ["scaling", "Scaling"],
  ["cpu-footprint", "CPU footprint"],
  ["pollution", "Pollution"],
];

/** The readable name of a dimension. */
export function dimensionName(dimension: Dimension): string {
  return DIMENSIONS.find(([name]) => name === dimension)?.[1] ?? dimension;
}

/** Combines the runs of a page. */
export function reportOf({ payload, documents, block }: Decoded): Report {
  const runs = payload.runs.map((page, index) => ({
    page,
    document: documents[index] as Document,
  }));
  const sides = runs.flatMap(({ page, document }, run) =>
    document.targets.map((record) => ({
      index: 0,
      run,
      target: record.label,
      label: runs.length > 1 ? `${record.label} · ${page.name}` : record.label,
      record,
    })),
  );
  sides.forEach((side, index) => {
    side.index = index;
  });
  const benchmarks = benchmarksOf(runs, sides);
  const present = new Set(benchmarks.map((benchmark) => benchmark.dimension));
  return {
    payload,
    block,
    runs,
    sides,
    benchmarks,
    curves: curvesOf(benchmarks),
    dimensions: DIMENSIONS.map(([name]) => name).filter((name) => present.has(name)),
  };
}

function benchmarksOf(runs: RunView[], sides: Side[]): Benchmark[] {
  const found = new Map<string, Benchmark>();
  runs.forEach(({ page, document }, run) => {
    document.cells.forEach((report, index) => {
      const side = sides.find((one) => one.run === run && one.target === report.target);
      if (side === undefined) return;
      const key = `${report.suite}/${report.benchmark}`;
      let benchmark = found.get(key);
      if (benchmark === undefined) {
        const { benchmark: name, title, dimension, curve = null } = report;
        benchmark = { key, name, title, dimension, curve, cells: [] };
        found.set(key, benchmark);
      }
      benchmark.cells.push({ side, report, page: page.cells[index] ?? {} });
    });
  });
  return [...found.values()];
}

function curvesOf(benchmarks: Benchmark[]): Curve[] {
  const found = new Map<string, Curve>();
  for (const benchmark of benchmarks) {
    const point = benchmark.curve;
    if (point === null) continue;
    const suite = benchmark.key.slice(0, -benchmark.name.length - 1);
    const key = `${suite}/${point.curve}`;
    let curve = found.get(key);
    if (curve === undefined) {
      const { curve: name, title, axis, unit } = point;
      curve = { key, name, title, axis, unit, dimension: benchmark.dimension, benchmarks: [] };
      found.set(key, curve);
    }
    curve.benchmarks.push(benchmark);
  }
  for (const curve of found.values()) {
    curve.benchmarks.sort((one, other) => (one.curve?.value ?? 0) - (other.curve?.value ?? 0));
  }
  return [...found.values()];
}

/** Whether a run other than a search for cliffs has it; probes have their own section. */
export function isOfOthers(report: Report, { cells }: Benchmark): boolean {
  return cells.some(({ side }) => !isSearch(report.runs[side.run] as RunView));
}

/** The primary metric of a cell, if it has any. */
export function primary(cell: CellView): MetricReport | undefined {
  return cell.report.metrics[0];
}

/** A metric of a cell by its name. */
export function metricOf(cell: CellView, name: string): MetricReport | undefined {
  return cell.report.metrics.find((metric) => metric.name === name);
}

const DERIVED = new Set([
  "time_per_operation",
  "time_per_kib",
  "throughput",
  "bandwidth",
  "speed_up",
]);

/** The metrics of cells to show: the primary one, speed-ups, and those that do not follow from the
 * time of an operation. */
export function shownMetrics(cells: CellView[]): MetricReport[] {
  const shown: MetricReport[] = [];
  for (const cell of cells) {
    cell.report.metrics.forEach((metric, index) => {
      const isNew = shown.every((other) => other.name !== metric.name);
      if (isNew && (index === 0 || metric.name === "speed_up" || !DERIVED.has(metric.name))) {
        shown.push(metric);
      }
    });
  }
  return shown;
}
