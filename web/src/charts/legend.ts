// The legend of a colour scale: a strip of the palette with round values below it.

import { drawTicksBelow, powersOfTen, type Tick, withoutZeros } from "./axes";
import type { Painter } from "./painter";
import { colourOf, logShare, type Palette } from "./palettes";
import type { Theme } from "./theme";

export interface ColourScale {
  palette: Palette;
  least: number;
  most: number;
  isLog: boolean;
  /** What is counted, for the legend. */
  label: string;
  /** A value in words. */
  format(value: number): string;
  /** What cells without a value are called; no swatch without it. */
  never?: string;
}

export function shareOn(scale: ColourScale, value: number): number {
  if (scale.isLog) return logShare(value, scale.least, scale.most);
  return scale.most > scale.least ? (value - scale.least) / (scale.most - scale.least) : 1;
}

export const LEGEND_HEIGHT = 38;

const STRIP_HEIGHT = 10;
const STRIPES = 64;

/** Ticks of a scale that do not run into one another on a strip of this width. */
export function legendTicks(scale: ColourScale, width: number): Tick[] {
  const { least, most, isLog, format } = scale;
  const inner = isLog ? powersOfTen(least, most).filter((at) => at > least && at < most) : [];
  const tick = (at: number) => ({ at, text: withoutZeros(format(at)) });
  const ends = most > least ? [tick(least), tick(most)] : [tick(least)];
  const room = 52;
  const kept: Tick[] = [];
  let before = 0;
  for (const at of inner) {
    const x = shareOn(scale, at) * width;
    if (x - before < room || width - x < room) continue;
    kept.push(tick(at));
    before = x;
  }
  return [ends[0] as Tick, ...kept, ...ends.slice(1)];
}

/** Draws the legend with its upper left corner at x, y. */
export function drawLegend(
  painter: Painter,
  { x, y, width }: { x: number; y: number; width: number },
  scale: ColourScale,
  theme: Theme,
) {
  const label = scale.isLog ? `${scale.label} (log)` : scale.label;
  const named = painter.textWidth(label) + 14;
  const neverWidth = scale.never ? painter.textWidth(scale.never) + 30 : 0;
  const strip = Math.max(40, Math.min(280, width - named - neverWidth - 28));
  painter.text(label, x, y + STRIP_HEIGHT / 2, { fill: theme.muted });
  const left = x + named;
  for (let stripe = 0; stripe < STRIPES; stripe += 1) {
    const at = (stripe / STRIPES) * strip;
    // Half a pixel more than its share, so that no seam shows.
    const wide = Math.min(strip / STRIPES + 0.5, strip - at);
    const fill = colourOf(scale.palette, stripe / (STRIPES - 1));
    painter.rect(left + at, y, wide, STRIP_HEIGHT, fill);
  }
  const box = { x: left, y, width: strip, height: STRIP_HEIGHT };
  const place = (at: number) => left + shareOn(scale, at) * strip;
  drawTicksBelow(painter, box, legendTicks(scale, strip), place, theme);
  if (!scale.never) return;
  const swatch = left + strip + 24;
  painter.rect(swatch, y, STRIP_HEIGHT, STRIP_HEIGHT, theme.never);
  painter.outline(swatch + 0.5, y + 0.5, STRIP_HEIGHT - 1, STRIP_HEIGHT - 1, theme.muted);
  painter.text(scale.never, swatch + 15, y + STRIP_HEIGHT / 2, { fill: theme.muted });
}
