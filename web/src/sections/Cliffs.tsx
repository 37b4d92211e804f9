// Searches for cliffs: every probe, the plateaus, and the interval in which each cliff lies, marked
// with its cause.

import { LineChart } from "../charts/LineChart";
import type { Marker } from "../charts/line-model";
import type { Cause, CliffReport, SearchReport } from "../contract";
import { type CellView, metricOf } from "../data/model";
import { figure, onAxis, typeset, words } from "../format/units";
import { colourOf, useView } from "../view";
import { sizeMarkers } from "./CurveCharts";
import { Observations } from "./Observations";

const PARAMETERS: Record<SearchReport["plan"]["axis"], string> = {
  "working-set": "working_set_bytes",
  "request-size": "request_bytes",
  threads: "threads",
  "read-share": "read_percent",
  "sequential-share": "sequential_percent",
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
          return [
            <div key={`${page.name} ${side.label} ${plan.axis}`}>
              <LineChart
                model={{
                  title: `${side.label}: ${words(plan.metric)} by ${words(plan.axis)}`,
                  x: {
                    label: words(plan.axis),
                    kind: isShare || unit === "threads" ? "linear" : "log2",
                    format: (value) => onAxis(unit, value),
                  },
                  y: {
                    label: words(plan.metric),
                    kind: "log10",
                    format: (value) => figure(metric_unit, value),
                  },
                  series: [
                    {
                      label: "probes",
                      colour: colourOf(theme, side),
                      dash: [],
                      points: probes(cells, search),
                      scattered: true,
                    },
                    ...cliffs.flatMap((cliff) => plateaus(cliff, theme.accent)),
                  ],
                  markers: [...sizes, ...cliffs.map((cliff) => cliffMarker(cliff, theme.accent))],
                }}
                theme={theme}
                file={`cliff-${side.target}-${plan.axis}`}
                summary={`Every probe of the search (${search.probes} at ${search.positions} positions), the levels of plateaus dashed; ${cliffs.length === 1 ? "1 cliff" : `${cliffs.length} cliffs`}.`}
              />
              <ul class="laws">
                {page.prose
                  .filter((one) => one.kind === "cliff" && one.targets.includes(side.target))
                  .map((one) => (
                    <li key={one.text}>{typeset(one.text)}</li>
                  ))}
              </ul>
            </div>,
          ];
        }),
      )}
      <Observations benchmarks={selection.benchmarks} />
    </>
  );
}

/** One point per replicate of each position. */
function probes(cells: CellView[], { plan }: SearchReport) {
  const points = cells.flatMap((cell) => {
    const x = Number(cell.report.parameters[PARAMETERS[plan.axis]]);
    const metric = metricOf(cell, plan.metric);
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

function cliffMarker(cliff: CliffReport, colour: string): Marker {
  const between = `${onAxis(cliff.unit, cliff.low)} to ${onAxis(cliff.unit, cliff.high)}`;
  const label = `cliff, ${between}: ${causeName(cliff.cause)}`;
  return { from: cliff.low, to: cliff.high, label, colour };
}

/** A cause in a few words. */
export function causeName(cause: Cause): string {
  switch (cause.kind) {
    case "memory-limit":
      return "limit of memory";
    case "processor-cache":
      return `L${cause.level} cache`;
    case "processors":
      return `${cause.processors} processors`;
    case "dirty-limit":
      return "limit of dirty data";
    case "journal":
      return "journal";
    case "read-ahead":
      return "read-ahead";
    default:
      return "cause unknown";
  }
}
