// Writes a footprint as the page's contract has it: JSON, then one block of arrays which the JSON
// points into. The file begins with the length of the JSON, as 4 bytes, little endian.
import { LINE_BYTES } from "./record-sample-footprint.mjs";

class Block {
  parts = [];
  length = 0;

  /** Appends an array and says where it lies; arrays begin at multiples of 8 bytes. */
  add(type, array) {
    const offset = this.length;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const padding = new Uint8Array((8 - (bytes.length % 8)) % 8);
    this.parts.push(bytes, padding);
    this.length += bytes.length + padding.length;
    return { type, offset, length: array.length };
  }
}

function mask(bytes) {
  return bytes.reduce(
    (bits, touched, index) => (touched ? bits | (1n << BigInt(index)) : bits),
    0n,
  );
}

function cachemap(footprint, of, title, block) {
  const lines = footprint.lines[of];
  const addresses = [...lines.counts.keys()].sort((left, right) => left - right);
  const count = new Uint32Array(addresses.length * LINE_BYTES);
  const touches = [0];
  const touchStack = [];
  const touchBytes = [];
  addresses.forEach((address, line) => {
    count.set(lines.counts.get(address), line * LINE_BYTES);
    for (const [stack, bytes] of lines.touches.get(address)) {
      touchStack.push(stack);
      touchBytes.push(mask(bytes));
    }
    touches.push(touchStack.length);
  });
  // What lies in a line is named by its first byte that was touched.
  const name = addresses.map((address) => {
    const first = lines.counts.get(address).findIndex((times) => times > 0);
    return footprint.place(footprint.nameAt(address + first));
  });
  return {
    title,
    of,
    line_bytes: LINE_BYTES,
    address: block.add("u64", BigUint64Array.from(addresses, BigInt)),
    name: block.add("u32", Uint32Array.from(name)),
    count: block.add("u32", count),
    touches: block.add("u32", Uint32Array.from(touches)),
    touch_stack: block.add("u32", Uint32Array.from(touchStack)),
    touch_bytes: block.add("u64", BigUint64Array.from(touchBytes)),
  };
}

export function packed(footprint, about) {
  const block = new Block();
  const cachemaps = [
    cachemap(footprint, "instructions", "Instructions of bash", block),
    cachemap(footprint, "data", "Data of bash", block),
  ];
  const flame = {
    title: "Instructions of bash by call stack",
    unit: "instructions",
    parent: block.add("u32", Uint32Array.from(footprint.parent)),
    name: block.add("u32", Uint32Array.from(footprint.name)),
    own: block.add("f64", Float64Array.from(footprint.own)),
  };
  // Names and stacks of all three are the same, and are kept once; a stack is a node of the tree.
  const header = { about, names: footprint.names, cachemaps, flame };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + json.length) / 8) * 8;
  const file = new Uint8Array(start + block.length);
  new DataView(file.buffer).setUint32(0, json.length, true);
  file.set(json, 4);
  let offset = start;
  for (const part of block.parts) {
    file.set(part, offset);
    offset += part.length;
  }
  return file;
}
