import { expect, it } from "vitest";
import { markPath } from "./marks";

it("gives each of six targets a shape of its own, within its circle and a half", () => {
  const paths = Array.from({ length: 6 }, (_, index) => markPath(index, 0, 0, 10));
  expect(new Set(paths).size).toBe(6);
  for (const path of paths.slice(1)) {
    const numbers = [...path.matchAll(/-?\d+\.\d+/g)].map(([number]) => Number(number));
    expect(Math.max(...numbers.map(Math.abs))).toBeLessThanOrEqual(15);
  }
  expect(markPath(6, 0, 0, 10)).toBe(paths[0]);
});
