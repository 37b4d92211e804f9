import { expect, it } from "vitest";
import type { CellView, Curve } from "../data/model";
import { matrixOf, planesOf } from "./Planes";

const KIB = 1024;

function cell(side: number, code: number, data: number, value: number): CellView {
  const family = { family: "stat", title: "code", axis: "data", unit: "bytes", value: data };
  const report = {
    curve: {
      curve: `stat-${data}`,
      title: "code",
      axis: "code",
      unit: "bytes",
      value: code,
      family,
    },
    metrics: [{ name: "code_slowdown", unit: "x", figure: { value } }],
  };
  return { side: { index: side }, report, page: {} } as unknown as CellView;
}

function curve(data: number, cells: CellView[]): Curve {
  const benchmarks = cells.map((one) => ({ curve: one.report.curve, cells: [one] }));
  const name = `stat-${data}`;
  return { key: name, name, title: "code", axis: "code", unit: "bytes", benchmarks } as Curve;
}

const low = curve(4 * KIB, [
  cell(0, 8 * KIB, 4 * KIB, 1.25),
  cell(0, 4 * KIB, 4 * KIB, 1.125),
  cell(1, 4 * KIB, 4 * KIB, 3),
]);
const high = curve(8 * KIB, [cell(0, 4 * KIB, 8 * KIB, 1.5)]);

it("makes one plane of a family, with its own cells for each side", () => {
  const [plane, ...others] = planesOf([low, high]);
  expect(others).toEqual([]);
  if (plane === undefined) throw new Error("there is a plane");
  expect([plane.across.values, plane.up.values]).toEqual([
    [4 * KIB, 8 * KIB],
    [4 * KIB, 8 * KIB],
  ]);
  expect(Array.from(matrixOf(plane, 0).values)).toEqual([1.125, 1.25, 1.5, 0]);
  expect(Array.from(matrixOf(plane, 1).values)).toEqual([3, 0, 0, 0]);
  expect(matrixOf(plane, 0).rows.cell(1)).toBe("8 KiB of data");
});

it("makes none of a single curve", () => {
  expect(planesOf([low])).toEqual([]);
});
