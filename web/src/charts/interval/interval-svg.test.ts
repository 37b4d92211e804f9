import { expect, it } from "vitest";
import { escaped } from "../svg";
import { themes } from "../theme";
import {
  type IntervalModel,
  intervalDomain,
  intervalHeight,
  intervalSvg,
  shortened,
} from "./interval-svg";

const model: IntervalModel = {
  title: "ratios",
  axis: { label: "ratio", kind: "log10", format: (value) => `${value}×` },
  reference: 1,
  groups: [
    {
      title: "create",
      rows: [
        { label: "ext4", colour: "#000000", value: 2, low: 1.5, high: 2.7, said: "2.00×" },
        { label: "</svg><script>", colour: "#111111", value: 3, said: "3.00×", hollow: true },
      ],
    },
  ],
};

it("shows every interval whole, and the place where nothing differs", () => {
  const [low, high] = intervalDomain(model);
  expect(low).toBeLessThan(1);
  expect(high).toBeGreaterThan(3);
});

it("never blows up a difference of nothing", () => {
  const alike = (value: number) => ({ label: "", colour: "", said: "", value });
  for (const kind of ["linear", "log10"] as const) {
    const rows = [alike(99.99), alike(100)];
    const groups = [{ title: "", rows }];
    const [low, high] = intervalDomain({
      ...model,
      axis: { ...model.axis, kind },
      groups,
      reference: undefined,
    });
    expect(high / low).toBeGreaterThan(1.1);
  }
});

it("draws a dot per row and an interval where there is one", () => {
  const svg = intervalSvg(model, themes.light, 800);
  expect(svg.match(/<circle/g)).toHaveLength(2);
  expect(svg.match(/opacity="0.35"/g)).toHaveLength(1);
  expect(svg).toContain(`height="${intervalHeight(model)}"`);
});

it("never lets a label be markup", () => {
  const svg = intervalSvg(model, themes.light, 800);
  expect(svg).not.toContain("<script>");
  expect(svg).toContain("&lt;script&gt;");
});

it("shortens labels so that those of two runs still differ", () => {
  expect(shortened("ext4:memory=64m · yesterday")).toBe("ext4:memor…yesterday");
  expect(shortened("ext4:memory=64m · tomorrow")).not.toBe(
    shortened("ext4:memory=64m · yesterday"),
  );
  expect(shortened("ext4 · today")).toBe("ext4 · today");
  expect(shortened("\u{1f600}".repeat(30))).toBe(
    `${"\u{1f600}".repeat(10)}…${"\u{1f600}".repeat(9)}`,
  );
});

// With any of these, a file is not XML, so neither it nor the PNG made from it could be saved.
it("writes nothing that XML does not allow", () => {
  expect(escaped("a\u0001b\u001bc\ud800d\u{1f600}\n")).toBe("a\ufffdb\ufffdc\ufffdd\u{1f600}\n");
});
