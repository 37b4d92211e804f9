// The sections of the page, from top to bottom, without those that have nothing to show. The answer
// comes first, then what it consists of, then the evidence, which is folded.

import type { ComponentType } from "preact";
import { dimensionName, isOfOthers, isSearch } from "../data/model";
import type { View } from "../view";
import { Answer } from "./Answer";
import { BetweenRuns } from "./BetweenRuns";
import { Cliffs } from "./Cliffs";
import { Difference, DifferenceWarnings } from "./Difference";
import { DimensionSection } from "./Dimension";
import { Distribution } from "./Distribution";
import { Drift } from "./Drift";
import { Effects } from "./Effects";
import { Footprint } from "./Footprint";
import { hasLargest, Largest } from "./Largest";
import { hasLoads, Loads } from "./Loads";
import { MachineSection } from "./Machine";
import { CostMap } from "./Map";
import { hasMistakes, Mistakes } from "./Mistakes";
import { hasNetwork, Network } from "./Network";
import { Repeat } from "./Repeat";
import { Scalability } from "./Scalability";
import { hasUnmeasured, Unmeasured } from "./Unmeasured";
import { Warnings } from "./Warnings";
import { Words } from "./Words";

/** How a section is placed on the page: `head` writes its own heading, which is that of the page;
 * `half` leaves room for another beside it; `evidence` is folded. */
export type SectionKind = "head" | "half" | "whole" | "evidence";

export interface Section {
  id: string;
  title: string;
  kind: SectionKind;
  /** What it contains, for people who see it folded. */
  teaser?: string;
  /** Whether it is printed even if it is folded. */
  onPaper?: boolean;
  /** Whether the selection asks for it, so that it is not folded. */
  isAsked?: boolean;
  Body: ComponentType;
}

const bodies = new Map<string, ComponentType>();

/** One component per dimension, made once: a new one would be rendered anew at every change. */
function dimensionBody(dimension: View["report"]["dimensions"][number]): ComponentType {
  let body = bodies.get(dimension);
  if (body === undefined) {
    body = () => DimensionSection({ dimension });
    bodies.set(dimension, body);
  }
  return body;
}

/** The most columns of the map that fit into half of the page. */
const HALF_COLUMNS_MOST = 4;

export function sections(view: View): Section[] {
  const { report, selection, route } = view;
  const comparison = report.payload.effects.comparison;
  const has = {
    searches: report.runs.some(isSearch),
    others: report.runs.some((run) => !isSearch(run)),
    fits: report.runs.some(({ document }) => (document.fits ?? []).length > 0),
    map: report.runs.some(({ document }) =>
      (document.dimensions ?? []).some((one) => one.ratio != null),
    ),
    benchmarks: selection.benchmarks.length > 0,
    footprint: report.payload.cachemaps.length + report.payload.flame_graphs.length > 0,
    runs: report.runs.length > 0,
    loads: hasLoads(view),
    largest: hasLargest(view),
    several: (comparison?.runs.length ?? 0) > 1,
    compared: report.payload.compared != null,
    // For a network file system, calls are counted, which its own section shows.
    timed: report.runs.some(({ page }) => page.network == null),
  };
  const dimensions = report.dimensions.filter(
    (dimension) =>
      has.timed &&
      selection.benchmarks.some((one) => one.dimension === dimension && isOfOthers(report, one)),
  );
  const isNarrow = report.runs.length === 1 && selection.sides.length <= HALF_COLUMNS_MOST;
  // Beside the dimensions are the loads, which weigh them, or else the largest differences.
  const isBeside = has.map && isNarrow && (has.loads || has.largest);
  const top: (Section | false)[] = [
    has.runs && { id: "summary", title: "The answer", kind: "head", Body: Answer },
    has.compared && { id: "difference", title: "What changed", kind: "head", Body: Difference },
    has.several && { id: "changes", title: "What changed", kind: "whole", Body: BetweenRuns },
    has.map && {
      id: "map",
      title: "Dimensions",
      kind: isBeside ? "half" : "whole",
      Body: CostMap,
    },
    has.loads && { id: "loads", title: "Loads", kind: isBeside ? "half" : "whole", Body: Loads },
    has.largest && {
      id: "largest",
      title: "Largest differences",
      kind: isBeside && !has.loads ? "half" : "whole",
      Body: Largest,
    },
    hasNetwork(view) && {
      id: "states",
      title: "States of the caches",
      kind: "whole",
      Body: Network,
    },
    hasMistakes(view) && {
      id: "mistakes",
      title: "Known mistakes",
      kind: "whole",
      Body: Mistakes,
    },
    has.searches && { id: "cliffs", title: "Cliffs", kind: "whole", Body: Cliffs },
    ...dimensions.map(
      (dimension): Section => ({
        id: `dimension-${dimension}`,
        title: dimensionName(dimension),
        kind: "whole",
        Body: dimensionBody(dimension),
      }),
    ),
    has.fits && {
      id: "scalability",
      title: "How throughput grows",
      kind: "whole",
      Body: Scalability,
    },
    has.footprint && { id: "footprint", title: "Cache lines", kind: "whole", Body: Footprint },
    {
      id: "warnings",
      title: "Warnings",
      kind: "whole",
      Body: has.compared ? DifferenceWarnings : Warnings,
    },
  ];
  const evidence: (Section | false)[] = [
    hasUnmeasured(view) && {
      id: "unmeasured",
      title: "Not measured",
      kind: "evidence",
      onPaper: true,
      teaser: "what was left out or given up, and why",
      Body: Unmeasured,
    },
    has.timed &&
      has.benchmarks && {
        id: "distribution",
        title: "Single operations",
        kind: "evidence",
        teaser:
          "of one benchmark: all figures, histograms, cumulative shares, tails, changes over time",
        isAsked: route.benchmark !== null,
        Body: Distribution,
      },
    has.timed &&
      has.others && {
        id: "effects",
        title: "Effects and contrasts",
        kind: "evidence",
        teaser: "analysis of variance over all benchmarks",
        Body: Effects,
      },
    has.benchmarks && {
      id: "drift",
      title: "Replicates in run order",
      kind: "evidence",
      teaser: "whether the machine changed meanwhile",
      Body: Drift,
    },
    has.runs && {
      id: "words",
      title: "In words",
      kind: "evidence",
      teaser: "every result as a sentence, and how sure it is",
      Body: Words,
    },
    has.runs && {
      id: "machine",
      title: "Machine and targets",
      kind: "evidence",
      onPaper: true,
      teaser: "all that is known of both, and what differs",
      Body: MachineSection,
    },
    has.runs && {
      id: "repeat",
      title: "Repeat the run, and raw data",
      kind: "evidence",
      onPaper: true,
      teaser: "the command line; CSV and JSON",
      Body: Repeat,
    },
  ];
  return [...top, ...evidence].filter((section) => section !== false);
}
