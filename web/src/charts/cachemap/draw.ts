// Draws a cachemap: a bitmap with one pixel per byte, made once, with a strip for each column.

import { bitmapOf, packedColour, packedPalette } from "../bitmap";
import { rgbOf } from "../colour";
import { type ColourScale, entryFor, shareOn } from "../legend";
import { clipped, type Painter } from "../painter";
import type { Theme } from "../theme";
import type { Byte, CachemapData, Layout, Region } from "./layout";
import { cornerOf, NAME_HEIGHT, namedRegions, TOP } from "./layout";

/** One pixel per byte, one row per line. Counts are mostly small, so their colours are cached. */
export function cachemapPixels(map: CachemapData, scale: ColourScale, theme: Theme): Uint32Array {
  const colours = packedPalette(scale.palette);
  const known = new Map<number, number>([[0, packedColour(...rgbOf(theme.never))]]);
  return map.count.length === 0
    ? new Uint32Array(0)
    : map.count.map((times) => {
        let colour = known.get(times);
        if (colour === undefined) {
          colour = colours[entryFor(scale, shareOn(scale, times))] as number;
          known.set(times, colour);
        }
        return colour;
      });
}

/** A bitmap per column: browsers refuse bitmaps of very many rows. */
export function columnBitmaps(pixels: Uint32Array, layout: Layout): HTMLCanvasElement[] {
  const perColumn = layout.rows * layout.lineBytes;
  return Array.from({ length: layout.columns }, (_, column) => {
    const part = pixels.slice(column * perColumn, (column + 1) * perColumn);
    return bitmapOf(part, { width: layout.lineBytes, height: part.length / layout.lineBytes });
  });
}

export interface CachemapDrawing {
  map: CachemapData;
  layout: Layout;
  bitmaps: readonly HTMLCanvasElement[];
  regions: readonly Region[];
  theme: Theme;
  selected: Byte | null;
  /** Lines that a search found. */
  found: readonly number[];
  /** How far the map is scrolled, and how much of it is visible, in CSS pixels. */
  scrolled: number;
  seen: number;
}

export function drawCachemap(painter: Painter, drawing: CachemapDrawing) {
  const { layout, bitmaps, theme, map, scrolled, seen } = drawing;
  bitmaps.forEach((bitmap, column) => {
    const x = column * layout.pitch + layout.margin;
    const width = layout.lineBytes * layout.cell;
    const [y, height] = [TOP - scrolled, bitmap.height * layout.cell];
    painter.image(bitmap, x, y, width, height);
    painter.outline(x - 0.5, y - 0.5, width + 1, height + 1, theme.rule);
  });
  drawNames(painter, drawing);
  drawFound(painter, drawing);
  if (drawing.selected) drawSelected(painter, drawing, drawing.selected);
  // Addresses stay at the top while lines scroll below them.
  painter.rect(0, 0, layout.columns * layout.pitch, TOP - 1, theme.surface);
  const firstRow = Math.floor(scrolled / layout.cell);
  for (let column = 0; column < layout.columns && seen > 0; column += 1) {
    const address = map.address[column * layout.rows + firstRow];
    if (address === undefined) continue;
    const x = column * layout.pitch + layout.margin;
    painter.text(`0x${address.toString(16)}`, x, TOP / 2, { fill: theme.muted, size: 10 });
  }
}

function drawNames(painter: Painter, drawing: CachemapDrawing) {
  const { layout, regions, map, theme, scrolled, seen } = drawing;
  for (const { region, column, y } of namedRegions(layout, regions)) {
    const middle = y - scrolled;
    if (middle < TOP - NAME_HEIGHT || middle > seen + NAME_HEIGHT) continue;
    const right = column * layout.pitch + layout.margin - 4;
    const name = map.names[region.name] ?? "";
    const room = layout.margin - 10;
    const shown = clipped(name, room, (part) => painter.textWidth(part, 10));
    // The first name would be hidden below the addresses.
    const at = scrolled === 0 ? Math.max(middle, TOP + NAME_HEIGHT / 2) : middle;
    painter.text(shown, right - 3, at, { fill: theme.muted, align: "right", size: 10 });
    const top = middle - (region.lines * layout.cell) / 2;
    const bottom = top + Math.max(1, region.lines * layout.cell - 1);
    painter.line(right + 0.5, top, right + 0.5, bottom, theme.muted);
  }
}

function drawFound(painter: Painter, { layout, found, theme, scrolled }: CachemapDrawing) {
  const width = layout.lineBytes * layout.cell;
  for (const line of found) {
    const { x, y } = cornerOf(layout, { line, byte: 0 });
    const height = Math.max(1, layout.cell);
    painter.rect(x + width + 2, y - scrolled, 5, height, theme.accent);
    painter.rect(x - 3, y - scrolled, 2, height, theme.accent);
  }
}

function drawSelected(painter: Painter, drawing: CachemapDrawing, selected: Byte) {
  const { layout, theme, scrolled } = drawing;
  const { cell } = layout;
  const { x, y } = cornerOf(layout, selected);
  const line = cornerOf(layout, { line: selected.line, byte: 0 });
  const width = layout.lineBytes * cell;
  painter.outline(line.x - 1.5, line.y - scrolled - 1.5, width + 3, cell + 3, theme.muted);
  // A byte may be a single pixel, so the mark is drawn around it, light inside dark.
  const grown = Math.max(cell, 5);
  const shift = (grown - cell) / 2;
  const [left, top] = [x - shift, y - scrolled - shift];
  painter.outline(left - 1, top - 1, grown + 2, grown + 2, theme.surface, 4);
  painter.outline(left - 1, top - 1, grown + 2, grown + 2, theme.accent, 2);
}
