// A point on a heat map maps to the cell drawn there, and ticks are where they should be.

import { describe, expect, it } from "vitest";
import { trimmed } from "../../format/units";
import { linearTicks, powersOfTen, thinned } from "../axes";
import { legendTicks } from "../legend";
import { viridis } from "../palettes";
import { themes } from "../theme";
import { latencyAxis, powerOfTwo, sharesOf, timeAxis, timelineSummary } from "../timeline";
import {
  boxOf,
  boxOfCell,
  cellAt,
  cellBeside,
  heatmapPixels,
  type Matrix,
  scaleOf,
  valueAt,
} from "./heatmap";

const axis = (cells: number) => ({ label: "", cells, ticks: [], cell: String });
const matrix: Matrix = { columns: axis(3), rows: axis(2), values: [0, 1, 10, 100, 0, 1000] };
const rest = { palette: viridis, first: 0, isLog: true, label: "", format: String };

describe("heat map", () => {
  it("finds each cell at the middle of its rectangle, and none outside", () => {
    const box = boxOf({ width: 700, height: 300 }, matrix);
    for (const row of [0, 1]) {
      for (const column of [0, 1, 2]) {
        const cell = boxOfCell(box, matrix, { column, row });
        const [x, y] = [cell.x + cell.width / 2, cell.y + cell.height / 2];
        expect(cellAt(box, matrix, x, y)).toEqual({ column, row });
      }
    }
    expect(cellAt(box, matrix, box.x - 1, box.y + 1)).toBeNull();
    expect(cellAt(box, matrix, box.x + 1, box.y + box.height + 1)).toBeNull();
  });

  it("walks with the arrow keys and stays inside", () => {
    expect(cellBeside({ column: 2, row: 0 }, "ArrowRight", matrix)).toEqual({ column: 2, row: 0 });
    expect(cellBeside({ column: 1, row: 0 }, "ArrowUp", matrix)).toEqual({ column: 1, row: 1 });
    expect(cellBeside({ column: 1, row: 0 }, "x", matrix)).toBeNull();
  });

  it("puts the lowest row at the bottom and leaves nothing in the colour of never", () => {
    const theme = themes.light;
    const pixels = heatmapPixels(matrix, scaleOf(matrix.values, rest), theme);
    expect(pixels[3]).toBe(0xffffffff);
    // 1000 is the maximum: the palette's last colour, #fde725, as ABGR.
    expect(pixels[2]).toBe(0xff25e7fd);
    expect(valueAt(matrix, { column: 2, row: 1 })).toBe(1000);
  });

  it("scales from the least value above 0", () => {
    expect(scaleOf(matrix.values, rest)).toMatchObject({ least: 1, most: 1000 });
    expect(scaleOf([0, 0], rest)).toMatchObject({ least: 1, most: 1 });
    expect(scaleOf([2, 4], { ...rest, isLog: false })).toMatchObject({ least: 0, most: 4 });
  });

  it("labels the ends of the legend and the powers of ten that have room", () => {
    const scale = scaleOf(matrix.values, rest);
    expect(legendTicks(scale, 300).map(({ at }) => at)).toEqual([1, 10, 100, 1000]);
    expect(legendTicks(scale, 100).map(({ at }) => at)).toEqual([1, 1000]);
  });
});

describe("ticks", () => {
  it("are round", () => {
    expect(linearTicks(1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(37, 4)).toEqual([0, 10, 20, 30]);
    expect(linearTicks(0, 4)).toEqual([0]);
    expect(["0.100 %", "10.0 ms", "100", "1.50 s", "0 s"].map(trimmed)).toEqual([
      "0.1 %",
      "10 ms",
      "100",
      "1.5 s",
      "0 s",
    ]);
    expect(powersOfTen(3, 20000)).toEqual([10, 100, 1000, 10000]);
  });

  it("keep their distance", () => {
    const ticks = [0, 1, 2, 3].map((at) => ({ at, text: "" }));
    expect(thinned(ticks, 16, (at) => at * 10).map(({ at }) => at)).toEqual([0, 2]);
  });
});

describe("histogram over time", () => {
  const count = Float64Array.from([1, 0, 3, 0]);
  const timeline = { slice_ns: 5e8, slices: 2, log2_first: 10, rows: 2, count };

  it("gives each slice's operations as shares", () => {
    expect([...sharesOf(timeline)]).toEqual([0.25, 0, 0.75, 0]);
  });

  it("names buckets by their limits and puts round times between them", () => {
    const { cell, ticks, cells } = latencyAxis({ ...timeline, log2_first: 9 });
    expect(cells).toBe(2);
    expect(cell(0)).toBe("512 ns to 1.02 µs");
    expect(ticks).toEqual([{ at: Math.log2(1000) - 9, text: "1 µs" }]);
    expect(powerOfTwo(23)).toBe("2²³");
    expect(timeAxis(timeline).cell(1)).toMatch(/^500 ms to 1/);
  });

  it("says what there is in a sentence", () => {
    expect(timelineSummary(timeline)).toContain("4 operations in 2 time slices");
    expect(timelineSummary({ ...timeline, count: new Float64Array(4) })).toMatch(/^No operation/);
  });
});
