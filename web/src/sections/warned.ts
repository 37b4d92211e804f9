// The warnings about what is shown, each kind once: those of runs, and those of their cells.

import type { PageDoubt, WarningReport } from "../contract";
import { type WarningKind, WEIGHTS } from "../data/meanings";
import type { CellView } from "../data/model";
import type { View } from "../view";

/** A warning, and the cell that it is about; null if it is about a run. */
export interface Found {
  cell: CellView | null;
  warning: WarningReport;
}

export interface Kind {
  kind: WarningKind;
  meaning: PageDoubt;
  found: Found[];
  /** The cells that have it. */
  cells: CellView[];
}

/** Each kind with all that have it, ordered by what it can do. */
export function groupedBy(found: Found[], doubts: PageDoubt[]): Kind[] {
  const kinds = new Map<WarningKind, Found[]>();
  for (const one of found) {
    kinds.set(one.warning.kind, [...(kinds.get(one.warning.kind) ?? []), one]);
  }
  const all = doubts.flatMap((meaning) => {
    const own = kinds.get(meaning.kind as WarningKind);
    if (own === undefined) return [];
    const cells = [...new Set(own.flatMap(({ cell }) => cell ?? []))];
    return [{ kind: meaning.kind as WarningKind, meaning, found: own, cells }];
  });
  const rank = ({ meaning }: Kind) => WEIGHTS.findIndex(([weight]) => weight === meaning.weight);
  return all.sort((one, other) => rank(one) - rank(other) || other.cells.length - one.cells.length);
}

export function foundIn(cells: CellView[]): Found[] {
  return cells.flatMap((cell) => cell.report.warnings.map((warning) => ({ cell, warning })));
}

/** All kinds of the page, for the cells that are shown. */
export function kindsOf({ report, selection }: View): Kind[] {
  const ofRuns = report.runs.flatMap(({ document }) =>
    document.warnings.map((warning) => ({ cell: null, warning })),
  );
  const cells = selection.benchmarks.flatMap((benchmark) => benchmark.cells);
  return groupedBy([...ofRuns, ...foundIn(cells)], report.payload.doubts);
}

/** The subject of warnings about traces, which do not belong to a cell: `TRACES` of the run's
 * record. */
const TRACES = "footprint";

/** Why traces are doubtful, or missing. */
export function tracesOf({ report, selection }: View): string[] {
  return report.runs.flatMap(({ page }, run) =>
    page.prose
      .filter((one) => one.kind === "warning" && one.subject === TRACES)
      .filter((one) => selection.isShown(run, one))
      .map(({ text }) => text),
  );
}
