import { describe, expect, it } from "vitest";
import { coarse, cumulative, fine, type Shares, tail } from "./histogram";

const arrays = (...rows: [number, number, number][]) =>
  [0, 1, 2].map((column) => Float64Array.from(rows, (row) => row[column] as number)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];

const area = (shares: Shares) => shares.reduce((sum, [, share]) => sum + share, 0);

describe("histograms", () => {
  it("count each operation once, in the power of 2 it belongs to", () => {
    const shares = coarse(...arrays([1000, 1008, 3], [1016, 1024, 1], [1024, 1032, 4]));
    expect(area(shares)).toBeCloseTo(1);
    expect(shares.find(([x]) => Math.abs(x - 512) < 1)?.[1]).toBeCloseTo(0.5);
    expect(shares.find(([x]) => Math.abs(x - 1024) < 1)?.[1]).toBeCloseTo(0.5);
  });

  it("show the gap between two modes as empty", () => {
    const shares = coarse(...arrays([100, 101, 1], [100_000, 100_352, 1]));
    const between = shares.filter(([x]) => x > 200 && x < 60_000);
    expect(between.length).toBeGreaterThan(5);
    expect(between.every(([, share]) => share === 0)).toBe(true);
  });

  it("add up to 1 in bins of equal width", () => {
    const shares = fine(...arrays([3, 4, 5], [1000, 1008, 3], [70_000, 70_656, 2]));
    expect(area(shares)).toBeCloseTo(1);
  });

  it("spread a bucket that is wider than a bin evenly over it", () => {
    const shares = fine(...arrays([2, 4, 1]));
    const inside = shares.filter(([, share]) => share > 0);
    expect(inside).toHaveLength(24);
    expect(new Set(inside.map(([, share]) => share.toFixed(9))).size).toBe(1);
  });

  it("cumulate to all operations, and say where half of them were done", () => {
    const shares = cumulative(...arrays([1000, 1008, 3], [2000, 2016, 2], [9000, 9064, 1]));
    expect(shares[0]).toEqual([1000, 0]);
    expect(shares.at(-1)).toEqual([9064, 1]);
    expect(shares.find(([, share]) => share >= 0.5)?.[0]).toBe(1008);
    expect(shares.every(([, share], at) => at === 0 || share >= (shares[at - 1]?.[1] ?? 0))).toBe(
      true,
    );
    expect(cumulative(...arrays())).toEqual([]);
  });

  it("have a tail that falls to the share of one operation and reaches the longest", () => {
    const rows: [number, number, number][] = [
      [1000, 1008, 980],
      [2000, 2016, 19],
      [90_000_000, 90_177_536, 1],
    ];
    const shares = tail(...arrays(...rows));
    expect(shares).toEqual([
      [1000, 1],
      [1008, 0.02],
      [2016, 0.001],
      [90_177_536, 0.001],
    ]);
    expect(shares.every(([, share]) => share > 0)).toBe(true);
    expect(tail(...arrays([1000, 1008, 5]))).toEqual([
      [1000, 1],
      [1008, 1],
    ]);
    expect(tail(...arrays())).toEqual([]);
  });
});
