// Draws a flame graph: a rectangle for each visible frame, with as much of its name as fits.

import type { Size } from "../bitmap";
import { clipped, type Painter } from "../painter";
import { colourOf, divergentOn, textOn } from "../palettes";
import type { Theme } from "../theme";
import type { FlameTree, Rectangles } from "./layout";

export const ROW_HEIGHT = 18;

export interface FlameDrawing {
  tree: FlameTree;
  seen: Rectangles;
  theme: Theme;
  /** Whether the root is at the top, as for icicles, instead of at the bottom, as for flames. */
  isIcicle: boolean;
  matches: Uint8Array | null;
  selected: number;
}

/** The height of the visible frames. */
export function flameHeight(seen: Rectangles): number {
  return seen.rows * ROW_HEIGHT + 2;
}

export function topOfRow(row: number, height: number, isIcicle: boolean): number {
  return isIcicle ? row * ROW_HEIGHT + 1 : height - 1 - (row + 1) * ROW_HEIGHT;
}

/** The row at this height; the inverse of `topOfRow`. */
export function rowAt(y: number, height: number, isIcicle: boolean): number {
  return Math.floor((isIcicle ? y - 1 : height - 1 - y) / ROW_HEIGHT);
}

/** Quiet background colours for text, chosen by the hash of a name; a mix of warm and cool ones. */
const GROUNDS = {
  light: ["#d8e3ee", "#dfe8d8", "#efe3cf", "#e9d9df", "#d6e8e6", "#e3def0", "#ecdfd4", "#e2e5c9"],
  dark: ["#2f4358", "#37492f", "#54452a", "#523642", "#2a4a48", "#413a5c", "#533f30", "#464a28"],
} as const;

/** FNV-1a, 32 bits: Fowler, Noll and Vo; "The FNV Non-Cryptographic Hash Algorithm". */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** What related functions have in common: the first word of their names. */
export function categoryOf(name: string): string {
  return /^[\W_]*([a-z0-9]+|[A-Z]+[a-z0-9]*)/.exec(name)?.[1] ?? name;
}

export function groundOf(name: string, theme: Theme): string {
  const grounds = GROUNDS[theme.name];
  return grounds[hashOf(categoryOf(name)) % grounds.length] as string;
}

/** From -1 (half as much as before, or less) through 0 (as much) to 1 (twice as much, or more). */
export function changeOf({ total, before }: FlameTree, node: number): number {
  const now = total[node] ?? 0;
  const then = before?.[node] ?? 0;
  if (now === then) return 0;
  return Math.max(-1, Math.min(1, Math.log2(now / then)));
}

interface Colours {
  ground: string;
  text: string;
}

function coloursOf(drawing: FlameDrawing, known: Map<string, Colours>, node: number): Colours {
  const { tree, theme, matches } = drawing;
  const name = tree.names[tree.name[node] as number] ?? "";
  if (matches && !matches[node]) return { ground: theme.surface, text: theme.muted };
  const ground = tree.before
    ? colourOf(divergentOn[theme.name], (changeOf(tree, node) + 1) / 2)
    : (known.get(name)?.ground ?? groundOf(name, theme));
  const colours = known.get(tree.before ? ground : name) ?? { ground, text: textOn(ground) };
  known.set(tree.before ? ground : name, colours);
  return colours;
}

export function drawFlame(painter: Painter, size: Size, drawing: FlameDrawing) {
  const { tree, seen, theme, isIcicle, selected } = drawing;
  const known = new Map<string, Colours>();
  let chosen = -1;
  for (let at = 0; at < seen.count; at += 1) {
    const node = seen.node[at] as number;
    if (node === selected) chosen = at;
    const y = topOfRow(seen.row[at] as number, size.height, isIcicle);
    const [x, wide] = [seen.x[at] as number, seen.width[at] as number];
    const { ground, text } = coloursOf(drawing, known, node);
    // Separate neighbours by a gap if there is room for one.
    const gap = wide > 3 ? 1 : 0;
    painter.rect(x, y, wide - gap, ROW_HEIGHT - 1, ground);
    if (drawing.matches && !drawing.matches[node] && wide > 3) {
      painter.outline(x + 0.5, y + 0.5, wide - 2, ROW_HEIGHT - 2, theme.rule);
    }
    if (wide >= 22) {
      const name = tree.names[tree.name[node] as number] ?? "";
      const shown = clipped(name, wide - 8, (part) => painter.textWidth(part, 11));
      painter.text(shown, x + 4, y + ROW_HEIGHT / 2, { fill: text, size: 11 });
    }
  }
  if (chosen < 0) return;
  const y = topOfRow(seen.row[chosen] as number, size.height, isIcicle);
  const wide = Math.max(2, (seen.width[chosen] as number) - 2);
  painter.outline((seen.x[chosen] as number) + 1, y, wide, ROW_HEIGHT - 1, theme.accent, 2);
}
