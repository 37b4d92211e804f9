// The projection puts near things in front and lower, and faces are ordered from back to front.

import { describe, expect, it } from "vitest";
import type { Matrix } from "../heatmap/heatmap";
import { facesOf, heightOf, heightsOf, projectionOf, turned, widened } from "./surface3d";

const size = { width: 800, height: 440 };
const axis = (cells: number) => ({ label: "", cells, ticks: [], cell: String });
const matrix: Matrix = {
  columns: axis(4),
  rows: axis(3),
  values: Array.from({ length: 12 }, (_, at) => at + 1),
};

describe("surface", () => {
  it.each([0, 30, 100, 170, -30, -120])("orders faces by nearness at a yaw of %d", (yaw) => {
    const projection = projectionOf({ yaw, pitch: 30 }, size);
    // On a flat surface, what is nearer is lower on the screen.
    const flat = new Float64Array(12).fill(1e-12);
    const { corners, count } = facesOf(matrix, flat, projection);
    expect(count).toBe(6);
    const middle = (face: number) =>
      [1, 3, 5, 7].reduce((sum, at) => sum + (corners[face * 8 + at] ?? 0), 0) / 4;
    // Neighbours along either axis, with three faces per row.
    for (const [before, after] of [
      [0, 1],
      [1, 2],
      [0, 3],
      [2, 5],
    ] as const) {
      expect(middle(after)).toBeGreaterThanOrEqual(middle(before) - 1e-6);
    }
  });

  it("fits into its place from every side", () => {
    for (let yaw = -180; yaw < 180; yaw += 15) {
      const projection = projectionOf({ yaw, pitch: 40 }, size);
      for (const x of [-1.5, 1.5]) {
        for (const z of [-0.8, 0.8]) {
          expect(projection.x(x, z)).toBeGreaterThan(0);
          expect(projection.x(x, z)).toBeLessThan(size.width);
          expect(projection.y(x, 0.9, z)).toBeGreaterThan(0);
          expect(projection.y(x, 0, z)).toBeLessThan(size.height);
        }
      }
    }
  });

  it("raises heights linearly or by logarithm", () => {
    expect(heightOf(5, 10, false)).toBe(0.5);
    expect(heightOf(0, 10, true)).toBe(0);
    expect(heightOf(10, 10, true)).toBe(1);
    expect([...heightsOf({ ...matrix, values: new Array(12).fill(0) }, true)]).toEqual(
      new Array(12).fill(0),
    );
  });

  it("leaves out faces without height", () => {
    const heights = new Float64Array(12);
    heights[0] = 1;
    expect(facesOf(matrix, heights, projectionOf({ yaw: 20, pitch: 30 }, size)).count).toBe(1);
  });

  it("turns all the way round, but never below the plane or over the top", () => {
    expect(turned({ yaw: 170, pitch: 80 }, 20, 20)).toEqual({ yaw: -170, pitch: 85 });
    expect(turned({ yaw: 0, pitch: 6 }, 0, -20).pitch).toBe(5);
  });

  it("draws a single slice twice", () => {
    const wide = widened({ columns: axis(1), rows: axis(3), values: [1, 2, 3] });
    expect(wide.columns.cells).toBe(2);
    expect([...(wide.values as Float64Array)]).toEqual([1, 1, 2, 2, 3, 3]);
  });
});
