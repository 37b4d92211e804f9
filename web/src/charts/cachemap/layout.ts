// Where the lines and bytes of a cachemap are: a row for each line, by address, and a cell for each
// byte, in columns side by side so that thousands of lines fit, as in the figures of the DenseFS
// paper (HotStorage 2018). Zooming in makes cells larger and leaves fewer columns; what does not
// fit is scrolled vertically only.

/** Stacks, each as the stack of its caller and the name of its innermost frame; the first has
 * neither. */
export interface StackTree {
  parent: Uint32Array;
  name: Uint32Array;
}

/** The contract's cachemap with its arrays decoded. */
export interface CachemapData {
  title: string;
  of: "instructions" | "data";
  line_bytes: number;
  names: readonly string[];
  stacks: StackTree;
  address: BigUint64Array;
  name: Uint32Array;
  count: Uint32Array;
  touches: Uint32Array;
  touch_stack: Uint32Array;
  touch_bytes: BigUint64Array;
}

export interface Layout {
  lines: number;
  lineBytes: number;
  /** CSS pixels of a byte's side. */
  cell: number;
  columns: number;
  /** Lines in each column except the last. */
  rows: number;
  /** Room for names to the left of each column. */
  margin: number;
  /** From the left edge of a column to that of the next. */
  pitch: number;
  height: number;
}

/** The sizes to choose from for a byte's side, in CSS pixels. */
export const CELLS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16];

/** The least room for names. They also get what the columns leave over, up to what they need. */
const MARGIN_LEAST = 88;
const MARGIN_MOST = 240;
/** If there is only room for one column, lines matter more than names. */
const MARGIN_NARROW = 52;
const GAP = 12;
/** Room above the columns for the address at which each starts. */
export const TOP = 18;

export function layoutOf(map: CachemapData, width: number, cell: number): Layout {
  const lines = map.address.length;
  const lineBytes = map.line_bytes;
  const ofLine = lineBytes * cell + GAP;
  const most = Math.max(1, Math.floor((width + GAP) / (MARGIN_LEAST + ofLine)));
  const rows = Math.max(1, Math.ceil(lines / most));
  const columns = Math.max(1, Math.ceil(lines / rows));
  const room = Math.floor((width + GAP) / columns) - ofLine;
  const margin = Math.max(MARGIN_NARROW, Math.min(MARGIN_MOST, room));
  const pitch = margin + ofLine;
  return { lines, lineBytes, cell, columns, rows, margin, pitch, height: TOP + rows * cell + 2 };
}

/** The largest cells with which all lines fit into this height, or else the smallest. */
export function cellThatFits(map: CachemapData, width: number, height: number): number {
  const fits = (cell: number) => {
    const layout = layoutOf(map, width, cell);
    return layout.height <= height && layout.pitch - GAP <= width;
  };
  return [...CELLS].reverse().find(fits) ?? (CELLS[0] as number);
}

export interface Byte {
  line: number;
  byte: number;
}

/** The byte at a point of the whole map, if there is one. */
export function byteAt(layout: Layout, x: number, y: number): Byte | null {
  const column = Math.floor(x / layout.pitch);
  const byte = Math.floor((x - column * layout.pitch - layout.margin) / layout.cell);
  const row = Math.floor((y - TOP) / layout.cell);
  const line = column * layout.rows + row;
  const isInside =
    column >= 0 &&
    column < layout.columns &&
    byte >= 0 &&
    byte < layout.lineBytes &&
    row >= 0 &&
    row < layout.rows &&
    line < layout.lines;
  return isInside ? { line, byte } : null;
}

/** The upper left corner of a byte. */
export function cornerOf(layout: Layout, { line, byte }: Byte): { x: number; y: number } {
  const column = Math.floor(line / layout.rows);
  const x = column * layout.pitch + layout.margin + byte * layout.cell;
  return { x, y: TOP + (line - column * layout.rows) * layout.cell };
}

/** The byte that a key moves to; null for other keys. */
export function byteBeside({ line, byte }: Byte, key: string, layout: Layout): Byte | null {
  const lineWithin = (at: number) => Math.max(0, Math.min(layout.lines - 1, at));
  const byteWithin = (at: number) => Math.max(0, Math.min(layout.lineBytes - 1, at));
  switch (key) {
    case "ArrowLeft":
      return { line, byte: byteWithin(byte - 1) };
    case "ArrowRight":
      return { line, byte: byteWithin(byte + 1) };
    case "ArrowUp":
      return { line: lineWithin(line - 1), byte };
    case "ArrowDown":
      return { line: lineWithin(line + 1), byte };
    case "PageUp":
      return { line: lineWithin(line - 32), byte };
    case "PageDown":
      return { line: lineWithin(line + 32), byte };
    case "Home":
      return { line, byte: 0 };
    case "End":
      return { line, byte: layout.lineBytes - 1 };
    default:
      return null;
  }
}

/** Neighbouring lines in one column that contain the same thing. */
export interface Region {
  name: number;
  first: number;
  lines: number;
}

export function regionsOf(map: CachemapData, rows: number): Region[] {
  const regions: Region[] = [];
  map.name.forEach((name, line) => {
    const last = regions.at(-1);
    if (last && last.name === name && line % rows !== 0) last.lines += 1;
    else regions.push({ name, first: line, lines: 1 });
  });
  return regions;
}

/** Height of a region's name, in CSS pixels. */
export const NAME_HEIGHT = 11;

/** The regions to name, each with the vertical middle of its name: the largest first, as long as
 * names do not overlap. */
export function namedRegions(layout: Layout, regions: readonly Region[]) {
  const taken = new Map<number, number[]>();
  const named: { region: Region; column: number; y: number }[] = [];
  for (const region of [...regions].sort((left, right) => right.lines - left.lines)) {
    const column = Math.floor(region.first / layout.rows);
    const top = cornerOf(layout, { line: region.first, byte: 0 }).y;
    const y = top + (region.lines * layout.cell) / 2;
    const others = taken.get(column) ?? [];
    if (others.some((other) => Math.abs(other - y) < NAME_HEIGHT)) continue;
    others.push(y);
    taken.set(column, others);
    named.push({ region, column, y });
  }
  return named;
}
