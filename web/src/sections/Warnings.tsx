// What makes figures doubtful: all of it in one section, and beside the charts that it is about.

import type { CellView } from "../data/model";
import { typeset, words } from "../format/units";
import { useView } from "../view";
import { Fold } from "./Fold";

export function Warnings() {
  const { report, selection } = useView();
  const cells = selection.benchmarks.flatMap((benchmark) => benchmark.cells);
  return (
    <>
      {report.runs.map(({ page }, run) => {
        const said = page.prose.filter(
          (one) => one.kind === "warning" && selection.isShown(run, one),
        );
        return (
          <div key={page.name}>
            {report.runs.length > 1 && <h3>{page.name}</h3>}
            {said.length === 0 ? (
              <p>None.</p>
            ) : (
              <ul class="warnings">
                {said.map((one) => (
                  <li key={one.text}>{typeset(one.text)}</li>
                ))}
              </ul>
            )}
          </div>
        );
      })}
      <CellWarnings cells={cells} title="Cell by cell" />
    </>
  );
}

/** Warnings of these cells, each kind once with the cells that it is about. */
export function CellWarnings({ cells, title }: { cells: CellView[]; title?: string }) {
  const found = cells.flatMap((cell) => cell.report.warnings.map((warning) => ({ cell, warning })));
  if (found.length === 0) return null;
  const kinds = new Map<string, typeof found>();
  for (const one of found) {
    kinds.set(one.warning.kind, [...(kinds.get(one.warning.kind) ?? []), one]);
  }
  const doubtful = new Set(found.map(({ cell }) => cell)).size;
  const noun = cells.length === 1 ? "cell" : "cells";
  const verb = doubtful === 1 ? "has" : "have";
  return (
    <Fold
      class="doubts"
      title={
        <>
          <span aria-hidden="true">⚠</span>{" "}
          {title ?? `${doubtful} of ${cells.length} ${noun} ${verb} warnings`}:{" "}
          {[...kinds].map(([kind, all]) => `${words(kind)} (${all.length})`).join(", ")}
        </>
      }
    >
      {() => <WarningTable found={[...kinds.values()].flat()} />}
    </Fold>
  );
}

interface Found {
  cell: CellView;
  warning: CellView["report"]["warnings"][number];
}

function WarningTable({ found }: { found: Found[] }) {
  return (
    <div class="scrolling">
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            <th scope="col">Benchmark</th>
            <th scope="col">Warning</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ cell, warning }) => (
            <tr
              key={`${cell.side.label} ${cell.report.suite}/${cell.report.benchmark} ${warning.kind}`}
            >
              <td>{cell.side.label}</td>
              <td>{cell.report.title}</td>
              <td>{typeset(warning.message)}</td>
              <td>{warning.source}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
