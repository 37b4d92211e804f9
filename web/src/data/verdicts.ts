// What verdicts mean to a reader: one row per verdict, so that a new one cannot be forgotten.

import type { RunVerdict, Verdict } from "../contract";

interface Meaning {
  /** Whether the two differ, as far as is known. */
  isDifferent: boolean;
  /** How to count it: "3 real". */
  counted: string;
  /** What to say beside a ratio, after better or worse if the two differ. */
  said: string;
}

const MEANINGS: Record<RunVerdict | Verdict, Meaning> = {
  real: { isDifferent: true, counted: "real", said: "" },
  "real-but-small": { isDifferent: true, counted: "real but small", said: "but only slightly" },
  "real-size-unknown": {
    isDifferent: true,
    counted: "real, perhaps small",
    said: "perhaps only slightly",
  },
  "differs-between-these-runs": {
    isDifferent: true,
    counted: "different between these runs",
    said: "in these runs",
  },
  same: { isDifferent: false, counted: "the same", said: "the same" },
  "same-in-these-runs": {
    isDifferent: false,
    counted: "the same in these runs",
    said: "the same in these runs",
  },
  "not-told-apart": {
    isDifferent: false,
    counted: "not told apart",
    said: "cannot be told apart",
  },
  "not-enough-data": { isDifferent: false, counted: "without enough data", said: "too few values" },
};

export function meaningOf(verdict: RunVerdict | Verdict): Meaning {
  return MEANINGS[verdict];
}
