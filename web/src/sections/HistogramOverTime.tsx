// The histogram over time of one benchmark, target by target: in 2-D as a heat map, and as a
// surface that can be turned (It IS Rocket Science, Figure 4).

import { useState } from "preact/hooks";
import { Heatmap } from "../charts/heatmap/Heatmap";
import { Surface3d } from "../charts/surface/Surface3d";
import {
  latencyAxis,
  sharesOf,
  type Timeline,
  timeAxis,
  timelineSummary,
} from "../charts/timeline";
import type { Benchmark, CellView } from "../data/model";
import { floats } from "../data/payload";
import { digits } from "../format/units";
import { useView } from "../view";

export function HistogramOverTime({ benchmark }: { benchmark: Benchmark }) {
  const cells = benchmark.cells.filter((cell) => cell.page.timeline != null);
  const [label, setLabel] = useState("");
  const chosen = cells.find((cell) => cell.side.label === label) ?? cells[0];
  if (chosen === undefined) return null;
  return (
    <>
      <label class="inline">
        Histogram over time for
        <select value={chosen.side.label} onChange={(event) => setLabel(event.currentTarget.value)}>
          {cells.map((cell) => (
            <option key={cell.side.label} value={cell.side.label}>
              {cell.side.label}
            </option>
          ))}
        </select>
      </label>
      <OverTime
        key={`${benchmark.key} ${chosen.side.label}`}
        cell={chosen}
        title={`${benchmark.title}, ${chosen.side.label}`}
        file={`${benchmark.name}-${chosen.side.target}`}
      />
    </>
  );
}

function OverTime({ cell, title, file }: { cell: CellView; title: string; file: string }) {
  const { report, theme } = useView();
  const [drawn] = useState(() => decoded(report.block, cell));
  if (drawn === null) return null;
  const { timeline, columns, rows, shares } = drawn;
  return (
    <div class="pair">
      <Heatmap
        title={`${title}: histogram over time`}
        summary={timelineSummary(timeline)}
        file={`${file}-over-time`}
        theme={theme}
        label="share of the slice’s operations"
        format={(share) => `${digits(share * 100)} %`}
        columns={columns}
        rows={rows}
        values={shares}
      />
      <Surface3d
        title={`${title}: rotatable 3-D view`}
        summary="Operations by time and latency. Drag or use the arrow keys to turn it."
        file={`${file}-surface`}
        theme={theme}
        label="operations"
        columns={columns}
        rows={rows}
        values={timeline.count}
      />
    </div>
  );
}

function decoded(block: ArrayBuffer, { page }: CellView) {
  if (page.timeline == null) return null;
  const timeline: Timeline = { ...page.timeline, count: floats(block, page.timeline.count) };
  const [columns, rows] = [timeAxis(timeline), latencyAxis(timeline)];
  return { timeline, columns, rows, shares: sharesOf(timeline) };
}
