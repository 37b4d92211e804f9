// One dimension: its benchmarks relative to the best of each, its curves, and other observations.

import { useCallback, useMemo } from "preact/hooks";
import { measured, ofUnit, type Table } from "../charts/frame";
import { IntervalChart } from "../charts/interval/IntervalChart";
import type { IntervalModel } from "../charts/interval/interval-svg";
import { RelativeChart } from "../charts/relative/RelativeChart";
import type { RelativeCell, RelativeModel } from "../charts/relative/relative-svg";
import type { Dimension, MetricReport } from "../contract";
import {
  type Benchmark,
  dimensionName,
  isOfOthers,
  metricOf,
  primary,
  type Report,
  shownMetrics,
} from "../data/model";
import { type Standing, saidRelative, standings, verb, worse } from "../data/standing";
import { count, figure, figureWithin, percent, pValue, ratio, words } from "../format/units";
import { colourOf, useView, type View } from "../view";
import { CurveCharts } from "./CurveCharts";
import { Fold } from "./Fold";
import { Observations } from "./Observations";
import { Planes } from "./Planes";
import { CellWarnings } from "./Warnings";

/** The most groups in one chart: nobody compares what is longer than a screen. */
const GROUPS_MOST = 14;

export function DimensionSection({ dimension }: { dimension: Dimension }) {
  const view = useView();
  const own = view.selection.benchmarks.filter(
    (one) => one.dimension === dimension && isOfOthers(view.report, one),
  );
  const single = own.filter((one) => one.curve === null);
  const curves = view.selection.curves.filter((one) => one.dimension === dimension);
  const name = dimensionName(dimension);
  return (
    <>
      <CellWarnings cells={own.flatMap((one) => one.cells)} />
      {single.length > 0 && <Beside benchmarks={single} name={name} file={dimension} />}
      {single.length > 0 && (
        <Fold title="On absolute axes, and other metrics">
          {() => <AbsoluteCharts benchmarks={single} dimension={dimension} />}
        </Fold>
      )}
      <Planes curves={curves} />
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

/** All benchmarks of a dimension in one chart, relative to the best of each. */
function Beside(props: { benchmarks: Benchmark[]; name: string; file: string }) {
  const view = useView();
  const { benchmarks, name, file } = props;
  const { report, selection, theme, go } = view;
  const model = useMemo(
    () => relativeModel(view, benchmarks, `${name}: cost relative to the best`),
    [report, selection, theme],
  );
  const onRow = useCallback(
    (key: string) => go({ section: "distribution", benchmark: key, dimension: null }),
    [go],
  );
  const level = report.runs[0]?.document.run.confidence_level ?? 0.95;
  return (
    <RelativeChart
      model={model}
      theme={theme}
      file={`${file}-relative`}
      summary={`1×: the best figure, green where another is worse for certain. Hollow: cannot be told apart from it (≈), or may be worse by chance alone (?). Bars: ${percent(level)} intervals of the ratio, paired by block. Figures: means per operation, the median over blocks, adjusted so that dividing one by another gives their ratio.`}
      table={() => besideTable(report, benchmarks)}
      onRow={onRow}
    />
  );
}

function relativeModel(view: View, benchmarks: Benchmark[], title: string): RelativeModel {
  const { report, selection, theme } = view;
  const columns = selection.sides
    .filter((side) => benchmarks.some((one) => one.cells.some((cell) => cell.side === side)))
    .map((side) => ({
      side,
      label: side.label,
      colour: colourOf(theme, side),
      mark: side.index,
    }));
  const rows = benchmarks.map((benchmark) => {
    const all = standings(report, benchmark);
    const metric = all[0]?.metric;
    const isSpeedUp = metric?.name === "speed_up";
    return {
      key: benchmark.key,
      title: isSpeedUp ? `${benchmark.title}: speed-up` : benchmark.title,
      cells: columns.map(({ side, colour }) => {
        const found = all.find(({ cell }) => cell.side === side);
        return found ? relativeCell(found, colour) : null;
      }),
    };
  });
  return { title, columns, rows };
}

function relativeCell(standing: Standing, colour: string): RelativeCell {
  const { cell, metric, relative, isFirst, isBest, isAlike } = standing;
  const { unit, figure: own } = metric;
  const [said, within] = figureWithin(unit, own.value, own.interval);
  return {
    label: cell.side.label,
    colour,
    mark: cell.side.index,
    said,
    interval: within,
    ratio: relative?.ratio ?? null,
    low: relative?.interval?.low,
    high: relative?.interval?.high,
    shortRatio: relative === null ? "" : saidRelative(relative).value,
    ratioInterval: relative === null ? "" : saidRelative(relative).interval,
    saidRatio: saidRatio(standing),
    isFirst,
    isBest,
    isAlike,
  };
}

function saidRatio({ metric, relative, isFirst, isBest, isAlike }: Standing): string {
  if (metric.better === "neither") return "";
  if (relative === null) return "not compared: too few common blocks";
  if (isFirst) return isBest ? "the best" : "the best figure, but not for certain";
  const { p, blocks } = relative;
  const said = saidRelative(relative);
  const known = [...(p === null ? [] : [pValue(p)]), `${count(blocks)} blocks`].join(", ");
  const verdict = isAlike ? "cannot be told apart" : worse(metric);
  const begin = isAlike ? "" : verb(metric);
  return `${begin}${said.value} ${said.interval} ${verdict}, ${known}`;
}

function besideTable(report: Report, benchmarks: Benchmark[]): Table {
  return {
    head: [
      "benchmark",
      "target",
      "metric",
      "figure",
      "low",
      "high",
      "over the best",
      "ratio low",
      "ratio high",
      "p adjusted",
    ],
    rows: benchmarks.flatMap((benchmark) =>
      standings(report, benchmark).map(({ cell, metric, relative }) => [
        benchmark.title,
        cell.side.label,
        words(metric.name),
        ofUnit(metric.unit, metric.figure.value),
        ofUnit(metric.unit, metric.figure.interval?.low),
        ofUnit(metric.unit, metric.figure.interval?.high),
        measured(relative?.ratio, ratio),
        measured(relative?.interval?.low, ratio),
        measured(relative?.interval?.high, ratio),
        measured(relative?.p, pValue),
      ]),
    ),
  };
}

/** Figures in their own units, in a chart for each. */
function AbsoluteCharts(props: { benchmarks: Benchmark[]; dimension: Dimension }) {
  const view = useView();
  const { benchmarks, dimension } = props;
  const [first, further] = rowsOf(benchmarks);
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
      {draw(first, false)}
      {draw(further, true)}
    </>
  );
}

/** One metric of one benchmark. */
interface MetricRow {
  benchmark: Benchmark;
  metric: MetricReport;
}

/** Primary metrics and speed-ups, then the other metrics that are shown. */
function rowsOf(benchmarks: Benchmark[]): [MetricRow[], MetricRow[]] {
  const all = benchmarks.flatMap((benchmark) =>
    shownMetrics(benchmark.cells).map((metric, place) => ({ benchmark, metric, place })),
  );
  const isFirst = (row: (typeof all)[number]) => row.place === 0 || row.metric.name === "speed_up";
  return [all.filter(isFirst), all.filter((row) => !isFirst(row))];
}

/** Groups rows by what their values are, so that each chart has one unit and one direction. */
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
    row.benchmark.cells.flatMap((cell) => metricOf(cell, row.metric.name)?.figure.value ?? []),
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
          value: found.figure.value,
          low: found.figure.interval?.low,
          high: found.figure.interval?.high,
          said: saidOf(found),
          hollow: found.figure.interval == null,
        };
      }),
    })),
    reference: metric.name === "speed_up" ? 1 : undefined,
  };
}

function saidOf({ unit, figure: own }: MetricReport): string {
  return figureWithin(unit, own.value, own.interval).join(" ").trim();
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
