// Draws a surface with its walls, axes and faces.

import { linearTicks, powersOfTen, type Tick, thinned } from "../axes";
import type { Size } from "../bitmap";
import { hexOf } from "../colour";
import type { Matrix } from "../heatmap/heatmap";
import { firstOn } from "../legend";
import type { Painter } from "../painter";
import { colourOf, ENTRIES, entryOf, type Palette, rgbAt } from "../palettes";
import type { Theme } from "../theme";
import {
  facesOf,
  HALF_DEPTH,
  HALF_WIDTH,
  HEIGHT,
  heightOf,
  type Projection,
  projectionOf,
  type View,
} from "./surface3d";

export interface SurfaceDrawing {
  matrix: Matrix;
  heights: Float64Array;
  most: number;
  isLog: boolean;
  /** What heights mean. */
  label: string;
  format(value: number): string;
  view: View;
  palette: Palette;
  theme: Theme;
}

export function drawSurface(painter: Painter, size: Size, drawing: SurfaceDrawing) {
  const projection = projectionOf(drawing.view, size);
  drawWalls(painter, projection, drawing);
  drawFaces(painter, projection, drawing);
  drawPlaneAxes(painter, projection, drawing, size.width);
  drawHeightAxis(painter, projection, drawing);
}

type Point = readonly [number, number, number];

function segment(painter: Painter, projection: Projection, from: Point, to: Point, colour: string) {
  painter.line(
    projection.x(from[0], from[2]),
    projection.y(...from),
    projection.x(to[0], to[2]),
    projection.y(...to),
    colour,
  );
}

function drawWalls(painter: Painter, projection: Projection, drawing: SurfaceDrawing) {
  const { rule } = drawing.theme;
  const [backX, backZ] = [-projection.nearX * HALF_WIDTH, -projection.nearZ * HALF_DEPTH];
  for (const tick of [{ at: 0 }, ...heightTicks(drawing)]) {
    const y = heightOf(tick.at, drawing.most, drawing.isLog) * HEIGHT;
    const corner: Point = [backX, y, backZ];
    segment(painter, projection, [-backX, y, backZ], corner, rule);
    segment(painter, projection, corner, [backX, y, -backZ], rule);
  }
  const top = HEIGHT;
  for (const [x, z] of [
    [backX, backZ],
    [-backX, backZ],
    [backX, -backZ],
  ] as const) {
    segment(painter, projection, [x, 0, z], [x, top, z], rule);
  }
  segment(painter, projection, [-backX, 0, backZ], [-backX, 0, -backZ], rule);
  segment(painter, projection, [backX, 0, -backZ], [-backX, 0, -backZ], rule);
}

/** Heights at which the walls are ruled. */
export function heightTicks({ most, isLog, format }: SurfaceDrawing): Tick[] {
  const values = isLog ? powersOfTen(Math.min(1, most), most) : linearTicks(most, 4).slice(1);
  return values.map((at) => ({ at, text: format(at) }));
}

/** Fill colours, and darker ones for the lines of the mesh. */
function coloursOf(palette: Palette): { fills: string[]; lines: string[] } {
  const entries = Array.from({ length: ENTRIES }, (_, entry) => entry / (ENTRIES - 1));
  const darker = (t: number) => {
    const [red, green, blue] = rgbAt(palette, t);
    return hexOf([red * 0.72, green * 0.72, blue * 0.72]);
  };
  return { fills: entries.map((t) => colourOf(palette, t)), lines: entries.map(darker) };
}

function drawFaces(painter: Painter, projection: Projection, drawing: SurfaceDrawing) {
  const faces = facesOf(drawing.matrix, drawing.heights, projection);
  const { fills, lines } = coloursOf(drawing.palette);
  const first = firstOn[drawing.theme.name];
  const corners = new Array<number>(8);
  for (let face = 0; face < faces.count; face += 1) {
    for (let at = 0; at < 8; at += 1) corners[at] = faces.corners[face * 8 + at] ?? 0;
    const entry = entryOf(first + (1 - first) * (faces.heights[face] ?? 0));
    painter.polygon(corners, fills[entry] as string, lines[entry], 0.6);
  }
}

/** Distance of ticks, their texts and an axis label from the plane, in CSS pixels. */
const OUT = { tick: 5, text: 14, label: 30, beside: 44 };

