// Observations other than figures, in the first block that counts: values along an axis (a warm-up,
// a write-back), which pages stayed in memory, and which replacement policy explains that.

import { ChartFrame } from "../charts/frame";
import { IntervalChart } from "../charts/interval/IntervalChart";
import { LineChart } from "../charts/line/LineChart";
import { pictureOf } from "../charts/picture";
import type { ScaleKind } from "../charts/scales";
import type { Observation, PageRuns, PolicyRanking, Series } from "../contract";
import type { Benchmark, Side } from "../data/model";
import { count, onAxis } from "../format/units";
import { colourOf, dashOf, useView } from "../view";
import { Fold } from "./Fold";
import { PageStrip, stripsSvg } from "./PageStrip";

interface Seen<T> {
  side: Side;
  seen: T;
}

export function Observations({ benchmarks }: { benchmarks: Benchmark[] }) {
  const { selection } = useView();
  const seen = benchmarks.filter((benchmark) =>
    benchmark.cells.some((cell) => (cell.report.observations ?? []).some(isDrawn)),
  );
  const groups = new Map<string, Benchmark[]>();
  for (const benchmark of seen) {
    const title = benchmark.curve?.title ?? benchmark.title;
    groups.set(title, [...(groups.get(title) ?? []), benchmark]);
  }
  return (
    <>
      {[...groups].map(([title, some]) => (
        <Fold
          key={title}
          title={`${title}: what was seen${some.length > 1 ? ` at ${some.length} points` : ""}`}
          open={selection.benchmarks.length === 1}
        >
          {() => some.map(chartsOf)}
        </Fold>
      ))}
    </>
  );
}

/** Whether to draw it here. What a search saw at its probes is drawn along its axis instead. */
function isDrawn({ kind }: Observation): boolean {
  return kind !== "probe";
}

function chartsOf(benchmark: Benchmark) {
  const all = benchmark.cells.flatMap((cell) =>
    (cell.report.observations ?? []).map((seen) => ({ side: cell.side, seen })),
  );
  const series = all.flatMap(({ side, seen }) => (seen.kind === "series" ? { side, seen } : []));
  const pages = all.flatMap(({ side, seen }) => (seen.kind === "pages" ? { side, seen } : []));
  const policies = all.flatMap(({ side, seen }) =>
    seen.kind === "policies" ? { side, seen } : [],
  );
  return [
    ...byTitle(series).map(([title, some]) => (
      <SeriesChart key={`${benchmark.key} ${title}`} benchmark={benchmark} all={some} />
    )),
    ...byTitle(pages).map(([title, some]) => (
      <PagesChart key={`${benchmark.key} ${title}`} benchmark={benchmark} all={some} />
    )),
    ...policies.map((one) => (
      <PolicyChart
        key={`${benchmark.key} ${one.side.label} ${one.seen.title}`}
        benchmark={benchmark}
        {...one}
      />
    )),
  ];
}

function byTitle<T extends { title: string }>(all: Seen<T>[]): [string, Seen<T>[]][] {
  const groups = new Map<string, Seen<T>[]>();
  for (const one of all) groups.set(one.seen.title, [...(groups.get(one.seen.title) ?? []), one]);
  return [...groups];
}

function SeriesChart({ benchmark, all }: { benchmark: Benchmark; all: Seen<Series>[] }) {
  const { theme } = useView();
  const first = all[0]?.seen;
  if (first === undefined) return null;
  const { axis, value } = first;
  const values = all.flatMap(({ seen }) => seen.points.map(([, y]) => y));
  const positive = values.filter((y) => y > 0);
  const isWide = Math.max(...positive) / Math.min(...positive) > 20;
  const isBinary = value.unit.startsWith("bytes");
  const log: ScaleKind = isBinary ? "log2" : "log10";
  const kind = isWide && positive.length === values.length ? log : "linear";
  return (
    <LineChart
      model={{
        title: `${benchmark.title}: ${first.title}`,
        x: {
          label: axis.name,
          kind: "linear",
          isBinary: axis.unit === "bytes",
          format: (x) => onAxis(axis.unit, x),
        },
        y: {
          label: value.name,
          kind,
          isBinary,
          format: (y) => onAxis(value.unit, y),
        },
        series: all.map(({ side, seen }) => ({
          label: side.label,
          colour: colourOf(theme, side),
          dash: dashOf(side),
          points: seen.points.map(([x, y]) => ({ x, y })),
        })),
        markers: [],
      }}
      theme={theme}
      file={`${benchmark.name}-${first.title}`}
      summary={`${value.name} by ${axis.name} for all targets, as seen in the first block.`}
    />
  );
}

function PagesChart({ benchmark, all }: { benchmark: Benchmark; all: Seen<PageRuns>[] }) {
  const { theme } = useView();
  const title = `${benchmark.title}: pages resident ${all[0]?.seen.title ?? ""}`;
  const strips = all.map(({ side, seen }) => ({
    label: side.label,
    colour: colourOf(theme, side),
    surface: theme.surface,
    pages: seen,
    said: residentShare(seen),
  }));
  return (
    <ChartFrame
      title={title}
      picture={() => pictureOf(() => stripsSvg(title, strips, theme))}
      file={`${benchmark.name}-pages`}
      summary="The file from its first page to its last, as seen in the first block; dark where pages were resident."
      table={() => ({
        head: ["target", "first page", "pages"],
        rows: all.flatMap(({ side, seen }) =>
          seen.resident.map(([first, pages]) => [side.label, first, pages]),
        ),
      })}
    >
      {strips.map((strip) => (
        <PageStrip key={strip.label} {...strip} />
      ))}
    </ChartFrame>
  );
}

function residentShare({ pages, resident }: PageRuns): string {
  const there = resident.reduce((sum, [, length]) => sum + length, 0);
  return `${count(there)} of ${count(pages)} pages (${((100 * there) / Math.max(1, pages)).toFixed(0)} %)`;
}

function PolicyChart({
  benchmark,
  side,
  seen,
}: {
  benchmark: Benchmark;
  side: Side;
  seen: PolicyRanking;
}) {
  const { theme } = useView();
  return (
    <IntervalChart
      model={{
        title: `${benchmark.title}, ${side.label}: replacement policies`,
        axis: {
          label: "agreement with the pages that stayed (Cohen’s kappa; 1 is perfect, 0 is chance)",
          kind: "linear",
          format: (value) => value.toFixed(2),
        },
        groups: [
          {
            title: seen.title,
            rows: seen.ranking.map((fit, place) => ({
              label: fit.policy,
              colour: place === 0 ? colourOf(theme, side) : theme.muted,
              value: fit.agreement,
              low: fit.interval[0],
              high: fit.interval[1],
              said: `${fit.agreement.toFixed(2)} [${fit.interval[0]?.toFixed(2)}, ${fit.interval[1]?.toFixed(2)}]`,
            })),
          },
        ],
      }}
      theme={theme}
      file={`${benchmark.name}-${side.target}-policies`}
      summary={`${seen.verdict}; ${count(seen.pages_per_group)} neighbouring pages come and go together.`}
    />
  );
}
