// Ticks: round values of linear and logarithmic axes, and how they are drawn.

import type { Painter } from "./painter";
import type { Theme } from "./theme";

export interface Tick {
  /** In the unit of the axis: cells, for axes of cells. */
  at: number;
  text: string;
}

/** A step of 1, 2 or 5 times a power of ten, of which about `wanted` fit into `span`. */
export function roundStep(span: number, wanted: number): number {
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10;
  return step * power;
}

/** Round values from 0 to `end`. */
export function linearTicks(end: number, wanted: number): number[] {
  if (!(end > 0)) return [0];
  const step = roundStep(end, wanted);
  const count = Math.floor(end / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Powers of ten from `least` to `most`; both ends are included even if they are not powers. */
export function powersOfTen(least: number, most: number): number[] {
  const first = Math.ceil(Math.log10(least) - 1e-9);
  const last = Math.floor(Math.log10(most) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 10 ** (first + index));
}

/** The `ticks` that are at least `gap` away from the last one kept. */
export function thinned(ticks: readonly Tick[], gap: number, place: (at: number) => number) {
  let before = Number.NEGATIVE_INFINITY;
  return ticks.filter((tick) => {
    const at = place(tick.at);
    if (Math.abs(at - before) < gap) return false;
    before = at;
    return true;
  });
}

/** A rectangle in CSS pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const TICK = 4;

/** Ticks below a box; `place` gives the x of a tick. */
export function drawTicksBelow(
  painter: Painter,
  box: Box,
  ticks: readonly Tick[],
  place: (at: number) => number,
  theme: Theme,
) {
  const base = box.y + box.height;
  for (const tick of ticks) {
    const x = Math.round(place(tick.at)) + 0.5;
    painter.line(x, base, x, base + TICK, theme.muted);
    painter.text(tick.text, x, base + TICK + 8, { fill: theme.muted, align: "center", size: 11 });
  }
}

/** Ticks to the left of a box, or to its right; `place` gives the y of a tick. */
export function drawTicksBeside(
  painter: Painter,
  box: Box,
  ticks: readonly Tick[],
  place: (at: number) => number,
  { theme, side }: { theme: Theme; side: "left" | "right" },
) {
  const isLeft = side === "left";
  const [from, away] = isLeft ? [box.x, -1] : [box.x + box.width, 1];
  for (const tick of ticks) {
    const y = Math.round(place(tick.at)) + 0.5;
    painter.line(from, y, from + away * TICK, y, theme.muted);
    const style = { fill: theme.muted, align: isLeft ? "right" : "left", size: 11 } as const;
    painter.text(tick.text, from + away * (TICK + 4), y, style);
  }
}
