// The map of dimensions and targets: what each target costs in each dimension, relative to the
// cheapest or to a target that the reader names. Never a score: dimensions are not added up.

import { useState } from "preact/hooks";
import { ChartFrame } from "../charts/frame";
import type { DimensionComparison, Document, IntervalReport } from "../contract";
import { dimensionName } from "../data/model";
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
  const { report, selection, route, go } = useView();
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
  const title = report.runs.length > 1 ? `Relative cost: ${name}` : "Relative cost";
  const against = reference === "" ? "the cheapest of each dimension" : reference;
  return (
    <ChartFrame
      title={title}
      file="map"
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
            cell.verdict,
            cell.benchmarks,
          ]),
        ),
      })}
      notes={
        <p>
          Hatched: not told apart from {against}. An empty place: not measured there, or too few
          common blocks.
        </p>
      }
    >
      <label class="inline">
        Relative to
        <select value={reference} onChange={(event) => setAsked(event.currentTarget.value)}>
          <option value="">the cheapest of each dimension</option>
          {shown.map((target) => (
            <option key={target} value={target}>
              {target}
            </option>
          ))}
        </select>
      </label>
      <div class="scrolling">
        <table class="map">
          <thead>
            <tr>
              <th scope="col">Dimension</th>
              {shown.map((target) => (
                <th key={target} scope="col">
                  {target}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ dimension, cells }) => (
              <tr key={dimension}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    onClick={() => go({ section: `dimension-${dimension}`, benchmark: null })}
                  >
                    {dimensionName(dimension)}
                  </button>
                  <small>{benchmarksOf(cells)}</small>
                </th>
                {shown.map((target) => (
                  <MapCell key={target} cell={cells.find((one) => one.target === target)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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

function MapCell({ cell }: { cell: Relative | undefined }) {
  if (cell === undefined) return <td class="empty">–</td>;
  const depth = Math.min(6, Math.floor(Math.abs(Math.log2(cell.ratio)) * 2));
  const side = cell.ratio >= 1 ? "dear" : "cheap";
  const alike = cell.verdict !== "real" && !cell.isReference ? " alike" : "";
  return (
    <td class={`depth-${depth} ${side}${alike}`}>
      <strong>{cell.isReference ? "1×" : ratio(cell.ratio)}</strong>
      {cell.interval && (
        <small>
          [{ratio(cell.interval.low)}, {ratio(cell.interval.high)}]
        </small>
      )}
      {cell.p !== null && <small>{pValue(cell.p)}</small>}
    </td>
  );
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
