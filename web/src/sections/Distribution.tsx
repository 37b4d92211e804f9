// A benchmark down to single operations: their histogram, their cumulative shares and their tail,
// with a common cursor and zoom; how they develop from the beginning of a replicate, with all
// targets in one chart; and the histogram over time, in 2-D and as a surface that can be turned.

import { useMemo } from "preact/hooks";
import { ChartFrame, ofUnit } from "../charts/frame";
import { LineChart } from "../charts/line/LineChart";
import type { LineChartModel } from "../charts/line/line-model";
import { Scrolling } from "../charts/scrolling";
import type { CacheState, MetricReport, Percentile } from "../contract";
import type { Benchmark, CellView } from "../data/model";
import { floats } from "../data/payload";
import { standings } from "../data/standing";
import {
  count,
  figure,
  figureWithin,
  interval,
  NO_FIGURE,
  nanoseconds,
  typeset,
  words,
} from "../format/units";
import { colourOf, dashOf, useView, type View } from "../view";
import { CourseChart } from "./CourseChart";
import { Fold } from "./Fold";
import { HistogramOverTime } from "./HistogramOverTime";
import { coarse, cumulative, fine, type Shares, tail } from "./histogram";
import { CellWarnings } from "./Warnings";

/** Whether its operations were timed one by one. */
export function hasOperations(benchmark: Benchmark): boolean {
  return benchmark.cells.some((cell) => cell.page.histogram);
}

/** Sentences about a benchmark. */
function sentencesOn({ report, selection }: View, benchmark: Benchmark): string[] {
  return report.runs.flatMap(({ page }, run) =>
    page.prose
      .filter((one) => one.subject === benchmark.name && selection.isShown(run, one))
      .map(({ text }) => (report.runs.length > 1 ? `${page.name}: ${text}` : text)),
  );
}

export function Distribution() {
  const view = useView();
  const { report, selection, route, go } = view;
  const offered = report.benchmarks.filter(
    (one) => hasOperations(one) && (route.dimension === null || one.dimension === route.dimension),
  );
  const drawn = selection.benchmarks.filter(hasOperations);
  const chosen = drawn.find((one) => one.key === route.benchmark) ?? drawn[0];
  if (chosen === undefined) return <p>No single operations were timed.</p>;
  return (
    <>
      <label class="inline">
        Benchmark
        <select
          value={chosen.key}
          onChange={(event) =>
            go({ section: "distribution", benchmark: event.currentTarget.value })
          }
        >
          {offered.map((benchmark) => (
            <option key={benchmark.key} value={benchmark.key}>
              {benchmark.title}
            </option>
          ))}
        </select>
      </label>
      {sentencesOn(view, chosen).map((text) => (
        <p key={text} class="also">
          {typeset(text)}
        </p>
      ))}
      <CellWarnings cells={chosen.cells} />
      <Figures benchmark={chosen} />
      <Fold title="Other metrics">{() => <Figures benchmark={chosen} isOther />}</Fold>
      <div class="pair">
        <HistogramChart view={view} benchmark={chosen} kind="fine" />
        <HistogramChart view={view} benchmark={chosen} kind="cumulative" />
      </div>
      <HistogramChart view={view} benchmark={chosen} kind="tail" />
      <Fold title="Histogram with a bar for each factor of 2">
        {() => <HistogramChart view={view} benchmark={chosen} kind="log2" />}
      </Fold>
      <Fold title="How it developed within a replicate">
        {() => (
          <>
            <CourseChart benchmark={chosen} />
            <RateChart view={view} benchmark={chosen} />
          </>
        )}
      </Fold>
      <Fold title="Histogram over time">{() => <HistogramOverTime benchmark={chosen} />}</Fold>
    </>
  );
}

/** Whether it is the primary metric, a speed-up, or has its own percentiles. */
function isMain({ name, percentiles }: MetricReport, place: number): boolean {
  return place === 0 || name === "speed_up" || percentiles.length > 0;
}

