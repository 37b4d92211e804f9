import { expect, it } from "vitest";
import { type IntervalModel, intervalDomain, intervalHeight, intervalSvg } from "./interval-svg";
import { themes } from "./theme";

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
