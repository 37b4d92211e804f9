// What replicates cost in the order in which they ran, as multiples of their cell's median: shows
// at a glance what happened to the machine over time, for all cells or for one benchmark. If more
// is better, the multiple is inverted, so that above 1 is always worse.

import { LineChart } from "../charts/line/LineChart";
import type { LineSeries } from "../charts/line/line-model";
import type { MetricReport } from "../contract";
import type { CellView, Side } from "../data/model";
import { primary } from "../data/model";
import { floats } from "../data/payload";
import { figure, ratio, ratioTick } from "../format/units";
import { colourOf, useView, type View } from "../view";

export function Drift() {
  const view = useView();
  const { report, selection, theme } = view;
  const what =
    selection.benchmarks.length === 1
      ? (selection.benchmarks[0]?.title ?? "")
      : `${selection.benchmarks.length} benchmarks`;
  return (
    <>
      {report.runs.map(({ page }, run) => {
        const sides = selection.sides.filter((side) => side.run === run);
        const series = sides.map((side) => seriesOf(view, side));
        const title = `${what}: replicates in run order`;
        return (
          <LineChart
            key={page.name}
            model={{
              title: report.runs.length > 1 ? `${page.name}: ${title}` : title,
              x: { label: "time in the run", kind: "linear", format: (s) => figure("s", s) },
              y: { label: "cost relative to its cell's median", kind: "log10", format: ratioTick },
              series,
              markers: [],
            }}
            theme={theme}
            file="replicates"
            summary={`Each replicate's cost by its primary metric, relative to its cell's median, in run order. Above 1 is worse; machine drift shows as a slope, a disturbance as a column. ${widest(view, run)}`}
          />
        );
      })}
    </>
  );
}

function seriesOf(view: View, side: Side): LineSeries {
  const cells = view.selection.benchmarks.flatMap((benchmark) =>
    benchmark.cells.filter((cell) => cell.side === side),
  );
  const points = cells.flatMap((cell) => relative(view, cell));
  points.sort((one, other) => one.x - other.x);
  const colour = colourOf(view.theme, side);
  return { label: side.label, colour, dash: [], points, scattered: true };
}

function relative(view: View, cell: CellView) {
  const metric = primary(cell);
  const { replicates } = cell.page;
  if (replicates == null || metric === undefined) return [];
  const at = floats(view.report.block, replicates.at_s);
  const costs = costsOverMedian(metric, floats(view.report.block, replicates.value));
  return costs.flatMap((y, index) => (y === null ? [] : { x: at[index] as number, y }));
}

/** The cost of each value relative to the median; empty if it is not a cost, or has no
 * logarithm. */
export function costsOverMedian(
  { better, median }: Pick<MetricReport, "better" | "median">,
  values: Float64Array,
): (number | null)[] {
  return Array.from(values, (value) => {
    const cost = better === "higher" ? median / value : value / median;
    return better !== "neither" && cost > 0 && Number.isFinite(cost) ? cost : null;
  });
}

/** The replicate farthest from its cell's median, in words. */
function widest(view: View, run: number): string {
  let most = { distance: 0, text: "" };
  for (const benchmark of view.selection.benchmarks) {
    for (const cell of benchmark.cells.filter((one) => one.side.run === run)) {
      for (const { x, y } of relative(view, cell)) {
        const distance = Math.abs(Math.log(y));
        if (distance > most.distance) {
          const text = `The farthest: ${benchmark.title}, ${cell.side.label}, ${ratio(y)} at ${figure("s", x)}.`;
          most = { distance, text };
        }
      }
    }
  }
  return most.text;
}
