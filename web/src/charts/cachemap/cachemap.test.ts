// Points map to bytes and back, and masks to stacks; a recorded program gives the known figures.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { flameTree } from "../flame/layout";
import { viridis } from "../palettes";
import { sampleOf } from "../sample";
import { themes } from "../theme";
import { cachemapPixels } from "./draw";
import { addressOf, figuresOf, framesOf, linesNamed, stacksOf, timesOf } from "./figures";
import {
  byteAt,
  byteBeside,
  type CachemapData,
  CELLS,
  cellThatFits,
  cornerOf,
  layoutOf,
  namedRegions,
  regionsOf,
} from "./layout";

/** Lines of 64 bytes: the first used once in one byte, the second in two with different counts. */
function small(): CachemapData {
  const count = new Uint32Array(128);
  count[3] = 1;
  count[64] = 7;
  count[127] = 1000;
  return {
    title: "",
    of: "data",
    line_bytes: 64,
    names: ["one", "two", "main"],
    stacks: { parent: Uint32Array.from([0, 0, 1]), name: Uint32Array.from([0, 2, 1]) },
    address: BigUint64Array.from([0x1000n, 0xffff_8000_0000_0040n]),
    name: Uint32Array.from([0, 1]),
    count,
    touches: Uint32Array.from([0, 1, 3]),
    touch_stack: Uint32Array.from([1, 1, 2]),
    touch_bytes: BigUint64Array.from([1n << 3n, 1n, (1n << 63n) | 1n]),
  };
}

const sampleFile = new URL("../../../fixtures/footprint-sample.bin.gz", import.meta.url);
const sample = sampleOf(gunzipSync(readFileSync(sampleFile)));
const instructions = sample.cachemaps[0] as CachemapData;

describe("cachemap", () => {
  it.each(CELLS)("finds each byte where it is drawn, with cells of %d", (cell) => {
    const layout = layoutOf(instructions, 1200, cell);
    expect(layout.columns * layout.rows).toBeGreaterThanOrEqual(layout.lines);
    for (let line = 0; line < layout.lines; line += 37) {
      const byte = (line * 7) % 64;
      const { x, y } = cornerOf(layout, { line, byte });
      expect(byteAt(layout, x + cell / 2, y + cell / 2)).toEqual({ line, byte });
    }
    expect(byteAt(layout, 2, 30)).toBeNull();
    expect(byteAt(layout, 200, 2)).toBeNull();
  });

  it("takes the largest cells that fit", () => {
    expect(cellThatFits(small(), 1400, 600)).toBe(16);
    expect(layoutOf(instructions, 1400, cellThatFits(instructions, 1400, 680)).height).toBeLessThan(
      680,
    );
  });

  it("walks through bytes and lines", () => {
    const layout = layoutOf(small(), 1000, 8);
    expect(byteBeside({ line: 0, byte: 63 }, "ArrowRight", layout)).toEqual({ line: 0, byte: 63 });
    expect(byteBeside({ line: 0, byte: 5 }, "PageDown", layout)).toEqual({ line: 1, byte: 5 });
    expect(byteBeside({ line: 0, byte: 5 }, "Tab", layout)).toBeNull();
  });

  it("reads bit 63 of a mask as the last byte", () => {
    const map = small();
    expect(stacksOf(map, { line: 1, byte: 0 })).toEqual([1, 2]);
    expect(stacksOf(map, { line: 1, byte: 63 })).toEqual([2]);
    expect(stacksOf(map, { line: 0, byte: 4 })).toEqual([]);
    expect(framesOf(map, 2)).toEqual(["two", "main"]);
    expect(addressOf(map, { line: 1, byte: 63 })).toBe("0xffff80000000007f");
  });

  it("counts what was used and what was fetched in vain", () => {
    expect(figuresOf(small())).toEqual({
      lines: 2,
      bytesUsed: 3,
      bytesUnused: 125,
      linesUsedOnce: 1,
      countMost: 1000,
    });
  });

  it("colours by logarithm and leaves the rest in the colour of never", () => {
    const rest = { palette: viridis, first: 0, isLog: true, label: "", format: String };
    const scale = { ...rest, least: 1, most: 1000 };
    const pixels = cachemapPixels(small(), scale, themes.light);
    expect(pixels[0]).toBe(0xffffffff);
    expect(pixels[3]).toBe(0xff540144);
    expect(pixels[127]).toBe(0xff25e7fd);
  });

  it("names the largest regions, none over another", () => {
    const layout = layoutOf(instructions, 1200, 2);
    const named = namedRegions(layout, regionsOf(instructions, layout.rows));
    expect(named.length).toBeGreaterThan(20);
    for (const one of named) {
      const near = named.filter(
        (other) => other.column === one.column && Math.abs(other.y - one.y) < 11,
      );
      expect(near).toEqual([one]);
    }
    expect(linesNamed(small(), "TW")).toEqual([1]);
  });
});

describe("the recorded sample", () => {
  it.each(sample.cachemaps)("has a stack for each byte that was touched: $title", (map) => {
    expect(map.address.length).toBeGreaterThan(5000);
    for (let line = 0; line < map.address.length; line += 11) {
      for (let byte = 0; byte < 64; byte += 1) {
        const touched = timesOf(map, { line, byte }) > 0;
        expect(stacksOf(map, { line, byte }).length > 0).toBe(touched);
      }
    }
  });

  it("counts each instruction in one stack", () => {
    const tree = flameTree(sample.flame);
    expect(tree.total[0]).toBe(sample.flame.own.reduce((sum, own) => sum + own, 0));
    expect(tree.depthMost).toBeGreaterThan(20);
  });
});
