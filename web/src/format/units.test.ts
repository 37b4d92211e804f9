import { describe, expect, it } from "vitest";
import {
  bytes,
  changed,
  count,
  digits,
  figure,
  figureWithin,
  interval,
  nanoseconds,
  onAxis,
  pValue,
  ratio,
  ratioWithin,
  scaled,
  trimmed,
  typeset,
} from "./units";

describe("figures", () => {
  it("have three digits and the unit in which they are 1 or more", () => {
    expect(nanoseconds(6103)).toBe("6.10 µs");
    expect(nanoseconds(999.6)).toBe("1.00 µs");
    expect(figure("operations/s", 1_023_456)).toBe("1.02 M op/s");
    expect(figure("bytes/s", 1.5 * 1024 ** 3)).toBe("1.50 GiB/s");
    expect(figure("x", 4.3)).toBe("4.30×");
    expect(figure("s", 0.0021)).toBe("2.10 ms");
    expect(figure("s", 75)).toBe("75.0 s");
    expect(figure("%", 12.34)).toBe("12.3 %");
  });

  it("never say KB, and what they call KiB is 1024 bytes", () => {
    for (let exponent = 0; exponent < 60; exponent += 0.5) {
      for (const unit of ["bytes", "bytes/s"]) {
        const { value, unit: name, divisor } = scaled(unit, 2 ** exponent);
        expect(name).not.toMatch(/\b[kKMGTP]B/);
        expect(value * divisor).toBeCloseTo(2 ** exponent);
        const steps = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"].indexOf(
          name.split("/")[0] ?? "",
        );
        expect(divisor).toBe(1024 ** steps);
      }
    }
  });

  it("keep sizes exact where they are whole", () => {
    expect(bytes(4096)).toBe("4 KiB");
    expect(bytes(64 * 1024 ** 2)).toBe("64 MiB");
    expect(bytes(1000)).toBe("1,000 bytes");
    expect(bytes(1536)).toBe("1.50 KiB");
    expect(bytes(0)).toBe("0 bytes");
  });

  it("round into the next power of ten without a digit too many", () => {
    expect(digits(9.996)).toBe("10.0");
    expect(digits(99.96)).toBe("100");
    expect(digits(0.00099996)).toBe("0.00100");
    expect(digits(12_345_678)).toBe("12,345,678");
    expect(digits(Number.NaN)).toBe("–");
    expect(digits(-3.14159)).toBe("-3.14");
  });

  it("of what is counted have all digits and no fraction", () => {
    expect(figure("lines", 33)).toBe("33 lines");
    expect(figure("instructions", 18_651.5)).toBe("18,652 instructions");
    expect(interval("lines", 33, 33, 1033)).toBe("[33, 1,033]");
  });

  it("are none where an interval is wider than ten times its figure", () => {
    expect(figureWithin("ns", 1.1, { low: 0, high: 3502.8 })).toEqual(["too little data", ""]);
    expect(figureWithin("ns", 880, { low: 761, high: 937 })).toEqual(["880 ns", "[761, 937]"]);
    expect(figureWithin("bytes", 1, { low: 0, high: 4096 })[1]).toBe("[0, 4,096]");
    expect(figureWithin("ns", 880, null)).toEqual(["880 ns", ""]);
  });

  it("write intervals in the unit of their value", () => {
    expect(interval("ns", 1005, 995, 1020)).toBe("[0.995, 1.02]");
    expect(interval("s", 0.5, 0.4, 0.6)).toBe("[400, 600]");
    expect(interval("s", 5e-7, 4e-7, 6e-7)).toBe("[400, 600]");
    expect(interval("s", 0.99999, 0.9, 1.1)).toBe("[0.900, 1.10]");
    expect(interval("s", 20, 19, 21)).toBe("[19.0, 21.0]");
  });

  it("lose the zeros that say nothing at ticks", () => {
    expect(["20.0 s", "1.00 M op/s", "0.500×", "100", "2.50 KiB", "0.00 %"].map(trimmed)).toEqual([
      "20 s",
      "1 M op/s",
      "0.5×",
      "100",
      "2.5 KiB",
      "0 %",
    ]);
  });

  it("write counts, ratios, p and places", () => {
    expect(count(54_321)).toBe("54,321");
    expect(count(1_234_567)).toBe("1.23 M");
    expect(ratio(1.0521)).toBe("1.052×");
    expect(ratio(12.34)).toBe("12.3×");
    expect(pValue(0.00004)).toBe("p < 0.0001");
    expect(pValue(0.0004)).toBe("p = 0.00040");
    expect(pValue(0.00997)).toBe("p = 0.010");
    expect(pValue(0.041)).toBe("p = 0.041");
    expect(onAxis("bytes", 65536)).toBe("64 KiB");
    expect(onAxis("count", 16)).toBe("16");
  });
});

describe("sentences of the terminal", () => {
  it("get their signs back, labels keep their letters", () => {
    expect(typeset("tmpfs 6.1 us [6.0, 6.2]; ext4 4.3x slower, up to 12x.")).toBe(
      "tmpfs 6.1 µs [6.0, 6.2]; ext4 4.3× slower, up to 12×.",
    );
    expect(typeset("us 5 usb 2xfs")).toBe("us 5 usb 2xfs");
    expect(typeset("disk2x: 3x (0.9x to 1.1x)")).toBe("disk2x: 3× (0.9× to 1.1×)");
  });
});

it("shows a change with its sign", () => {
  expect(changed(180, 1225)).toBe("+1,045");
  expect(changed(200, 155)).toBe("−45");
  expect(changed(7, 7)).toBe("0");
});

it("writes ratios with no more digits than their interval is wide", () => {
  // As in crates/report/src/terminal/units.rs.
  for (const [value, low, high, text] of [
    [4.31, 4.1, 4.6, "4.3× [4.1, 4.6]"],
    [104.3, 98, 110, "104× [98, 110]"],
    [1.004, 1.002, 1.006, "1.004× [1.002, 1.006]"],
    [1.12, 1.09, 1.15, "1.12× [1.09, 1.15]"],
    [2, 1, 4, "2.0× [1.0, 4.0]"],
    [1.2, 0.5, 3, "1.2× [0.5, 3.0]"],
    [4.3, 4.3, 4.3, "4.30× [4.30, 4.30]"],
  ] as const) {
    const { value: own, interval } = ratioWithin(value, low, high);
    expect(`${own} ${interval}`).toBe(text);
  }
});
