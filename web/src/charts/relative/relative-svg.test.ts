import { expect, it } from "vitest";
import { themes } from "../theme";
import { type RelativeCell, relativeDomain, relativeSvg, rowHeight } from "./relative-svg";

const cell = (label: string, change: Partial<RelativeCell>): RelativeCell => ({
  label,
  colour: "#0072b1",
  mark: 0,
  said: "6.10 µs",
  interval: "[6.0, 6.2]",
  ratio: 1,
  shortRatio: "1×",
  ratioInterval: "",
  saidRatio: "the best",
  isFirst: false,
  isBest: false,
  isAlike: false,
  ...change,
});

const model = (...cells: (RelativeCell | null)[]) => ({
  title: "<I/O>",
  columns: cells.map((_, index) => ({
    label: `target ${index}`,
    colour: "#0072b1",
    mark: index,
  })),
  rows: [{ key: "create", title: "create & stat", cells }],
});

it("has 1 on its axis, and is not stretched by an interval that knows nothing", () => {
  const wide = cell("xfs", { ratio: 2, low: 0.01, high: 400 });
  const [low, high] = relativeDomain(model(cell("ext4", {}), wide));
  expect(low).toBeGreaterThan(0.4);
  expect(low).toBeLessThan(1);
  expect(high).toBeGreaterThan(2);
  expect(high).toBeLessThan(4);
});

it("draws hollow what cannot be told apart, and writes figures beside the plot", () => {
  const first = cell("ext4", { isFirst: true });
  const alike = cell("xfs", { ratio: 1.02, shortRatio: "1.02×", isAlike: true });
  const apart = cell("btrfs", { ratio: 3, shortRatio: "3.0×" });
  const svg = relativeSvg(model(first, alike, apart, null), themes.light);
  expect(svg).toContain("&lt;I/O&gt;");
  expect(svg).toContain("create &amp; stat");
  expect(svg).toContain("6.10 µs ≈");
  expect(svg).toContain("6.10 µs 3.0×");
  const perhaps = cell("xfs", { ratio: 1.06, low: 1.01, high: 1.12, isAlike: true });
  expect(relativeSvg(model(first, perhaps), themes.light)).toContain("6.10 µs ?");
  expect(svg.match(/<path[^>]*fill="#ffffff"/g)).toHaveLength(1);
  expect(svg).toContain(">1×<");
});

it("gives each target a lane of its own", () => {
  const many = Array.from({ length: 8 }, () => cell("ext4", {}));
  expect(rowHeight(model(...many))).toBeGreaterThan(rowHeight(model(cell("ext4", {}))));
});
