// One dimension: its benchmarks side by side, its curves, and what was seen besides.

import { IntervalChart } from "../charts/IntervalChart";
import type { IntervalModel } from "../charts/interval-svg";
import type { Dimension, MetricReport } from "../contract";
import { type Benchmark, dimensionName, metricOf, primary, shownMetrics } from "../data/model";
import { figure, interval, words } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { CurveCharts } from "./CurveCharts";
import { Observations } from "./Observations";
import { CellWarnings } from "./Warnings";

/** Groups of one chart: what is longer than a screen is not compared any more. */
const GROUPS_MOST = 14;

export function DimensionSection({ dimension }: { dimension: Dimension }) {
  const view = useView();
  const own = view.selection.benchmarks.filter((one) => one.dimension === dimension);
  const single = own.filter((one) => one.curve === null);
  const curves = view.selection.curves.filter((one) => one.dimension === dimension);
  const charts = metricGroups(single).flatMap(({ metric, benchmarks }) =>
    chunks(benchmarks, GROUPS_MOST).map((some, index, all) => (
      <IntervalChart
        key={`${metric.name}-${metric.unit}-${index}`}
        model={modelOf(view, dimension, metric, some, all.length > 1 ? index + 1 : 0)}
        theme={view.theme}
        file={`${dimension}-${metric.name}`}
        summary={summaryOf(metric, some)}
      />
    )),
  );
  return (
    <>
      <CellWarnings cells={own.flatMap((one) => one.cells)} />
      {charts}
      {curves.length > 0 && (
        <div class="pair">
          {curves.map((curve) => (
            <CurveCharts key={curve.key} curve={curve} />
          ))}
        </div>
      )}
      <Observations benchmarks={own} />
    </>
  );
}

/** Benchmarks by the metrics that are shown of them, so that one chart has one unit. */
function metricGroups(benchmarks: Benchmark[]) {
  const groups = new Map<string, { metric: MetricReport; benchmarks: Benchmark[] }>();
  for (const benchmark of benchmarks) {
    for (const metric of shownMetrics(benchmark.cells)) {
      const key = `${metric.name} ${metric.unit}`;
      const group = groups.get(key) ?? { metric, benchmarks: [] };
      group.benchmarks.push(benchmark);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function modelOf(
  view: View,
  dimension: Dimension,
  metric: MetricReport,
  benchmarks: Benchmark[],
  part: number,
): IntervalModel {
  const values = benchmarks.flatMap((one) =>
    one.cells.flatMap((cell) => metricOf(cell, metric.name)?.median ?? []),
  );
  const suffix = part > 0 ? `, part ${part}` : "";
  return {
    title: `${dimensionName(dimension)}: ${words(metric.name)}${suffix}`,
    axis: {
      label: `${words(metric.name)}, ${better(metric)}`,
      // Counts that are 0 somewhere, and differences, have no logarithm.
      kind: values.every((value) => value > 0) ? "log10" : "linear",
      format: (value) => figure(metric.unit, value, 2),
    },
    groups: benchmarks.map((benchmark) => ({
      title: benchmark.title,
      rows: benchmark.cells.flatMap((cell) => {
        const found = metricOf(cell, metric.name);
        if (found === undefined) return [];
        return {
          label: cell.side.label,
          colour: colourOf(view.theme, cell.side),
          value: found.median,
          low: found.interval?.low,
          high: found.interval?.high,
          said: saidOf(found),
          hollow: found.interval == null,
        };
      }),
    })),
    reference: metric.name === "speed_up" ? 1 : undefined,
  };
}

function saidOf({ unit, median, interval: range }: MetricReport): string {
  const own = figure(unit, median);
  return range == null ? own : `${own} ${interval(unit, median, range.low, range.high)}`;
}

export function better({ better }: MetricReport): string {
  if (better === "neither") return "neither end is better";
  return better === "lower" ? "less is better" : "more is better";
}

function summaryOf(metric: MetricReport, benchmarks: Benchmark[]): string {
  const level = benchmarks.flatMap((one) =>
    one.cells.flatMap((cell) => primary(cell)?.interval?.level ?? []),
  )[0];
  const ends =
    level === undefined
      ? "Too few blocks for intervals"
      : `Medians over blocks with their ${(level * 100).toFixed(0)} % intervals`;
  return `${ends} of ${words(metric.name)} on ${benchmarks.length} benchmarks; ${better(metric)}. Hollow: no interval.`;
}

function chunks<T>(items: T[], size: number): T[][] {
  const parts = Math.ceil(items.length / size);
  const each = Math.ceil(items.length / Math.max(1, parts));
  return Array.from({ length: parts }, (_, part) => items.slice(part * each, (part + 1) * each));
}
