// Cliffs and their causes in a few words, as marks on an axis.

import type { Marker } from "../charts/line/line-model";
import type { Cause, CliffReport } from "../contract";
import { onAxis } from "../format/units";

export function cliffMarker(cliff: CliffReport, colour: string): Marker {
  const between = `${onAxis(cliff.unit, cliff.low)} to ${onAxis(cliff.unit, cliff.high)}`;
  const label = `cliff, ${between}: ${causeName(cliff.cause)}`;
  return { from: cliff.low, to: cliff.high, label, colour };
}

/** A cause in a few words. */
export function causeName(cause: Cause): string {
  switch (cause.kind) {
    case "memory-limit":
      return "memory limit";
    case "processor-cache":
      return `L${cause.level} cache`;
    case "processors":
      return `${cause.processors} processors`;
    case "dirty-limit":
      return "dirty-data limit";
    case "journal":
      return "journal";
    case "read-ahead":
      return "read-ahead";
    default:
      return "cause unknown";
  }
}
