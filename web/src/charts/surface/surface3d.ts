// A matrix as a surface over its plane, seen from a selectable side: a parallel projection, drawn
// from back to front (painter's algorithm). A height field needs no sorting: it is enough to walk
// rows and columns away from the far corner.

import { type Matrix, valueAt } from "../heatmap/heatmap";

export interface View {
  /** Rotation about the vertical, in degrees; 0 looks along the rows' axis. */
  yaw: number;
  /** Elevation of the eye above the plane, in degrees. */
  pitch: number;
}

export const FIRST_VIEW: View = { yaw: -35, pitch: 32 };

const PITCH_LEAST = 5;
const PITCH_MOST = 85;

export function turned(view: View, yaw: number, pitch: number): View {
  return {
    yaw: ((((view.yaw + yaw + 180) % 360) + 360) % 360) - 180,
    pitch: Math.max(PITCH_LEAST, Math.min(PITCH_MOST, view.pitch + pitch)),
  };
}

/** Half the extent of the plane along its columns and its rows, and the maximum height. */
export const HALF_WIDTH = 1.5;
export const HALF_DEPTH = 0.8;
export const HEIGHT = 0.9;

/** A projection from the model to CSS pixels. */
export interface Projection {
  /** x points right along columns, z along rows (with the first nearest at yaw 0), y upwards. */
  x(x: number, z: number): number;
  y(x: number, y: number, z: number): number;
  /** Distance towards the viewer: greater is nearer. */
  nearness(x: number, z: number): number;
  /** The signs of x and z of the nearest vertical planes. */
  nearX: 1 | -1;
  nearZ: 1 | -1;
}

const RADIANS = Math.PI / 180;
/** Room around the surface for ticks and labels. */
const MARGIN = 56;

export function projectionOf(view: View, size: { width: number; height: number }): Projection {
  const [sinYaw, cosYaw] = [Math.sin(view.yaw * RADIANS), Math.cos(view.yaw * RADIANS)];
  const [sinPitch, cosPitch] = [Math.sin(view.pitch * RADIANS), Math.cos(view.pitch * RADIANS)];
  const [besideX, besideZ] = [Math.abs(cosYaw), Math.abs(sinYaw)];
  const wide = 2 * (HALF_WIDTH * besideX + HALF_DEPTH * besideZ);
  const deep = 2 * (HALF_WIDTH * besideZ + HALF_DEPTH * besideX);
  const tall = deep * sinPitch + HEIGHT * cosPitch;
  const across = (size.width - 2 * MARGIN) / wide;
  const scale = Math.max(10, Math.min(across, (size.height - 2 * MARGIN) / tall));
  const middleX = size.width / 2;
  const middleY = size.height / 2 + (HEIGHT * cosPitch * scale) / 2 - MARGIN / 5;
  const nearness = (x: number, z: number) => x * sinYaw + z * cosYaw;
  return {
    x: (x, z) => middleX + (x * cosYaw - z * sinYaw) * scale,
    y: (x, y, z) => middleY + (nearness(x, z) * sinPitch - y * cosPitch) * scale,
    nearness,
    nearX: sinYaw >= 0 ? 1 : -1,
    nearZ: cosYaw >= 0 ? 1 : -1,
  };
}

/** Heights from 0 to 1, per cell, in the order of the matrix. */
export function heightsOf(matrix: Matrix, isLog: boolean): Float64Array {
  const heights = Float64Array.from(matrix.values, (value) => (value > 0 ? value : 0));
  const most = heights.reduce((so, value) => Math.max(so, value), 0);
  if (most === 0) return heights;
  return heights.map((value) => heightOf(value, most, isLog));
}

/** Logarithms are of the value plus 1: nothing is at 0, one operation is above it. */
export function heightOf(value: number, most: number, isLog: boolean): number {
  return isLog ? Math.log1p(value) / Math.log1p(most) : value / most;
}

/** The x of a cell's middle in the model. */
export function modelX(column: number, cells: number): number {
  return ((column + 0.5) / cells) * 2 * HALF_WIDTH - HALF_WIDTH;
}

/** The z of a cell's middle. The first row is at the front. */
export function modelZ(row: number, cells: number): number {
  return HALF_DEPTH - ((row + 0.5) / cells) * 2 * HALF_DEPTH;
}

/** Four corners each, x and y alternating, farthest face first, with the maximum height of each
 * face. */
export interface Faces {
  count: number;
  corners: Float64Array;
  heights: Float64Array;
}

/** The surface between the middles of cells; faces without any height are left out. */
export function facesOf(matrix: Matrix, heights: Float64Array, projection: Projection): Faces {
  const [across, deep] = [matrix.columns.cells, matrix.rows.cells];
  const points = projectedPoints(across, deep, heights, projection);
  const faceCount = Math.max(0, (across - 1) * (deep - 1));
  const corners = new Float64Array(faceCount * 8);
  const highests = new Float64Array(faceCount);
  let count = 0;
  for (let j = 0; j < deep - 1; j += 1) {
    // z decreases with the row, so if the back is at the front, the order is already nearest last.
    const row = projection.nearZ === 1 ? deep - 2 - j : j;
    for (let i = 0; i < across - 1; i += 1) {
      const column = projection.nearX === 1 ? i : across - 2 - i;
      const first = row * across + column;
      const around = [first, first + 1, first + across + 1, first + across];
      const highest = around.reduce((so, at) => Math.max(so, heights[at] ?? 0), 0);
      if (highest === 0) continue;
      around.forEach((at, corner) => {
        corners[count * 8 + corner * 2] = points[at * 2] ?? 0;
        corners[count * 8 + corner * 2 + 1] = points[at * 2 + 1] ?? 0;
      });
      highests[count] = highest;
      count += 1;
    }
  }
  return { count, corners, heights: highests };
}

function projectedPoints(
  across: number,
  deep: number,
  heights: Float64Array,
  projection: Projection,
): Float64Array {
  const points = new Float64Array(across * deep * 2);
  for (let row = 0; row < deep; row += 1) {
    const z = modelZ(row, deep);
    for (let column = 0; column < across; column += 1) {
      const x = modelX(column, across);
      const at = row * across + column;
      points[at * 2] = projection.x(x, z);
      points[at * 2 + 1] = projection.y(x, (heights[at] ?? 0) * HEIGHT, z);
    }
  }
  return points;
}

/** A surface needs two cells in each direction, so a single one is drawn twice. */
export function widened(matrix: Matrix): Matrix {
  const { columns, rows } = matrix;
  if (columns.cells !== 1 && rows.cells !== 1) return matrix;
  const twice = (axis: typeof columns) =>
    axis.cells === 1
      ? { ...axis, cells: 2, ticks: axis.ticks.map((tick) => ({ ...tick, at: tick.at * 2 })) }
      : axis;
  const [wide, deep] = [twice(columns), twice(rows)];
  const values = new Float64Array(wide.cells * deep.cells);
  for (let row = 0; row < deep.cells; row += 1) {
    for (let column = 0; column < wide.cells; column += 1) {
      const cell = {
        column: Math.min(column, columns.cells - 1),
        row: Math.min(row, rows.cells - 1),
      };
      values[row * wide.cells + column] = valueAt(matrix, cell);
    }
  }
  return { columns: wide, rows: deep, values };
}
