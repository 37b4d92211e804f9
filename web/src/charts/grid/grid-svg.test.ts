import { expect, it } from "vitest";
import { themes } from "../theme";
import { depthOf, gridSvg } from "./grid-svg";

it("shades a ratio and its inverse alike, and never beyond the darkest", () => {
  expect(depthOf(1)).toBe(0);
  expect(depthOf(2)).toBe(2);
  expect(depthOf(0.5)).toBe(2);
  expect(depthOf(1000)).toBe(6);
});

it("draws a place for each ratio, hatched where nothing is told apart", () => {
  const cell = { lines: ["1.2×", "[1, 1.4]"], depth: 0, isDear: true, isAlike: true };
  const svg = gridSvg(
    {
      title: "<map>",
      columns: ["a", "b"],
      rows: [{ name: "I/O", cells: [null, cell] }],
    },
    themes.dark,
  );
  expect(svg).toContain("&lt;map&gt;");
  expect(svg.match(/url\(#alike\)/g)).toHaveLength(1);
  expect(svg).toContain("[1, 1.4]");
});
