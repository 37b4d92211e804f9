// What doubts do to what is read; what each kind means is in the page's payload.

import type { WarningReport, Weight } from "../contract";

export type WarningKind = WarningReport["kind"];

export const WEIGHTS: readonly [Weight, string][] = [
  ["misleads", "May mislead: the figure may not be what its name says"],
  ["blurs", "Makes it less certain: intervals are wide, or had to be widened"],
  ["limits", "Limits where it holds: another machine or set-up may differ"],
];