/** Every metric of every target, with its interval and percentiles. */
function Figures({ benchmark, isOther = false }: { benchmark: Benchmark; isOther?: boolean }) {
  const { report } = useView();
  const best = standings(report, benchmark).filter((one) => one.isBest);
  const isBest = (cell: CellView, metric: MetricReport) =>
    best.some((one) => one.cell === cell && one.metric === metric);
  const rows = benchmark.cells.flatMap((cell) =>
    cell.report.metrics
      .filter((metric, place) => isOther !== isMain(metric, place))
      .map((metric) => ({ cell, metric })),
  );
  const percentiles = [
    ...new Set(rows.flatMap(({ metric }) => metric.percentiles.map((one) => one.percentile))),
  ].sort((one, other) => one - other);
  return (
    <ChartFrame
      title={`${benchmark.title}: ${isOther ? "other metrics" : "figures"}`}
      file={`${benchmark.name}-${isOther ? "metrics" : "figures"}`}
      summary={
        isOther
          ? "As the figures above."
          : `${stateOf(benchmark)}. A block's value is the mean over its operations; what stands here is the median of those, which a few long operations pull up, adjusted so that dividing one target's by another's gives their ratio, which compares them block by block. Percentiles are of single operations: the median over blocks of each block's percentile. Bold: the best. Those marked * are taken over all operations together, because at least one block has too few; compare them only with others marked *. Hover over a percentile for its interval.`
      }
      table={() => ({
        head: [
          "target",
          "metric",
          "unit",
          "figure",
          "low",
          "high",
          "median over blocks",
          "mean over blocks",
          "replicates",
        ],
        rows: rows.map(({ cell, metric }) => [
          cell.side.label,
          metric.name,
          metric.unit,
          ofUnit(metric.unit, metric.figure.value),
          ofUnit(metric.unit, metric.figure.interval?.low),
          ofUnit(metric.unit, metric.figure.interval?.high),
          ofUnit(metric.unit, metric.median),
          ofUnit(metric.unit, metric.mean),
          metric.values.length,
        ]),
      })}
    >
      <Scrolling label={`Figures of ${benchmark.title}`}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col" rowspan={2}>
                Target
              </th>
              <th scope="col" rowspan={2}>
                Metric
              </th>
              <th scope="colgroup" colspan={2} class="group">
                Means of blocks
              </th>
              {percentiles.length > 0 && (
                <th scope="colgroup" colspan={percentiles.length} class="group">
                  Single operations
                </th>
              )}
            </tr>
            <tr>
              <th scope="col">figure</th>
              <th scope="col">its interval</th>
              {percentiles.map((percentile) => (
                <th key={percentile} scope="col">
                  p{percentile}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cell, metric }) => {
              const { unit, figure: own } = metric;
              const [said, range] = figureWithin(unit, own.value, own.interval);
              // In words, an interval leaves out the unit of its figure, but here there is a column
              // between them.
              const [inUnit = ""] = said.match(/\s.*$/) ?? [];
              const isTheBest = said !== NO_FIGURE && isBest(cell, metric);
              return (
                <tr key={`${cell.side.label} ${metric.name}`}>
                  <th scope="row">{cell.side.label}</th>
                  <td>{words(metric.name)}</td>
                  <td class={`number${isTheBest ? " best" : ""}`}>
                    {said}
                    {isTheBest && <span class="hidden"> (the best)</span>}
                  </td>
                  <td class="number">{range === "" ? "–" : `${range}${inUnit}`}</td>
                  {percentiles.map((percentile) => {
                    const found = metric.percentiles.find((one) => one.percentile === percentile);
                    return (
                      <td key={percentile} class="number" title={within(metric.unit, found)}>
                        {found && figure(metric.unit, found.value)}
                        {found?.of === "all-operations" && "*"}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scrolling>
    </ChartFrame>
  );
}

/** A percentile's interval, or how many operations it would take. */
function within(unit: string, found: Percentile | undefined): string | undefined {
  if (found?.interval != null) {
    return interval(unit, found.value, found.interval.low, found.interval.high);
  }
  const needed = found?.operations_needed;
  return needed == null ? undefined : `an interval takes ${count(needed)} operations`;
}

/** What a cache state says about the replicates that count. */
const CACHE_STATES: Record<CacheState, string> = {
  cold: "cold, verified",
  warm: "warm, verified",
  steady: "whatever the operations maintain, recorded with each replicate",
  any: "none requested",
};

function stateOf({ cells }: Benchmark): string {
  const [first] = cells;
  if (first === undefined) return "";
  const operations = cells.reduce((sum, cell) => sum + cell.report.operations, 0);
  const replicates = Math.max(...cells.map((cell) => cell.report.replicates));
  const discarded = cells.reduce((sum, cell) => sum + cell.report.discarded, 0);
  const noun = discarded === 1 ? "replicate" : "replicates";
  const thrown = discarded > 0 ? `, ${count(discarded)} ${noun} thrown away` : "";
  return `Cache state: ${CACHE_STATES[first.report.cache_state]}. ${count(operations)} operations in up to ${replicates} replicates per target${thrown}`;
}

/** A way to draw a histogram. */
interface HistogramKind {
  title: string;
  /** Suffix of the file name. */
  file: string;
  axis: string;
  summary: string;
  /** Whether shares are on a logarithmic axis. */
  isLogarithmic?: boolean;
  /** The largest possible share. */
  most?: number;
  of: (low: Float64Array, end: Float64Array, counts: Float64Array) => Shares;
}

const KINDS = {
  log2: {
    title: "histogram, log2",
    file: "histogram-log2",
    axis: "share of operations",
    summary: "Share of single operations within each factor of 2 of latency.",
    of: coarse,
  },
  fine: {
    title: "histogram",
    file: "histogram-fine",
    axis: "share of operations per bin",
    summary:
      "The share of single operations in each bin of latency. A bin is 3 % wide (24 to a factor of 2); together they make 100 %.",
    of: fine,
  },
  cumulative: {
    title: "cumulative shares",
    file: "cumulative",
    axis: "share that took at most this",
    most: 1,
    summary:
      "The share of single operations that took at most as long (CDF): p50 is where a line crosses 50 %. Cursor and zoom are those of the histogram beside it.",
    of: cumulative,
  },
  tail: {
    title: "tail",
    file: "tail",
    axis: "share that took longer",
    summary:
      "The share of single operations that took longer (1 − p), both axes logarithmic: p50 is where a line crosses 50 %, p99 where it crosses 1 %, and each line ends at the longest operation. Few long operations, which make a mean, stand far to the right. Cursor and zoom are those of the histogram.",
    isLogarithmic: true,
    of: tail,
  },
} satisfies Record<string, HistogramKind>;

interface HistogramChartProps {
  view: View;
  benchmark: Benchmark;
  kind: keyof typeof KINDS;
}

function HistogramChart({ view, benchmark, kind }: HistogramChartProps) {
  const { title, file, axis, summary, isLogarithmic, most, of }: HistogramKind = KINDS[kind];
  const { report, theme } = view;
  const model = useMemo((): LineChartModel => {
    const series = benchmark.cells.flatMap((cell) => {
      const arrays = cell.page.histogram;
      if (arrays == null) return [];
      const read = (ref: typeof arrays.low_ns) => floats(report.block, ref);
      const shares = of(read(arrays.low_ns), read(arrays.end_ns), read(arrays.count));
      return [
        {
          label: cell.side.label,
          colour: colourOf(theme, cell.side),
          dash: dashOf(cell.side),
          points: shares.map(([x, y]) => ({ x, y })),
          stepped: true,
        },
      ];
    });
    return {
      title: `${benchmark.title}: ${title}`,
      x: { label: "latency", kind: "log10", format: nanoseconds },
      y: {
        label: axis,
        kind: isLogarithmic ? "log10" : "linear",
        format: isLogarithmic
          ? (value) => `${Number((value * 100).toPrecision(3))} %`
          : (value) => `${(value * 100).toFixed(value > 0 && value < 0.01 ? 2 : 0)} %`,
        most,
      },
      series,
      markers: [],
    };
  }, [benchmark, report, theme, kind]);
  return (
    <LineChart
      model={model}
      theme={theme}
      file={`${benchmark.name}-${file}`}
      summary={summary}
      link={kind === "log2" ? undefined : `latency ${benchmark.key}`}
    />
  );
}

/** Operations per second from the beginning of a replicate, so that warm-up is visible. */
function RateChart({ view, benchmark }: { view: View; benchmark: Benchmark }) {
  const series = benchmark.cells.flatMap((cell) => rateSeries(view, cell));
  if (series.length === 0) return null;
  return (
    <LineChart
      model={{
        title: `${benchmark.title}: throughput from the start of a replicate`,
        x: { label: "time within the replicate", kind: "linear", format: nanoseconds },
        y: {
          label: "throughput",
          kind: "linear",
          format: (value) => figure("operations/s", value),
        },
        series,
        markers: [],
      }}
      theme={view.theme}
      file={`${benchmark.name}-timeline`}
      summary={`Operations per second in each slice of time: medians over replicates, with their intervals. ${warmUps(benchmark)}${leftOut(benchmark)}`}
    />
  );
}

function rateSeries(view: View, cell: CellView) {
  const { timeline } = cell.page;
  if (timeline == null) return [];
  const read = (ref: typeof timeline.rate) => floats(view.report.block, ref);
  const [rate, low, high] = [
    read(timeline.rate),
    read(timeline.rate_low),
    read(timeline.rate_high),
  ];
  const points = Array.from(rate, (y, slice) => ({
    x: (slice + 0.5) * timeline.slice_ns,
    y,
    low: numberOr(low[slice]),
    high: numberOr(high[slice]),
  }));
  return [
    {
      label: cell.side.label,
      colour: colourOf(view.theme, cell.side),
      dash: dashOf(cell.side),
      points: points.filter((point) => Number.isFinite(point.y)),
    },
  ];
}

function numberOr(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function warmUps({ cells }: Benchmark): string {
  const found = cells.flatMap((cell) =>
    cell.report.warnings
      .filter((warning) => warning.kind === "warm-up-inside")
      .map((warning) => `${cell.side.label}: ${warning.message}`),
  );
  return found.length > 0 ? `${found.join("; ")}.` : "No warm-up was found within replicates.";
}

/** Which replicates are not in the chart: those that took so much longer than most that their time
 * slices are wider. */
function leftOut({ cells }: Benchmark): string {
  const found = cells.flatMap(({ side, report, page }) => {
    const [drawn, all] = [page.timeline?.replicates ?? report.replicates, report.replicates];
    return drawn < all ? `${side.label} ${drawn} of ${all}` : [];
  });
  if (found.length === 0) return "";
  return ` Replicates that took much longer than most are left out; drawn: ${found.join(", ")}.`;
}
