import { expect, it } from "vitest";
import type { Verdict } from "../contract";
import type { Benchmark, Report } from "./model";
import { standings, verb, worse } from "./standing";

const interval = { level: 0.95, low: 0.9, high: 1.1 };

/** A benchmark with three targets, and the verdict on each pair. */
function measured(medians: number[], verdicts: Verdict[], better = "lower") {
  const targets = ["a", "b", "c"];
  const pairs = [[0, 1] as const, [0, 2] as const, [1, 2] as const];
  const comparisons = pairs.map(([first, second], place) => ({
    benchmark: "create",
    metric: "time_per_operation",
    first: targets[first],
    second: targets[second],
    ratio: (medians[second] as number) / (medians[first] as number),
    interval,
    verdict: verdicts[place],
    blocks: 9,
  }));
  const cells = targets.map((target, index) => ({
    side: { index, run: 0, target, label: target },
    report: {
      metrics: [{ name: "time_per_operation", better, figure: { value: medians[index] } }],
    },
  }));
  const benchmark = { key: "nano/create", name: "create", cells } as unknown as Benchmark;
  const report = { runs: [{ document: { comparisons } }] } as unknown as Report;
  return standings(report, benchmark).map(({ cell, relative, isFirst, isBest, isAlike }) => [
    cell.side.target,
    relative?.ratio,
    isBest ? "best" : isFirst ? "first" : isAlike ? "alike" : "worse",
  ]);
}

it("marks as the best what has the best figure, where another is worse for certain", () => {
  expect(measured([2, 1, 4], ["not-told-apart", "real", "real"])).toEqual([
    ["a", 2, "alike"],
    ["b", 1, "best"],
    ["c", 4, "worse"],
  ]);
});

it("marks none as the best where nothing is told apart", () => {
  const none: Verdict[] = ["not-told-apart", "not-told-apart", "not-told-apart"];
  expect(measured([2, 1, 4], none).map(([, , how]) => how)).toEqual(["alike", "first", "alike"]);
});

it("turns ratios where more is better", () => {
  expect(measured([2, 1, 4], ["real", "real", "real"], "higher")).toEqual([
    ["a", 2, "worse"],
    ["b", 4, "worse"],
    ["c", 1, "best"],
  ]);
});

it("says of times and rates that they are slower, and of counts what they are", () => {
  const name = "one";
  expect(worse({ name, unit: "ns", better: "lower" })).toBe("slower");
  expect(worse({ name, unit: "operations/s", better: "higher" })).toBe("slower");
  expect(worse({ name, unit: "count", better: "lower" })).toBe("larger");
  expect(worse({ name, unit: "x", better: "higher" })).toBe("lower");
  expect(verb({ name, unit: "x", better: "higher" })).toBe("");
  const slowdown = { name: "code_slowdown", unit: "x", better: "lower" } as const;
  expect([verb(slowdown), worse(slowdown)]).toEqual(["slows the code ", "more"]);
});
