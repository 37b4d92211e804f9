import { expect, it } from "vitest";
import type { View } from "../view";
import { asideOf } from "./Largest";

/** The targets that are left aside among some with these file systems. */
function aside(fileSystems: string[]): string[] {
  const sides = fileSystems.map((_, index) => ({
    index,
    run: 0,
    target: `${index}`,
    label: `${index}`,
  }));
  const targets = fileSystems.map((file_system, index) => ({ label: `${index}`, file_system }));
  const view = { report: { runs: [{ document: { targets } }] }, selection: { sides } };
  return asideOf(view as unknown as View).map(({ target }) => target);
}

it("leaves targets in memory aside where two others keep their files", () => {
  expect(aside(["tmpfs", "ext4", "xfs"])).toEqual(["0"]);
  expect(aside(["densefs", "ext4", "ramfs", "xfs"])).toEqual(["0", "2"]);
  expect(aside(["tmpfs", "ext4"])).toEqual([]);
  expect(aside(["tmpfs", "ramfs"])).toEqual([]);
});
