// A curve per metric: every target's medians with their intervals, and the sizes of the machine's
// caches and memories if the axis is in bytes.

import { LineChart } from "../charts/line/LineChart";
import type { LineChartModel, Marker } from "../charts/line/line-model";
import type { ScaleKind } from "../charts/scales";
import type { Theme } from "../charts/theme";
import type { MetricReport } from "../contract";
import { type Curve, metricOf, shownMetrics } from "../data/model";
import { bytes, figure, onAxis, words } from "../format/units";
import { colourOf, dashOf, useView, type View } from "../view";
import { cliffMarker } from "./causes";
import { better } from "./Dimension";
import { Fold } from "./Fold";

export function CurveCharts({ curve }: { curve: Curve }) {
  const view = useView();
  const cells = curve.benchmarks.flatMap((benchmark) => benchmark.cells);
  const drawn = shownMetrics(cells).flatMap((metric) => {
    const model = curveModel(view, curve, metric);
    const places = new Set(model.series.flatMap((one) => one.points.map(({ x }) => x)));
    // A single position is not a curve; the benchmark's own figures cover it.
    return places.size < 2 ? [] : { metric, model };
  });
  const draw = ({ metric, model }: (typeof drawn)[number]) => (
    <LineChart
      key={metric.name}
      model={model}
      theme={view.theme}
      file={`${curve.name}-${metric.name}`}
      summary={`Medians over blocks, with their intervals as bands; ${better(metric)}.`}
      link={curve.key}
    />
  );
  const [first, ...others] = drawn;
  if (first === undefined) return null;
  return (
    <div>
      {draw(first)}
      {others.length > 0 && (
        <Fold title={others.map(({ metric }) => words(metric.name)).join(", ")}>
          {() => others.map(draw)}
        </Fold>
      )}
    </div>
  );
}

export function curveModel(view: View, curve: Curve, metric: MetricReport): LineChartModel {
  const series = view.selection.sides.flatMap((side) => {
    const points = curve.benchmarks.flatMap((benchmark) => {
      const cell = benchmark.cells.find((one) => one.side === side);
      const found = cell && metricOf(cell, metric.name);
      if (benchmark.curve == null || found === undefined) return [];
      const { low, high } = found.figure.interval ?? {};
      return { x: benchmark.curve.value, y: found.figure.value, low, high };
    });
    return points.length === 0
      ? []
      : [{ label: side.label, colour: colourOf(view.theme, side), dash: dashOf(side), points }];
  });
  const values = series.flatMap((one) => one.points.map((point) => point.y));
  const places = series.flatMap((one) => one.points.map((point) => point.x));
  const byAxis = `, by ${curve.axis}`;
  const title = curve.title.endsWith(byAxis) ? curve.title : `${curve.title}${byAxis}`;
  return {
    title: `${title}: ${words(metric.name)}`,
    x: {
      label: curve.axis,
      kind: kindOf(places, curve.unit === "bytes" ? "log2" : "log10"),
      isBinary: curve.unit === "bytes",
      format: (value) => onAxis(curve.unit, value),
    },
    y: {
      label: words(metric.name),
      kind: kindOf(values, metric.unit.startsWith("bytes") ? "log2" : "log10"),
      isBinary: metric.unit.startsWith("bytes"),
      format: (value) => figure(metric.unit, value),
    },
    series,
    markers: [
      ...(curve.unit === "bytes" ? sizeMarkers(view, view.theme) : []),
      ...cliffMarkers(view, curve),
    ],
  };
}

/** Values that differ by more than this ratio are shown on a logarithmic scale. */
const LINEAR_RATIO_MOST = 6;

function kindOf(values: number[], log: ScaleKind): ScaleKind {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low > 0 && high / low > LINEAR_RATIO_MOST ? log : "linear";
}

/** Cliffs that searches have found along the same axis, on targets with the same labels: a page can
 * contain a search next to a run. */
function cliffMarkers({ report, selection, theme }: View, curve: Curve): Marker[] {
  const targets = new Set(selection.sides.map((side) => side.target));
  const cliffs = report.runs.flatMap(({ document }) => document.cliffs ?? []);
  return cliffs
    .filter((cliff) => words(cliff.axis) === curve.axis && targets.has(cliff.target))
    .map((cliff) => cliffMarker(cliff, theme.accent));
}

/** Caches of the processor, memory, and the limits of targets. */
export function sizeMarkers({ report, selection }: View, theme: Theme): Marker[] {
  const found = new Map<string, Marker>();
  const add = (from: number | null | undefined, what: string) => {
    if (from == null) return;
    const label = `${what} ${bytes(from)}`;
    found.set(label, { from, label, colour: theme.muted });
  };
  for (const { document } of report.runs) {
    for (const cache of document.machine.caches ?? []) {
      const letter = cache.kind === "data" ? "d" : "";
      if (cache.kind !== "instruction") add(cache.size_bytes, `L${cache.level}${letter}`);
    }
    add(document.machine.memory?.total_bytes, "memory");
  }
  for (const side of selection.sides) add(side.record.conditions.memory_bytes, "memory limit");
  return [...found.values()].sort((one, other) => one.from - other.from);
}
