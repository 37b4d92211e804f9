import { expect, it } from "vitest";
import { aligned, type LineSeries, rowsOf } from "./line-model";

const series = (...points: [number, number][]): LineSeries => ({
  label: "a",
  colour: "#000000",
  dash: [],
  points: points.map(([x, y]) => ({ x, y })),
});

// All replicates of a probe are at the probe's position. Only the last one used to be drawn.
it("keeps all points of one place", () => {
  const { x, columns } = aligned([series([1, 5], [2, 6], [2, 7], [3, 8]), series([2, 9])]);
  expect(x).toEqual([1, 2, 2, 3]);
  expect(columns.map(({ y }) => y)).toEqual([
    [5, 6, 7, 8],
    [null, 9, null, null],
  ]);
});

it("has nothing where a series has no point, or none that is a number", () => {
  const { x, columns } = aligned([series([1, Number.NaN], [3, 4]), series([2, 5])]);
  expect(x).toEqual([1, 2, 3]);
  expect(columns.map(({ y }) => y)).toEqual([
    [null, null, 4],
    [null, 5, null],
  ]);
});

it("puts names that would run into each other into rows", () => {
  const places = [
    { start: 0, width: 50 },
    { start: 30, width: 50 },
    { start: 70, width: 20 },
    { start: 75, width: 20 },
  ];
  expect(rowsOf(places)).toEqual([0, 1, 0, 2]);
});
