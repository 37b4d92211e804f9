// The map of dimensions and targets: what each target costs in each dimension, relative to the
// cheapest or to a target that the reader names. Never a score: dimensions are not added up.

import { useState } from "preact/hooks";
import { ChartFrame } from "../charts/frame";
import { GridTable } from "../charts/grid/GridTable";
import { depthOf, type GridCell, type GridModel, gridSvg } from "../charts/grid/grid-svg";
import { pictureOf } from "../charts/picture";
import type { DimensionComparison, Document, IntervalReport } from "../contract";
import { dimensionName } from "../data/model";
import { meaningOf } from "../data/verdicts";
import { percent, pValue, ratio } from "../format/units";
import { useView } from "../view";

/** What one target costs in one dimension, relative to another. */
interface Relative {
  target: string;
  ratio: number;
  interval: IntervalReport | null;
  verdict: DimensionComparison["verdict"];
  p: number | null;
  benchmarks: number;
  isReference: boolean;
}

export function CostMap() {
  const { report } = useView();
  return (
    <>
      {report.runs.map(({ page, document }, run) => (
        <RunMap key={page.name} run={run} document={document} name={page.name} />
      ))}
    </>
  );
}

function RunMap({ run, document, name }: { run: number; document: Document; name: string }) {
  const { report, selection, route, theme, go } = useView();
  const [asked, setAsked] = useState("");
  const shown = selection.sides.filter((side) => side.run === run).map((side) => side.target);
  // What is not shown cannot be what others are relative to.
  const reference = shown.includes(asked) ? asked : "";
  const dimensions = [...new Set((document.dimensions ?? []).map((one) => one.dimension))].filter(
    (dimension) => route.dimension === null || route.dimension === dimension,
  );
  const rows = dimensions.map((dimension) => ({
    dimension,
    cells: relativeTo(document, dimension, shown, reference),
  }));
  const place = (cell: Relative | undefined) => (cell ? gridCell(cell) : null);
  const title = report.runs.length > 1 ? `Relative cost: ${name}` : "Relative cost";
  const against = reference === "" ? "the cheapest in each dimension" : reference;
  const model: GridModel = {
    title: `${title}, relative to ${against}`,
    columns: shown,
    rows: rows.map(({ dimension, cells }) => ({
      name: dimensionName(dimension),
      cells: shown.map((target) => place(cells.find((one) => one.target === target))),
    })),
  };
  return (
    <ChartFrame
      title={title}
      file="map"
      picture={() => pictureOf(() => gridSvg(model, theme))}
      summary={`What an operation costs on each target, as a multiple of ${against}: the geometric mean over the benchmarks of a dimension, paired by block, with its ${percent(document.run.confidence_level)} interval. Dimensions are never added up.`}
      table={() => ({
        head: ["dimension", "target", "ratio", "low", "high", "p", "verdict", "benchmarks"],
        rows: rows.flatMap(({ dimension, cells }) =>
          cells.map((cell) => [
            dimensionName(dimension),
            cell.target,
            cell.ratio,
            cell.interval?.low ?? "",
            cell.interval?.high ?? "",
            cell.p ?? "",
            cell.isReference ? "reference" : cell.verdict,
            cell.benchmarks,
          ]),
        ),
      })}
      notes={
        <p>
          Hatched: cannot be told apart from {against} (the data do not show which costs more).
          Dash: not measured there, or too few common blocks.
        </p>
      }
    >
      <label class="inline">
        Relative to
        <select value={reference} onChange={(event) => setAsked(event.currentTarget.value)}>
          <option value="">the cheapest in each dimension</option>
          {shown.map((target) => (
            <option key={target} value={target}>
              {target}
            </option>
          ))}
        </select>
      </label>
      <GridTable
        model={model}
        corner="Dimension"
        nameOf={(row) => {
          const { dimension, cells } = rows[row] as (typeof rows)[number];
          return (
            <>
              <button
                type="button"
                class="link"
                onClick={() => go({ section: `dimension-${dimension}`, benchmark: null })}
              >
                {dimensionName(dimension)}
              </button>
              <small>{benchmarksOf(cells)}</small>
            </>
          );
        }}
      />
    </ChartFrame>
  );
}

function benchmarksOf(cells: Relative[]): string {
  const counts = cells.filter((cell) => !cell.isReference).map((cell) => cell.benchmarks);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (counts.length === 0) return "";
  const noun = most === 1 ? "benchmark" : "benchmarks";
  return least === most ? `${most} ${noun}` : `${least} to ${most} ${noun}`;
}

export function gridCell({ ratio: value, interval, p, verdict, isReference }: Relative): GridCell {
  return {
    lines: [
      isReference ? "1×" : ratio(value),
      ...(interval ? [`[${ratio(interval.low)}, ${ratio(interval.high)}]`] : []),
      ...(p === null ? [] : [pValue(p)]),
      ...(verdict === "real-size-unknown" ? ["perhaps only slightly"] : []),
    ],
    depth: depthOf(value),
    isDear: value >= 1,
    isAlike: !meaningOf(verdict).isDifferent && !isReference,
  };
}

/** Each target's cost in a dimension over that of the reference: one that is named, or the
 * cheapest, whom no other is cheaper than. */
export function relativeTo(
  document: Document,
  dimension: string,
  targets: string[],
  reference: string,
): Relative[] {
  const pairs = (document.dimensions ?? []).filter(
    (one) =>
      one.dimension === dimension && targets.includes(one.first) && targets.includes(one.second),
  );
  const to = (base: string): Relative[] =>
    pairs.flatMap((pair) => {
      if (pair.ratio == null || (pair.first !== base && pair.second !== base)) return [];
      const turned = pair.second === base;
      const { low, high, level } = pair.interval ?? { low: Number.NaN, high: Number.NaN, level: 0 };
      return {
        target: turned ? pair.first : pair.second,
        ratio: turned ? 1 / pair.ratio : pair.ratio,
        interval:
          pair.interval == null
            ? null
            : turned
              ? { low: 1 / high, high: 1 / low, level }
              : { low, high, level },
        verdict: pair.verdict,
        p: pair.p_adjusted ?? null,
        benchmarks: pair.benchmarks,
        isReference: false,
      };
    });
  const compared = targets.filter((target) => to(target).length > 0);
  const base = reference !== "" ? reference : cheapest(compared, to);
  if (base === undefined || !compared.includes(base)) return [];
  const itself: Relative = {
    target: base,
    ratio: 1,
    interval: null,
    verdict: "not-told-apart",
    p: null,
    benchmarks: 0,
    isReference: true,
  };
  return [itself, ...to(base)];
}

/** The target that most others cost more than: pairs over different blocks need not agree. */
function cheapest(targets: string[], to: (base: string) => Relative[]): string | undefined {
  const dearer = (base: string) => to(base).filter((other) => other.ratio >= 1).length;
  return [...targets].sort((one, other) => dearer(other) - dearer(one))[0];
}
