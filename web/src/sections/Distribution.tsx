// Down to single operations of one benchmark: their histogram, log2 and fine, side by side; how
// they developed from a replicate's beginning on, all targets in one chart; and the histogram over
// time, flat and as a view to turn.

import { ChartFrame } from "../charts/frame";
import { LineChart } from "../charts/line/LineChart";
import type { LineChartModel } from "../charts/line/line-model";
import type { CacheState } from "../contract";
import type { Benchmark, CellView } from "../data/model";
import { floats } from "../data/payload";
import { count, figure, interval, nanoseconds, words } from "../format/units";
import { colourOf, dashOf, useView, type View } from "../view";
import { CourseChart } from "./CourseChart";
import { HistogramOverTime } from "./HistogramOverTime";
import { coarse, fine, type Shares } from "./histogram";
import { CellWarnings } from "./Warnings";

export function Distribution() {
  const view = useView();
  const { report, selection, route, go } = view;
  const hasHistogram = (one: Benchmark) => one.cells.some((cell) => cell.page.histogram);
  const offered = report.benchmarks.filter(
    (one) => hasHistogram(one) && (route.dimension === null || one.dimension === route.dimension),
  );
  const drawn = selection.benchmarks.filter(hasHistogram);
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
      <CellWarnings cells={chosen.cells} />
      <Figures benchmark={chosen} />
      <div class="pair">
        <HistogramChart view={view} benchmark={chosen} name="log2" of={coarse} />
        <HistogramChart view={view} benchmark={chosen} name="fine" of={fine} />
      </div>
      <CourseChart benchmark={chosen} />
      <RateChart view={view} benchmark={chosen} />
      <HistogramOverTime benchmark={chosen} />
    </>
  );
}

/** Every metric of every target, with its interval and percentiles. */
function Figures({ benchmark }: { benchmark: Benchmark }) {
  const rows = benchmark.cells.flatMap((cell) =>
    cell.report.metrics.map((metric) => ({ cell, metric })),
  );
  const percentiles = [
    ...new Set(rows.flatMap(({ metric }) => metric.percentiles.map((one) => one.percentile))),
  ].sort((one, other) => one - other);
  return (
    <ChartFrame
      title={`${benchmark.title}: figures`}
      file={`${benchmark.name}-figures`}
      summary={`${stateOf(benchmark)}. Medians over blocks. Percentiles are those of single operations: medians over blocks of each block's percentile. Those marked * are taken over all operations together, because at least one block has too few; compare them only with others marked *.`}
      table={() => ({
        head: ["target", "metric", "unit", "median", "low", "high", "mean", "replicates"],
        rows: rows.map(({ cell, metric }) => [
          cell.side.label,
          metric.name,
          metric.unit,
          metric.median,
          metric.interval?.low ?? "",
          metric.interval?.high ?? "",
          metric.mean,
          metric.values.length,
        ]),
      })}
    >
      <div class="scrolling">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Target</th>
              <th scope="col">Metric</th>
              <th scope="col">Median</th>
              <th scope="col">Interval</th>
              {percentiles.map((percentile) => (
                <th key={percentile} scope="col">
                  p{percentile}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cell, metric }) => (
              <tr key={`${cell.side.label} ${metric.name}`}>
                <th scope="row">{cell.side.label}</th>
                <td>{words(metric.name)}</td>
                <td class="number">{figure(metric.unit, metric.median)}</td>
                <td class="number">
                  {metric.interval == null
                    ? "–"
                    : interval(
                        metric.unit,
                        metric.median,
                        metric.interval.low,
                        metric.interval.high,
                      )}
                </td>
                {percentiles.map((percentile) => {
                  const found = metric.percentiles.find((one) => one.percentile === percentile);
                  return (
                    <td key={percentile} class="number">
                      {found && figure(metric.unit, found.value)}
                      {found?.of === "all-operations" && "*"}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </ChartFrame>
  );
}

/** What a cache state says of the replicates that count. */
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

interface HistogramChartProps {
  view: View;
  benchmark: Benchmark;
  name: string;
  of: (low: Float64Array, end: Float64Array, counts: Float64Array) => Shares;
}

function HistogramChart({ view, benchmark, name, of }: HistogramChartProps) {
  const series = benchmark.cells.flatMap((cell) => {
    const arrays = cell.page.histogram;
    if (arrays == null) return [];
    const read = (ref: typeof arrays.low_ns) => floats(view.report.block, ref);
    const shares = of(read(arrays.low_ns), read(arrays.end_ns), read(arrays.count));
    return [
      {
        label: cell.side.label,
        colour: colourOf(view.theme, cell.side),
        dash: dashOf(cell.side),
        points: shares.map(([x, y]) => ({ x, y })),
        stepped: true,
      },
    ];
  });
  const model: LineChartModel = {
    title: `${benchmark.title}: histogram, ${name}`,
    x: { label: "latency", kind: "log10", format: nanoseconds },
    y: {
      label: name === "fine" ? "density: share per factor of 2" : "share of operations",
      kind: "linear",
      format: (value) => `${(value * 100).toFixed(value < 0.01 ? 2 : 0)} %`,
    },
    series,
    markers: [],
  };
  return (
    <LineChart
      model={model}
      theme={view.theme}
      file={`${benchmark.name}-histogram-${name}`}
      summary={
        name === "fine"
          ? "Density of the latencies of single operations in the histogram's own buckets (each less than 1 % wide); areas are shares."
          : "Share of single operations within each factor of 2 of latency."
      }
    />
  );
}

/** Operations per second from a replicate's beginning on: warm-up is seen, not hidden. */
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

/** Which replicates are not in the chart: those that took so much longer than most that their
 * slices are wider. */
function leftOut({ cells }: Benchmark): string {
  const found = cells.flatMap(({ side, report, page }) => {
    const [drawn, all] = [page.timeline?.replicates ?? report.replicates, report.replicates];
    return drawn < all ? `${side.label} ${drawn} of ${all}` : [];
  });
  if (found.length === 0) return "";
  return ` Replicates that took much longer than most are left out; drawn: ${found.join(", ")}.`;
}
