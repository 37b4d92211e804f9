// One dimension: its benchmarks side by side, its curves, and what was seen besides.

import { IntervalChart } from "../charts/interval/IntervalChart";
import type { IntervalModel } from "../charts/interval/interval-svg";
import type { Dimension, MetricReport } from "../contract";
import {
  type Benchmark,
  dimensionName,
  isOfOthers,
  metricOf,
  primary,
  shownMetrics,
} from "../data/model";
import { figure, interval, percent, words } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { CurveCharts } from "./CurveCharts";
import { Fold } from "./Fold";
import { Observations } from "./Observations";
import { CellWarnings } from "./Warnings";

/** Groups of one chart: what is longer than a screen is not compared any more. */
const GROUPS_MOST = 14;

export function DimensionSection({ dimension }: { dimension: Dimension }) {
  const view = useView();
  const own = view.selection.benchmarks.filter(
    (one) => one.dimension === dimension && isOfOthers(view.report, one),
  );
  const single = own.filter((one) => one.curve === null);
  const curves = view.selection.curves.filter((one) => one.dimension === dimension);
  const [first, further] = rowsOf(single);
  const draw = (rows: MetricRow[], isFurther: boolean) =>
    groupsOf(rows).flatMap((group) =>
      chunks(group, GROUPS_MOST).map((some, index, all) => {
        const part = all.length > 1 ? `, part ${index + 1}` : "";
        const model = modelOf(view, some, isFurther, `${dimensionName(dimension)}: `, part);
        return (
          <IntervalChart
            key={`${some[0]?.benchmark.key} ${some[0]?.metric.name}`}
            model={model}
            theme={view.theme}
            file={`${dimension}-${some[0]?.metric.name}${part.replaceAll(/\W+/g, "-")}`}
            summary={summaryOf(some)}
          />
        );
      }),
    );
  return (
    <>
      <CellWarnings cells={own.flatMap((one) => one.cells)} />
      {draw(first, false)}
      {further.length > 0 && (
        <Fold title={`${dimensionName(dimension)}: more figures`}>{() => draw(further, true)}</Fold>
      )}
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

/** One metric of one benchmark. */
interface MetricRow {
  benchmark: Benchmark;
  metric: MetricReport;
}

/** Primary metrics and speed-ups; and the other metrics that are shown. */
function rowsOf(benchmarks: Benchmark[]): [MetricRow[], MetricRow[]] {
  const all = benchmarks.flatMap((benchmark) =>
    shownMetrics(benchmark.cells).map((metric, place) => ({ benchmark, metric, place })),
  );
  const isFirst = (row: (typeof all)[number]) => row.place === 0 || row.metric.name === "speed_up";
  return [all.filter(isFirst), all.filter((row) => !isFirst(row))];
}

/** Rows by what their values are, so that one chart has one unit and one direction. */
function groupsOf(rows: MetricRow[]): MetricRow[][] {
  const groups = new Map<string, MetricRow[]>();
  for (const row of rows) {
    const { unit, better } = row.metric;
    const key = `${unit} ${better} ${row.metric.name === "speed_up"}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

function modelOf(
  view: View,
  rows: MetricRow[],
  isFurther: boolean,
  prefix: string,
  suffix: string,
): IntervalModel {
  const names = [...new Set(rows.map((row) => words(row.metric.name)))];
  const metric = rows[0]?.metric as MetricReport;
  const values = rows.flatMap((row) =>
    row.benchmark.cells.flatMap((cell) => metricOf(cell, row.metric.name)?.median ?? []),
  );
  const isBinary = metric.unit.startsWith("bytes");
  const label = names.length > 2 ? `in ${metric.unit}` : names.join(" and ");
  return {
    title: `${prefix}${label}${suffix}`,
    axis: {
      label: `${label}, ${better(metric)}`,
      // Counts that are 0 somewhere, and differences, have no logarithm.
      kind: values.every((value) => value > 0) ? (isBinary ? "log2" : "log10") : "linear",
      isBinary,
      format: (value, significant = 2) => figure(metric.unit, value, significant),
    },
    groups: rows.map(({ benchmark, metric: own }) => ({
      title:
        isFurther || names.length > 1 ? `${benchmark.title}: ${words(own.name)}` : benchmark.title,
      rows: benchmark.cells.flatMap((cell) => {
        const found = metricOf(cell, own.name);
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
  if (better === "neither") return "neither direction is better";
  return better === "lower" ? "lower is better" : "higher is better";
}

function summaryOf(rows: MetricRow[]): string {
  const level = rows.flatMap((row) =>
    row.benchmark.cells.flatMap((cell) => primary(cell)?.interval?.level ?? []),
  )[0];
  const figures =
    level === undefined
      ? "Medians over blocks; too few blocks for intervals"
      : `Medians over blocks with their ${percent(level)} intervals; hollow dots have none`;
  const metric = rows[0]?.metric;
  return `${figures}; ${metric ? better(metric) : ""}.`;
}

function chunks<T>(items: T[], size: number): T[][] {
  const parts = Math.ceil(items.length / size);
  const each = Math.ceil(items.length / Math.max(1, parts));
  return Array.from({ length: parts }, (_, part) => items.slice(part * each, (part + 1) * each));
}
