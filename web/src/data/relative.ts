// Pairs of targets, as the document compares them, turned so that each target is a multiple of one:
// a target that is named, or the best.

import type { Comparison, DimensionComparison, IntervalReport } from "../contract";

/** A comparison of a pair; `ratio` is second over first. */
export type Pair = Pick<Comparison, "first" | "second" | "verdict"> &
  Partial<Pick<Comparison, "ratio" | "interval" | "p_adjusted" | "blocks">> &
  Partial<Pick<DimensionComparison, "benchmarks">>;

/** What one target costs, relative to another: above 1 is worse. */
export interface Relative {
  target: string;
  ratio: number;
  interval: IntervalReport | null;
  verdict: Comparison["verdict"];
  /** The p-value, adjusted for the number of comparisons. */
  p: number | null;
  blocks: number;
  benchmarks: number;
  isReference: boolean;
}

const UNKNOWN: IntervalReport = { low: Number.NaN, high: Number.NaN, level: 0 };

/** Each target's cost relative to a reference: the one named, or the cheapest, which no other is
 * cheaper than. Empty if that is not compared. Pairs are turned for metrics of which more is
 * better. */
export function relativeTo(
  all: readonly Pair[],
  targets: readonly string[],
  reference: string,
  isMoreBetter = false,
): Relative[] {
  const pairs = all.filter((one) => targets.includes(one.first) && targets.includes(one.second));
  const to = (base: string): Relative[] =>
    pairs.flatMap((pair) => {
      if (pair.ratio == null || (pair.first !== base && pair.second !== base)) return [];
      const isSecond = pair.second === base;
      const isTurned = isSecond !== isMoreBetter;
      const { low, high, level } = pair.interval ?? UNKNOWN;
      const turned = isTurned ? { low: 1 / high, high: 1 / low, level } : { low, high, level };
      return {
        target: isSecond ? pair.first : pair.second,
        ratio: isTurned ? 1 / pair.ratio : pair.ratio,
        interval: pair.interval == null ? null : turned,
        verdict: pair.verdict,
        p: pair.p_adjusted ?? null,
        blocks: pair.blocks ?? 0,
        benchmarks: pair.benchmarks ?? 0,
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
    blocks: 0,
    benchmarks: 0,
    isReference: true,
  };
  return [itself, ...to(base)];
}

/** The target that most others cost more than. Pairs over different blocks need not agree. */
function cheapest(targets: string[], to: (base: string) => Relative[]): string | undefined {
  const dearer = (base: string) => to(base).filter((other) => other.ratio >= 1).length;
  return [...targets].sort((one, other) => dearer(other) - dearer(one))[0];
}
