// The sections of the page, from top to bottom; one that has nothing to show is not there.

import type { ComponentType } from "preact";
import { dimensionName, isOfOthers, isSearch } from "../data/model";
import type { View } from "../view";
import { Cliffs } from "./Cliffs";
import { Difference, DifferenceWarnings } from "./Difference";
import { DimensionSection } from "./Dimension";
import { Distribution } from "./Distribution";
import { Drift } from "./Drift";
import { Effects } from "./Effects";
import { Footprint } from "./Footprint";
import { MachineSection } from "./Machine";
import { CostMap } from "./Map";
import { Repeat } from "./Repeat";
import { Scalability } from "./Scalability";
import { Summary } from "./Summary";
import { Warnings } from "./Warnings";

export interface Section {
  id: string;
  title: string;
  /** Stands below the one before. */
  isSub?: boolean;
  Body: ComponentType;
}

const bodies = new Map<string, ComponentType>();

/** One component per dimension, made once: a new one would be drawn anew at every change. */
function dimensionBody(dimension: View["report"]["dimensions"][number]): ComponentType {
  let body = bodies.get(dimension);
  if (body === undefined) {
    body = () => DimensionSection({ dimension });
    bodies.set(dimension, body);
  }
  return body;
}

export function sections({ report, selection }: View): Section[] {
  const has = {
    searches: report.runs.some(isSearch),
    others: report.runs.some((run) => !isSearch(run)),
    fits: report.runs.some(({ document }) => (document.fits ?? []).length > 0),
    map: report.runs.some(({ document }) => (document.dimensions ?? []).length > 0),
    benchmarks: selection.benchmarks.length > 0,
    footprint: report.payload.cachemaps.length + report.payload.flame_graphs.length > 0,
    runs: report.runs.length > 0,
    compared: report.payload.compared != null,
  };
  const dimensions = report.dimensions.filter((dimension) =>
    selection.benchmarks.some((one) => one.dimension === dimension && isOfOthers(report, one)),
  );
  const all: (Section | false)[] = [
    has.runs && { id: "summary", title: "Summary", Body: Summary },
    has.compared && { id: "difference", title: "What changed", Body: Difference },
    has.map && { id: "map", title: "Dimensions × targets", Body: CostMap },
    has.searches && { id: "cliffs", title: "Cliffs", Body: Cliffs },
    ...dimensions.map((dimension) => ({
      id: `dimension-${dimension}`,
      title: dimensionName(dimension),
      Body: dimensionBody(dimension),
    })),
    has.fits && { id: "scalability", title: "How throughput grows", Body: Scalability },
    has.benchmarks && { id: "distribution", title: "Single operations", Body: Distribution },
    has.footprint && { id: "footprint", title: "Cache lines", Body: Footprint },
    has.others && { id: "effects", title: "Effects and contrasts", Body: Effects },
    has.benchmarks && { id: "drift", title: "Replicates in run order", Body: Drift },
    { id: "warnings", title: "Warnings", Body: has.compared ? DifferenceWarnings : Warnings },
    has.runs && { id: "machine", title: "Machine and targets", Body: MachineSection },
    has.runs && { id: "repeat", title: "Repeat the run, and raw data", Body: Repeat },
  ];
  return all.filter((section) => section !== false);
}
