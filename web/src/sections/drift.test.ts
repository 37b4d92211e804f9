import { expect, it } from "vitest";
import { costsOverMedian } from "./Drift";

it("puts what is worse above 1, whichever way the metric counts", () => {
  const values = Float64Array.of(5, 10, 20, 0, Number.NaN);
  const of = (better: "lower" | "higher" | "neither") =>
    costsOverMedian({ better, median: 10 }, values);
  expect(of("lower")).toEqual([0.5, 1, 2, null, null]);
  expect(of("higher")).toEqual([2, 1, 0.5, null, null]);
  expect(of("neither")).toEqual([null, null, null, null, null]);
});
