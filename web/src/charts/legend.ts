// The legend of a colour scale: a strip of the palette with round values below it.

import { trimmed } from "../format/units";
import { drawTicksBelow, powersOfTen, type Tick } from "./axes";
import type { Painter } from "./painter";
import { colourOf, ENTRIES, entryOf, logShare, type Palette } from "./palettes";
import type { Theme, ThemeName } from "./theme";

export interface ColourScale {
  palette: Palette;
  least: number;
  most: number;
  isLog: boolean;
  /** What is counted, to label the legend. */
  label: string;
  /** A value in words. */
  format(value: number): string;
  /** What to call cells without a value; without this, there is no swatch for them. */
  never?: string;
  /** How much of the palette's beginning to leave out; see `firstOn`. */
  first: number;
}

/** On a dark surface, the darkest colours would look like what was never touched. */
export const firstOn: Record<ThemeName, number> = { light: 0, dark: 0.2 };

/** The palette entry for a position on the scale. */
export function entryFor({ first }: ColourScale, share: number): number {
  return entryOf(first + (1 - first) * share);
}

/** The position of a value on the scale, from 0 to 1. */
export function shareOn(scale: ColourScale, value: number): number {
  if (scale.isLog) return logShare(value, scale.least, scale.most);
  return scale.most > scale.least ? (value - scale.least) / (scale.most - scale.least) : 1;
}

/** The height of a legend at this width. */
export function legendHeight(width: number): number {
  return width < NARROW ? 56 : 38;
}

/** If narrower than this, in CSS pixels, the label is above the strip. */
const NARROW = 520;
/** A strip shorter than this has no room for ticks. */
const STRIP_LEAST = 110;
const STRIP_HEIGHT = 10;
const STRIPES = 64;

/** Ticks of a scale that do not collide on a strip of this width. */
export function legendTicks(scale: ColourScale, width: number): Tick[] {
  const { least, most, isLog, format } = scale;
  const inner = isLog ? powersOfTen(least, most).filter((at) => at > least && at < most) : [];
  const tick = (at: number) => ({ at, text: trimmed(format(at)) });
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
  const beside = width - named - neverWidth - 40;
  if (beside < STRIP_LEAST) {
    painter.text(label, x, y, { fill: theme.muted });
    const below = { x: x + 26, y: y + 14, width: Math.min(280, width - neverWidth - 54) };
    drawStrip(painter, below, scale, theme);
    return;
  }
  painter.text(label, x, y + STRIP_HEIGHT / 2, { fill: theme.muted });
  drawStrip(painter, { x: x + named, y, width: Math.min(280, beside) }, scale, theme);
}

/** The strip with its ticks, and the swatch for cells without a value. */
function drawStrip(
  painter: Painter,
  { x: left, y, width: strip }: { x: number; y: number; width: number },
  scale: ColourScale,
  theme: Theme,
) {
  for (let stripe = 0; stripe < STRIPES; stripe += 1) {
    const at = (stripe / STRIPES) * strip;
    // Half a pixel wider than its share, to avoid visible seams.
    const wide = Math.min(strip / STRIPES + 0.5, strip - at);
    const fill = colourOf(scale.palette, entryFor(scale, stripe / (STRIPES - 1)) / (ENTRIES - 1));
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
