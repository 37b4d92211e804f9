import { describe, expect, it } from "vitest";
import { domainOf, padded, place, type Scale, type ScaleKind, ticks, tickTexts } from "./scales";

const KINDS: ScaleKind[] = ["linear", "log2", "log10"];

describe("scales", () => {
  it("place more to one end, the ends at the ends", () => {
    for (const kind of KINDS) {
      const scale: Scale = { kind, domain: [3, 4000], range: [500, 20] };
      const places = [3, 17, 1234, 4000].map((value) => place(scale, value));
      expect(places).toEqual([...places].sort((one, other) => other - one));
      expect(place(scale, 3)).toBe(500);
      expect(place(scale, 4000)).toBe(20);
    }
  });

  it("place the geometric mean in the middle of a logarithmic one", () => {
    const scale: Scale = { kind: "log10", domain: [1, 10_000], range: [0, 100] };
    expect(place(scale, 100)).toBeCloseTo(50);
  });

  it("put a domain of one value into the middle", () => {
    expect(place({ kind: "linear", domain: [5, 5], range: [0, 10] }, 5)).toBe(5);
  });
});

describe("ticks", () => {
  it("lie within the domain and are round", () => {
    expect(ticks("linear", [0, 10], 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks("log10", [50, 200_000])).toEqual([100, 1000, 10_000, 100_000]);
    expect(ticks("log2", [4096, 65536])).toEqual([4096, 8192, 16384, 32768, 65536]);
    expect(ticks("log10", [40, 700])).toEqual([50, 100, 200, 500]);
    expect(ticks("log10", [120, 700])).toEqual([200, 300, 400, 500, 600, 700]);
  });

  it("of sizes are multiples of a power of 2", () => {
    const mebibyte = 1024 ** 2;
    const found = ticks("linear", [0, 66 * mebibyte], 6, true);
    expect(found.map((value) => value / mebibyte)).toEqual([0, 16, 32, 48, 64]);
  });

  it("are never many, whatever the domain", () => {
    for (const kind of KINDS) {
      for (const high of [1.0001, 1.5, 7, 1e3, 1e9, 1e18]) {
        const found = ticks(kind, [1, high], 6);
        expect(found.length, `${kind} to ${high}`).toBeGreaterThan(0);
        expect(found.length, `${kind} to ${high}`).toBeLessThanOrEqual(9);
      }
    }
  });
});

describe("domains", () => {
  it("leave out what has no place", () => {
    expect(domainOf("log10", [0, -1, Number.NaN, 5, 50])).toEqual([5, 50]);
    expect(domainOf("linear", [])).toEqual([0, 1]);
  });

  it("get room at both ends", () => {
    const [low, high] = padded("log10", [10, 1000], 0.5);
    expect(low).toBeCloseTo(1);
    expect(high).toBeCloseTo(10_000);
    expect(padded("linear", [5, 5], 0.1)).toEqual([4.5, 5.5]);
  });

  it("never put ticks at parts of a byte, nor of sizes at powers of ten", () => {
    expect(ticks("linear", [-0.04, 0.04], 6, true)).toEqual([0]);
    expect(ticks("log2", [2900, 3700], 4)).toEqual([3072, 3328, 3584]);
    expect(ticks("log2", [9000, 700_000], 8)).toEqual([
      16384, 32768, 65536, 131072, 262144, 524288,
    ]);
  });

  // An axis from 99.9 % to 100 % used to say "100 %" at every tick.
  it("have texts that tell them apart", () => {
    const format = (value: number, significant = 2) =>
      `${Number(value.toPrecision(significant))} %`;
    expect(tickTexts([99.85, 99.9, 99.95], format)).toEqual(["99.85 %", "99.9 %", "99.95 %"]);
    expect(tickTexts([1, 2, 5], format)).toEqual(["1 %", "2 %", "5 %"]);
  });
});
