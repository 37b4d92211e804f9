// Reads the output of scripts/record-sample.mjs, for tests and the gallery, never for the page.

import type { CachemapData } from "./cachemap/layout";

export interface Sample {
  /** What was recorded, and how. */
  about: string;
  cachemaps: CachemapData[];
  flame: {
    title: string;
    unit: string;
    names: string[];
    parent: Uint32Array;
    name: Uint32Array;
    own: Float64Array;
  };
}

interface Place {
  offset: number;
  length: number;
}

/** Decodes the file's bytes, already decompressed. */
export function sampleOf(bytes: Uint8Array): Sample {
  const { buffer } = bytes.slice();
  const jsonLength = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, jsonLength)));
  const start = Math.ceil((4 + jsonLength) / 8) * 8;
  const u32 = ({ offset, length }: Place) => new Uint32Array(buffer, start + offset, length);
  const u64 = ({ offset, length }: Place) => new BigUint64Array(buffer, start + offset, length);
  const f64 = ({ offset, length }: Place) => new Float64Array(buffer, start + offset, length);
  const names: string[] = header.names;
  const flame = {
    ...header.flame,
    names,
    parent: u32(header.flame.parent),
    name: u32(header.flame.name),
    own: f64(header.flame.own),
  };
  // Each node of the tree is a stack; the root's name is that of the program, not of a frame.
  const stacks = { parent: flame.parent, name: flame.name };
  const cachemaps = header.cachemaps.map((map: Record<string, Place>) => ({
    ...map,
    names,
    stacks,
    address: u64(map.address as Place),
    name: u32(map.name as Place),
    count: u32(map.count as Place),
    touches: u32(map.touches as Place),
    touch_stack: u32(map.touch_stack as Place),
    touch_bytes: u64(map.touch_bytes as Place),
  }));
  return { about: header.about, cachemaps, flame };
}
