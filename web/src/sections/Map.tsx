// The map of dimensions and targets: what each target costs in each dimension, relative to the
// cheapest or to a target that the reader chooses. Never a score: dimensions are not added up.

import { useState } from "preact/hooks";
import { ChartFrame, measured } from "../charts/frame";
import { GridTable } from "../charts/grid/GridTable";
import { depthOf, type GridCell, type GridModel, gridSvg } from "../charts/grid/grid-svg";
import { pictureOf } from "../charts/picture";
import type { Document } from "../contract";
import { dimensionName } from "../data/model";
import { type Relative, relativeTo } from "../data/relative";
import { saidRelative } from "../data/standing";
import { meaningOf } from "../data/verdicts";
import { percent, pValue, ratio } from "../format/units";
import { useView } from "../view";
import { Unfiltered } from "./Unfiltered";

export function CostMap() {
  const { report } = useView();
  return (
    <div class={report.runs.length > 1 ? "pair" : undefined}>
      {report.runs.map(({ page, document }, run) => (
        <RunMap key={page.name} run={run} document={document} name={page.name} />
      ))}
    </div>
  );
}

function RunMap({ run, document, name }: { run: number; document: Document; name: string }) {
  const { report, selection, route, theme, go } = useView();
  const [asked, setAsked] = useState("");
  const shown = selection.sides.filter((side) => side.run === run).map((side) => side.target);
  // A target that is not shown cannot be the reference.
  const reference = shown.includes(asked) ? asked : "";
  const dimensions = [...new Set((document.dimensions ?? []).map((one) => one.dimension))].filter(
    (dimension) => route.dimension === null || route.dimension === dimension,
  );
  const rows = dimensions.map((dimension) => ({
    dimension,
    cells: relativeTo(
      (document.dimensions ?? []).filter((one) => one.dimension === dimension),
      shown,
      reference,
    ),
  }));
  const isBest = (cell: Relative, all: Relative[]) =>
    cell.isReference &&
    reference === "" &&
    all.some((one) => !one.isReference && meaningOf(one.verdict).isDifferent);
  const place = (target: string, all: Relative[]) => {
    const cell = all.find((one) => one.target === target);
    return cell ? gridCell(cell, isBest(cell, all)) : null;
  };
  const title = report.runs.length > 1 ? `Relative cost: ${name}` : "Relative cost";
  const against = reference === "" ? "the cheapest in each dimension" : reference;
  const model: GridModel = {
    title: `${title}, relative to ${against}`,
    columns: shown,
    rows: rows.map(({ dimension, cells }) => ({
      name: dimensionName(dimension),
      cells: shown.map((target) => place(target, cells)),
    })),
  };
  return (
    <ChartFrame
      title={title}
      file="map"
      picture={() => pictureOf(() => gridSvg(model, theme))}
      summary={`Cost as a multiple of ${against}: geometric mean over a dimension's benchmarks, with its ${percent(document.run.confidence_level)} interval. Dimensions are never added up.`}
      table={() => ({
        head: ["dimension", "target", "ratio", "low", "high", "p", "verdict", "benchmarks"],
        rows: rows.flatMap(({ dimension, cells }) =>
          cells.map((cell) => [
            dimensionName(dimension),
            cell.target,
            measured(cell.ratio, ratio),
            measured(cell.interval?.low, ratio),
            measured(cell.interval?.high, ratio),
            measured(cell.p, pValue),
            cell.isReference ? "reference" : cell.verdict,
            cell.benchmarks,
          ]),
        ),
      })}
      notes={
        <>
          <Unfiltered what="A dimension’s ratio" />
          <p>
            Green: costs least. Hatched: cannot be told apart from {against}, given how many are
            compared. Dash: not measured there, or too few common blocks.
          </p>
        </>
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
                onClick={() => go({ section: `dimension-${dimension}` })}
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

export function gridCell(relative: Relative, isBest = false): GridCell {
  const { ratio: value, verdict, isReference } = relative;
  const said = saidRelative(relative);
  return {
    lines: [
      isReference ? "1×" : said.value,
      ...(said.interval !== "" ? [said.interval] : []),
      ...(verdict === "real-size-unknown" ? ["perhaps only slightly"] : []),
    ],
    depth: depthOf(value),
    isDear: value >= 1,
    isAlike: !meaningOf(verdict).isDifferent && !isReference,
    isBest,
    isPlain: isReference,
  };
}