function drawPlaneAxes(
  painter: Painter,
  projection: Projection,
  drawing: SurfaceDrawing,
  width: number,
) {
  const { columns, rows } = drawing.matrix;
  const { nearX, nearZ } = projection;
  drawAxis(painter, projection, drawing.theme, {
    ticks: columns.ticks.map((tick) => ({ ...tick, at: tick.at / columns.cells })),
    label: columns.label,
    width,
    point: (t, out) => [(t * 2 - 1) * HALF_WIDTH, 0, nearZ * (HALF_DEPTH + out)],
  });
  drawAxis(painter, projection, drawing.theme, {
    ticks: rows.ticks.map((tick) => ({ ...tick, at: tick.at / rows.cells })),
    label: rows.label,
    width,
    point: (t, out) => [nearX * (HALF_WIDTH + out), 0, (1 - t * 2) * HALF_DEPTH],
  });
}

interface PlaneAxis {
  /** Ticks at 0 to 1 along the axis. */
  ticks: Tick[];
  label: string;
  /** The position `t` along the axis, `out` beyond the edge of the plane. */
  point(t: number, out: number): Point;
  /** Width of the whole picture. */
  width: number;
}

function drawAxis(painter: Painter, projection: Projection, theme: Theme, axis: PlaneAxis) {
  const { width } = axis;
  const projected = ([x, y, z]: Point) => [projection.x(x, z), projection.y(x, y, z)] as const;
  const [edge, beyond] = [projected(axis.point(0.5, 0)), projected(axis.point(0.5, 1))];
  const unit = Math.hypot(beyond[0] - edge[0], beyond[1] - edge[1]) || 1;
  const place = (t: number, out: number) => {
    const [x, y] = projected(axis.point(t, 0));
    const along = (from: number, to: number) => ((to - from) / unit) * out;
    return [x + along(edge[0], beyond[0]), y + along(edge[1], beyond[1])] as const;
  };
  const [from, to] = [place(0, 0), place(1, 0)];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  // An axis seen from its end has no room for ticks.
  if (length < 60) return;
  painter.line(...from, ...to, theme.muted);
  const leans = ((beyond[0] - edge[0]) / unit) * OUT.label;
  // Next to tick texts, a label must clear their width; below them, only their height.
  const outside = place(0.5, OUT.label + (Math.abs(leans) / OUT.label) * OUT.beside);
  const align = Math.abs(leans) < 8 ? "center" : leans < 0 ? "right" : "left";
  for (const tick of thinned(axis.ticks, 30, (at) => at * length)) {
    painter.line(...place(tick.at, 0), ...place(tick.at, OUT.tick), theme.muted);
    painter.text(tick.text, ...place(tick.at, OUT.text), { fill: theme.muted, align, size: 11 });
  }
  // The label may extend below the axis, but not beyond the edge of the picture.
  const wide = painter.textWidth(axis.label);
  const start = { left: 0, center: wide / 2, right: wide }[align];
  const wanted = outside[0] - start;
  const x = Math.max(4, Math.min(width - wide - 4, wanted));
  // If it is moved along the axis, it would cover ticks.
  const below = Math.abs(x - wanted) > 2 ? 46 : 16;
  painter.text(axis.label, x, outside[1] + below, { fill: theme.ink });
}

/** The height axis is at the leftmost corner of the walls. */
function drawHeightAxis(painter: Painter, projection: Projection, drawing: SurfaceDrawing) {
  const { theme } = drawing;
  const { nearX, nearZ } = projection;
  const corners: [number, number][] = [
    [nearX * HALF_WIDTH, -nearZ * HALF_DEPTH],
    [-nearX * HALF_WIDTH, nearZ * HALF_DEPTH],
  ];
  const [x, z] = corners.reduce((left, corner) =>
    projection.x(...corner) < projection.x(...left) ? corner : left,
  );
  segment(painter, projection, [x, 0, z], [x, HEIGHT, z], theme.muted);
  const left = projection.x(x, z);
  const yAt = (value: number) =>
    projection.y(x, heightOf(value, drawing.most, drawing.isLog) * HEIGHT, z);
  for (const tick of thinned(heightTicks(drawing), 14, yAt)) {
    painter.line(left - 4, yAt(tick.at), left, yAt(tick.at), theme.muted);
    const style = { fill: theme.muted, align: "right", size: 11 } as const;
    painter.text(tick.text, left - 7, yAt(tick.at), style);
  }
  const label = drawing.isLog ? `${drawing.label} (log)` : drawing.label;
  const top = projection.y(x, HEIGHT, z) - 14;
  painter.text(label, Math.max(4, left - painter.textWidth(label)), top, { fill: theme.ink });
}
