// Takes pages apart and puts them together again: with a footprint in them, or damaged.

import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync, gunzipSync, inflateSync } from "node:zlib";
import { sampleOf } from "../src/charts/sample";
import type { ArrayRef, Payload } from "../src/contract";

const fixture = new URL("../fixtures/footprint-sample.bin.gz", import.meta.url);

function between(id: string): RegExp {
  return new RegExp(`(<script type="application/octet-stream" id="${id}">)([^<]*)(</script>)`);
}

/** The decompressed contents of a data element. */
export function unpacked(html: string, id: string): Buffer {
  const text = between(id).exec(html)?.[2];
  if (text === undefined) throw new Error(`the page has no ${id}`);
  return inflateSync(Buffer.from(text, "base64"));
}

function repacked(html: string, id: string, bytes: Buffer): string {
  const text = deflateSync(bytes).toString("base64");
  return html.replace(between(id), (_, open, __, close) => open + text + close);
}

/** The page with another payload. */
export function withPayload(html: string, change: (payload: Payload) => void): string {
  const payload = JSON.parse(unpacked(html, "payload").toString("utf8")) as Payload;
  change(payload);
  return repacked(html, "payload", Buffer.from(JSON.stringify(payload)));
}

/** Writes the page at `from` with the recorded cachemaps and flame graph in it, as the program will
 * write those of a footprint. */
export function writeWithFootprint(from: string, to: string): number {
  const html = readFileSync(from, "utf8");
  const sample = sampleOf(gunzipSync(readFileSync(fixture)));
  const parts: Buffer[] = [unpacked(html, "block")];
  let end = parts[0]?.length ?? 0;
  const add = (type: ArrayRef["type"], array: ArrayBufferView & { length: number }): ArrayRef => {
    const gap = (8 - (end % 8)) % 8;
    parts.push(Buffer.alloc(gap));
    parts.push(Buffer.from(array.buffer, array.byteOffset, array.byteLength));
    const offset = end + gap;
    end = offset + array.byteLength;
    return { type, offset, length: array.length };
  };
  const { title, unit, names, parent, name, own } = sample.flame;
  const traced = { run: 0, target: "bash", operation: "program", repetition: 1, repetitions: 1 };
  const changed = withPayload(html, (payload) => {
    payload.stacks = { names, parent: add("u32", parent), name: add("u32", name) };
    payload.cachemaps = sample.cachemaps.map((map) => ({
      title: map.title,
      traced,
      of: map.of,
      line_bytes: map.line_bytes,
      address: add("u64", map.address),
      name: add("u32", map.name),
      count: add("u32", map.count),
      touches: add("u32", map.touches),
      touch_stack: add("u32", map.touch_stack),
      touch_bytes: add("u64", map.touch_bytes),
    }));
    const stack = add(
      "u32",
      Uint32Array.from(own, (_, place) => place),
    );
    const weights = [{ name: unit, unit, own: add("f64", own) }];
    payload.flame_graphs = [{ title, traced, frames: "functions", stack, weights }];
  });
  writeFileSync(to, repacked(changed, "block", Buffer.concat(parts)));
  return Math.max(...sample.cachemaps.map((map) => map.address.length));
}
