// What kinds of warnings mean to a reader: one row per kind, so that a new one cannot be forgotten.

import type { WarningReport } from "../contract";

export type WarningKind = WarningReport["kind"];

/** What a warning can do to what is read: it `misleads` if a figure may not be what its name says,
 * `blurs` if the figure is less certain, and `limits` if it does not apply elsewhere. */
export type Weight = "misleads" | "blurs" | "limits";

export interface WarningMeaning {
  weight: Weight;
  /** In a few words. */
  title: string;
  /** What it means for what is read here. */
  means: string;
}

const MEANINGS: Record<WarningKind, WarningMeaning> = {
  "journal-damaged": {
    weight: "misleads",
    title: "Part of the record is damaged",
    means: "What the damaged lines held is missing from every figure. Measure again.",
  },
  "no-steady-state": {
    weight: "misleads",
    title: "No steady state was reached",
    means: "The figures are of a system that was still changing; a longer run can give others.",
  },
  "warm-up-inside": {
    weight: "misleads",
    title: "Warming up was measured too",
    means: "The mean holds a slow beginning. See the time course under Single operations.",
  },
  "call-overhead-dominates": {
    weight: "misleads",
    title: "Mostly the cost of the system call",
    means: "Targets look more alike than they are, because most of the time is spent outside them.",
  },
  "clock-overhead": {
    weight: "misleads",
    title: "Reading the clock takes part of the time",
    means: "Short operations are faster than their figures say; compare ratios with care.",
  },
  "dirty-carried": {
    weight: "misleads",
    title: "Earlier writes were still being written",
    means: "The measurement may pay for work that was done before it.",
  },
  "cache-benchmark": {
    weight: "misleads",
    title: "A cache benchmark",
    means: "The file fits into memory, so the storage below shows in part of the figures at most.",
  },
  "unaligned-random-access": {
    weight: "misleads",
    title: "Random offsets are not aligned like sequential ones",
    means: "Part of the difference between random and sequential access is alignment.",
  },
  stalls: {
    weight: "misleads",
    title: "A few long operations make the mean",
    means: "Mean and p50 say different things: read both, and the tail under Single operations.",
  },
  trend: {
    weight: "misleads",
    title: "Figures drifted during the run",
    means: "The median lies between what it was and what it became. See Replicates in run order.",
  },
  "busy-machine": {
    weight: "misleads",
    title: "Other programs kept the machine busy",
    means: "A difference may be theirs and not the file systems'. Measure on an idle machine.",
  },
  "depends-on-volume-size": {
    weight: "misleads",
    title: "The difference depends on the volume's size",
    means: "On a larger volume it may be gone. Measure on one as large as yours: size=.",
  },
  "cpu-stolen": {
    weight: "blurs",
    title: "The hypervisor took processor time",
    means:
      "Times are longer than on a machine of one's own. Ratios, taken side by side, suffer less.",
  },
  "cpu-throttled": {
    weight: "blurs",
    title: "A processor quota was reached",
    means: "Some operations waited for the quota and not for the file system.",
  },
  "background-work": {
    weight: "blurs",
    title: "The file system works in the background",
    means: "Its work can fall into any block, and makes intervals wide.",
  },
  "fragile-zone": {
    weight: "blurs",
    title: "The working set is near the size of a cache",
    means: "Small changes of memory use change the figure much: it may not repeat elsewhere.",
  },
  "mean-above-median": {
    weight: "blurs",
    title: "Means are far above medians",
    means: "A slow part of the operations makes the mean. See Single operations for both.",
  },
  "speed-up-beyond-threads": {
    weight: "misleads",
    title: "More speed-up than threads",
    means: "The single thread was held up by something else. Compare times, not speed-ups.",
  },
  "far-outliers": {
    weight: "blurs",
    title: "Some blocks were far off",
    means: "Medians and comparisons hardly move; means do.",
  },
  "dependent-blocks": {
    weight: "blurs",
    title: "Blocks resemble the ones before them",
    means: "They count as fewer. Intervals of figures have been widened for that already.",
  },
  "dependent-ratios": {
    weight: "blurs",
    title: "Ratios resemble those of the block before",
    means: "They count as fewer. Intervals of comparisons have been widened for that already.",
  },
  "too-few-replicates": {
    weight: "blurs",
    title: "Too few replicates for an interval",
    means: "These figures stand alone: nothing says how far they vary. Give a larger --budget.",
  },
  "cache-state-not-as-asked": {
    weight: "blurs",
    title: "Replicates were thrown away",
    means:
      "They were not in the state that was asked for. What is left is, but there is less of it.",
  },
  "histogram-lost": {
    weight: "blurs",
    title: "No percentiles",
    means: "The histograms cannot be used; medians over blocks are not affected.",
  },
  "clock-drift": {
    weight: "blurs",
    title: "The clock drifted",
    means: "Times are off by as much; ratios are not.",
  },
  "more-concurrency-than-cores": {
    weight: "limits",
    title: "More threads than processors",
    means: "Threads take turns: this is how the machine shares, not how the file system scales.",
  },
  "timed-in-batches": {
    weight: "limits",
    title: "Timed several at a time",
    means: "One operation is too short for the clock, so percentiles are those of batches.",
  },
  "fresh-file-system": {
    weight: "limits",
    title: "The file system is new",
    means: "An aged one has fragments, and is slower. It can be aged first: see --help.",
  },
  "loop-buffered": {
    weight: "limits",
    title: "Reads may come from the cache of the image",
    means: "The device's own cost is hidden; choose another --scratch.",
  },
  "sparse-image": {
    weight: "limits",
    title: "First writes also allocate in the host's file system",
    means: "Appends and creates cost more here than on a device.",
  },
  "hidden-below": {
    weight: "limits",
    title: "The disk is virtual",
    means: "Cold is cold for this machine only: the host may have cached it.",
  },
};

export function meaningOfWarning(kind: WarningKind): WarningMeaning {
  return MEANINGS[kind];
}

export const WEIGHTS: readonly [Weight, string][] = [
  ["misleads", "May mislead: the figure may not be what its name says"],
  ["blurs", "Makes it less certain: intervals are wide, or had to be widened"],
  ["limits", "Limits where it holds: another machine or set-up may differ"],
];
