// Searches for cliffs: every probe, the plateaus, and the interval of each cliff, marked with its
// cause.

import { LineChart } from "../charts/line/LineChart";
import type { CliffReport, MetricReport, SearchReport } from "../contract";
import { type CellView, isOfOthers, metricOf } from "../data/model";
import { figure, onAxis, typeset, words } from "../format/units";
import { colourOf, useView } from "../view";
import { sizeMarkers } from "./CurveCharts";
import { cliffMarker } from "./causes";
import { Observations } from "./Observations";

const PARAMETERS: Record<SearchReport["plan"]["axis"], string> = {
  "working-set": "working_set_bytes",
  "request-size": "request_bytes",
  threads: "threads",
  "read-share": "read_percent",
  "sequential-share": "sequential_percent",
  "volume-size": "volume_bytes",
};

export function Cliffs() {
  const view = useView();
  const { report, selection, theme } = view;
  return (
    <>
      {report.runs.flatMap(({ page, document }, run) =>
        (document.searches ?? []).flatMap((search) => {
          const side = selection.sides.find(
            (one) => one.run === run && one.target === search.plan.target,
          );
          if (side === undefined) return [];
          const cliffs = (document.cliffs ?? []).filter(
            (one) => one.target === search.plan.target && one.axis === search.plan.axis,
          );
          const cells = selection.benchmarks.flatMap((one) =>
            one.cells.filter((cell) => cell.side === side),
          );
          const { plan, unit, metric_unit } = search;
          const isShare = unit === "percent";
          const sizes = unit === "bytes" ? sizeMarkers(view, theme) : [];
          const axis = {
            label: words(plan.axis),
            kind: isShare || unit === "threads" ? ("linear" as const) : ("log2" as const),
            format: (value: number) => onAxis(unit, value),
          };
          const colour = colourOf(theme, side);
          const series = { label: "probes", colour, dash: [], scattered: true };
          const markers = [...sizes, ...cliffs.map((cliff) => cliffMarker(cliff, theme.accent))];
          return [
            <div key={`${page.name} ${side.label} ${plan.axis}`}>
              <LineChart
                model={{
                  title: `${side.label}: ${words(plan.metric)} by ${words(plan.axis)}`,
                  x: axis,
                  y: {
                    label: words(plan.metric),
                    kind: "log10",
                    format: (value) => figure(metric_unit, value),
                  },
                  series: [
                    { ...series, points: probes(cells, search, plan.metric) },
                    ...cliffs.flatMap((cliff) => plateaus(cliff, theme.accent)),
                  ],
                  markers,
                }}
                theme={theme}
                file={`cliff-${side.target}-${plan.axis}`}
                summary={`Every probe of the search (${search.probes} at ${search.positions} positions), with plateau levels dashed; ${cliffs.length === 1 ? "1 cliff" : `${cliffs.length} cliffs`}.`}
              />
              <div class="pair">
                {proofs(cells, search).map((metric) => (
                  <LineChart
                    key={metric.name}
                    model={{
                      title: `${side.label}: ${words(metric.name)} by ${words(plan.axis)}`,
                      x: axis,
                      y: {
                        label: words(metric.name),
                        kind: "linear",
                        isBinary: metric.unit === "bytes",
                        format: (value) => figure(metric.unit, value),
                      },
                      series: [{ ...series, points: probes(cells, search, metric.name) }],
                      markers,
                    }}
                    theme={theme}
                    file={`cliff-${side.target}-${metric.name}`}
                    summary="The same probes: evidence for or against a cause."
                  />
                ))}
              </div>
              <ul class="laws">
                {page.prose
                  .filter((one) => one.kind === "cliff" && one.targets.includes(side.target))
                  .filter((one) => one.subject === words(plan.axis))
                  .map((one) => (
                    <li key={one.text}>{typeset(one.text)}</li>
                  ))}
              </ul>
            </div>,
          ];
        }),
      )}
      <Observations benchmarks={selection.benchmarks.filter((one) => !isOfOthers(report, one))} />
    </>
  );
}

/** Metrics of probes that can prove a cause: what was resident, what was read from the device. */
function proofs(cells: CellView[], { plan }: SearchReport): MetricReport[] {
  const names = ["resident", "device_read_per_operation"];
  const first = cells[0]?.report.metrics ?? [];
  return first.filter((metric) => names.includes(metric.name) && metric.name !== plan.metric);
}

/** One point per replicate of each position. */
function probes(cells: CellView[], { plan }: SearchReport, name: string) {
  const points = cells.flatMap((cell) => {
    const x = Number(cell.report.parameters[PARAMETERS[plan.axis]]);
    const metric = metricOf(cell, name);
    return Number.isFinite(x) && metric ? metric.values.map((y) => ({ x, y })) : [];
  });
  return points.sort((one, other) => one.x - other.x);
}

function plateaus(cliff: CliffReport, colour: string) {
  const line = (label: string, from: number, to: number, y: number) => ({
    label,
    colour,
    dash: [5, 3],
    fitted: true,
    unnamed: true,
    points: [
      { x: from, y },
      { x: to, y },
    ],
  });
  return [
    line("level before", cliff.before_from, cliff.before_to, cliff.plateau_before),
    line("level after", cliff.after_from, cliff.after_to, cliff.plateau_after),
  ];
}
