// Figures about a cachemap, and what is known about a single byte.

import type { Byte, CachemapData } from "./layout";

export interface CachemapFigures {
  lines: number;
  bytesUsed: number;
  /** Bytes of the lines that came into the cache with others, and were never used. */
  bytesUnused: number;
  /** Lines in which no byte was used more than once: they came into the cache for a single use. */
  linesUsedOnce: number;
  countMost: number;
}

export function figuresOf({ address, line_bytes, count }: CachemapData): CachemapFigures {
  const figures = { lines: address.length, bytesUsed: 0, linesUsedOnce: 0, countMost: 0 };
  for (let line = 0; line < address.length; line += 1) {
    let most = 0;
    for (let at = line * line_bytes; at < (line + 1) * line_bytes; at += 1) {
      const times = count[at] as number;
      if (times > 0) figures.bytesUsed += 1;
      if (times > most) most = times;
    }
    if (most === 1) figures.linesUsedOnce += 1;
    if (most > figures.countMost) figures.countMost = most;
  }
  return { ...figures, bytesUnused: address.length * line_bytes - figures.bytesUsed };
}

/** The stacks that touched a byte, as indices into `stacks`. */
export function stacksOf(map: CachemapData, { line, byte }: Byte): number[] {
  const stacks: number[] = [];
  const end = map.touches[line + 1] ?? 0;
  for (let touch = map.touches[line] ?? 0; touch < end; touch += 1) {
    const bits = map.touch_bytes[touch] ?? 0n;
    if ((bits >> BigInt(byte)) & 1n) stacks.push(map.touch_stack[touch] as number);
  }
  return stacks;
}

/** The names of a stack's frames, innermost first. */
export function framesOf(map: CachemapData, stack: number): string[] {
  const frames: string[] = [];
  const { parent, name } = map.stacks;
  for (let at = stack; at > 0; at = parent[at] ?? 0) frames.push(map.names[name[at] ?? 0] ?? "");
  return frames;
}

export function addressOf(map: CachemapData, { line, byte }: Byte): string {
  return `0x${((map.address[line] ?? 0n) + BigInt(byte)).toString(16)}`;
}

export function nameOf(map: CachemapData, line: number): string {
  return map.names[map.name[line] ?? -1] ?? "";
}

export function timesOf(map: CachemapData, { line, byte }: Byte): number {
  return map.count[line * map.line_bytes + byte] ?? 0;
}

/** Lines that contain something whose name has this text in it; none if the text is empty. */
export function linesNamed(map: CachemapData, text: string): number[] {
  if (text === "") return [];
  const wanted = text.toLowerCase();
  const isWanted = map.names.map((name) => name.toLowerCase().includes(wanted));
  return [...map.name.keys()].filter((line) => isWanted[map.name[line] as number]);
}
