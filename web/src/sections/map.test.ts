import { expect, it } from "vitest";
import type { Verdict } from "../contract";
import { relativeTo } from "../data/relative";
import { gridCell } from "./Map";

const pair = (first: string, second: string, ratio: number | null) => ({
  benchmarks: 3,
  blocks: 9,
  first,
  second,
  ratio,
  interval: ratio === null ? null : { level: 0.95, low: ratio * 0.5, high: ratio * 2 },
  p_adjusted: 0.01,
  verdict: "real" as Verdict,
});

const little = "perhaps only slightly";

const said = (cells: ReturnType<typeof relativeTo>) =>
  cells.map(({ target, ratio, interval }) => [target, ratio, interval?.low, interval?.high]);

it("turns ratio and interval where the reference is the second of a pair", () => {
  const both = [pair("a", "b", 4)];
  expect(said(relativeTo(both, ["a", "b"], "a"))).toEqual([
    ["a", 1, undefined, undefined],
    ["b", 4, 2, 8],
  ]);
  expect(said(relativeTo(both, ["a", "b"], "b"))).toEqual([
    ["b", 1, undefined, undefined],
    ["a", 0.25, 0.125, 0.5],
  ]);
});

it("hatches what is not told apart, and not what differs by perhaps little", () => {
  const of = (verdict: Verdict) => {
    const differing = { ...pair("a", "b", 1.01), verdict };
    const [, cell] = relativeTo([differing], ["a", "b"], "a");
    return gridCell(cell as NonNullable<typeof cell>);
  };
  expect(of("real")).toMatchObject({ isAlike: false, lines: expect.not.arrayContaining([little]) });
  expect(of("real-size-unknown")).toMatchObject({ isAlike: false });
  expect(of("real-size-unknown").lines).toContain(little);
  expect(of("not-told-apart")).toMatchObject({ isAlike: true });
});

it("finds the cheapest, and leaves empty what was never compared with it", () => {
  const three = [pair("a", "b", 0.5), pair("b", "c", 3), pair("a", "c", null)];
  const cells = relativeTo(three, ["a", "b", "c"], "");
  expect(cells.map(({ target, ratio }) => [target, ratio])).toEqual([
    ["b", 1],
    ["a", 2],
    ["c", 3],
  ]);
  expect(relativeTo(three, ["a", "b", "c"], "a").map((one) => one.target)).toEqual(["a", "b"]);
  expect(relativeTo(three, ["a", "b"], "c")).toEqual([]);
});
