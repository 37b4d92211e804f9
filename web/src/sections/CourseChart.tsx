// How the time of an operation develops by its number, from the first one after a state was made:
// the start, which is a separate figure, and what is measured.

import { LineChart } from "../charts/line/LineChart";
import type { LineChartModel, LineSeries, Marker } from "../charts/line/line-model";
import type { Benchmark, CellView } from "../data/model";
import { floats } from "../data/payload";
import { count, nanoseconds, percent } from "../format/units";
import { colourOf, dashOf, useView, type View } from "../view";

export function CourseChart({ benchmark }: { benchmark: Benchmark }) {
  const view = useView();
  const model = courseModel(view, benchmark);
  if (model === null) return null;
  return (
    <LineChart
      model={model}
      theme={view.theme}
      file={`${benchmark.name}-course`}
      summary="Mean time of an operation by what had been done since the state was made: medians over blocks, with their intervals as bands. The operations after the start are those measured; lower is better."
    />
  );
}

export function courseModel(view: View, benchmark: Benchmark): LineChartModel | null {
  const operationsOfPass = passOf(benchmark);
  const drawn = benchmark.cells.flatMap((cell) => {
    const points = pointsOf(view.report.block, cell, operationsOfPass ?? 1);
    return points.length < 2 ? [] : [{ cell, points }];
  });
  if (drawn.length === 0) return null;
  const series: LineSeries[] = drawn.map(({ cell, points }) => ({
    label: cell.side.label,
    colour: colourOf(view.theme, cell.side),
    dash: dashOf(cell.side),
    points,
  }));
  // All targets do the same work.
  const [first] = drawn;
  const course = first?.cell.page.course;
  const starts = course?.starts ?? 0;
  const end =
    course && starts > 0 ? floats(view.report.block, course.operation)[starts - 1] : undefined;
  const markers: Marker[] =
    end === undefined
      ? []
      : [
          {
            from: end / (operationsOfPass ?? 1),
            label: "end of the start",
            colour: view.theme.muted,
          },
        ];
  return {
    title: `${benchmark.title}: the first operations and the rest`,
    x:
      operationsOfPass === null
        ? { label: "operation", kind: "log10", format: (value) => count(value) }
        : {
            label: "share of the working set gone over",
            kind: "log10",
            format: (value) => percent(Number(value.toPrecision(2))),
          },
    y: { label: "time of an operation", kind: "log10", format: nanoseconds },
    series,
    markers,
  };
}

/** How many operations go over the working set once, if they read or write one. What has been
 * touched of a file's pages and the processor's caches depends on that rather than on a count. */
function passOf(benchmark: Benchmark): number | null {
  const report = benchmark.cells[0]?.report;
  const request = report?.parameters.request_bytes;
  const bytes = report?.working_set?.bytes;
  if (typeof request !== "number" || bytes === undefined || bytes < request) return null;
  return bytes / request;
}

function pointsOf(
  block: ArrayBuffer,
  { page }: CellView,
  operationsOfPass: number,
): LineSeries["points"] {
  if (page.course == null) return [];
  const { operation, time_ns, time_low_ns, time_high_ns } = page.course;
  const [x, y] = [floats(block, operation), floats(block, time_ns)];
  const [low, high] = [floats(block, time_low_ns), floats(block, time_high_ns)];
  const all = Array.from(x, (at, index) => ({
    x: at / operationsOfPass,
    y: y[index] as number,
    low: low[index],
    high: high[index],
  }));
  return all.filter((point) => point.x > 0 && point.y > 0);
}
