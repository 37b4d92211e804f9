// Totals are sums, the node drawn at a point is found there, and 100,000 nodes are fast enough.

import { describe, expect, it } from "vitest";
import { clipped } from "../painter";
import { categoryOf, changeOf, rowAt, topOfRow } from "./draw";
import {
  childrenOf,
  type FlameTree,
  flameTree,
  nodeAt,
  nodeBeside,
  pathTo,
  rectanglesOf,
} from "./layout";
import { searched } from "./search";

const names = ["root", "b", "a", "c"];
// root calls b, a and b again; each b calls c.
const input = {
  names,
  parent: [0, 0, 0, 0, 1, 3],
  name: [0, 1, 2, 1, 3, 3],
  own: [1, 10, 20, 5, 100, 50],
};
const named = (tree: FlameTree) => [...tree.name].map((name) => names[name]);

describe("flame tree", () => {
  it("merges calls of one name from one caller, and sorts by name", () => {
    const tree = flameTree(input);
    expect(named(tree)).toEqual(["root", "a", "b", "c"]);
    expect([...tree.own]).toEqual([1, 20, 15, 150]);
    expect([...tree.total]).toEqual([186, 20, 165, 150]);
    expect([...tree.start]).toEqual([0, 0, 20, 20]);
    expect([...tree.depth]).toEqual([0, 1, 1, 2]);
    expect([...tree.end]).toEqual([4, 2, 4, 4]);
    expect(childrenOf(tree, 0)).toEqual([1, 2]);
    expect(pathTo(tree, 3)).toEqual([0, 2, 3]);
  });

  it("gives every total as own and the totals of what is called", () => {
    const tree = flameTree(grown(100_000));
    for (let node = 0; node < tree.parent.length; node += 997) {
      const called = childrenOf(tree, node).reduce(
        (sum, child) => sum + (tree.total[child] ?? 0),
        0,
      );
      expect(tree.total[node]).toBeCloseTo((tree.own[node] ?? 0) + called, 6);
    }
    expect(tree.total[0]).toBe(100_000);
    expect(rectanglesOf(tree, 0, 1400).count).toBeLessThan(100_000);
  });

  it("shows what vanished as wide as half of what it was", () => {
    const tree = flameTree({ ...input, before: [1, 10, 0, 5, 0, 50] });
    expect([...(tree.before as Float64Array)]).toEqual([66, 0, 65, 50]);
    expect([...tree.weight]).toEqual([126, 10, 115, 100]);
    expect(changeOf(tree, 1)).toBe(1);
    expect(changeOf(tree, 3)).toBe(1);
    expect(changeOf(tree, 2)).toBe(1);
    expect(changeOf({ ...tree, total: Float64Array.from([33, 0, 65, 0]) }, 0)).toBe(-1);
    expect(changeOf({ ...tree, total: Float64Array.from([33, 0, 65, 0]) }, 2)).toBe(0);
  });

  it("is empty where nothing was recorded", () => {
    const tree = flameTree({ names: [], parent: [], name: [], own: [] });
    expect(rectanglesOf(tree, 0, 100).count).toBe(0);
  });
});

describe("rectangles", () => {
  const tree = flameTree(input);

  it.each([true, false])("are found where they are drawn (icicle: %s)", (isIcicle) => {
    const seen = rectanglesOf(tree, 0, 372);
    for (let at = 0; at < seen.count; at += 1) {
      const y = topOfRow(seen.row[at] as number, 100, isIcicle) + 9;
      const x = (seen.x[at] as number) + (seen.width[at] as number) / 2;
      expect(nodeAt(seen, x, rowAt(y, 100, isIcicle))).toBe(seen.node[at]);
    }
    expect(nodeAt(seen, 1, 2)).toBe(-1);
  });

  it("fill the width with the zoomed node and its callers", () => {
    const seen = rectanglesOf(tree, 2, 300);
    expect([...seen.node.slice(0, seen.count)]).toEqual([0, 2, 3]);
    expect(seen.width[0]).toBe(300);
    expect(seen.width[1]).toBe(300);
    expect(seen.width[2]).toBeCloseTo((300 * 150) / 165);
  });

  it("leave out what is narrower than half a pixel, and say how many", () => {
    const seen = rectanglesOf(tree, 0, 4);
    expect(seen.hidden).toBe(1);
    expect([...seen.node.slice(0, seen.count)]).toEqual([0, 2, 3]);
  });
});

describe("walking and searching", () => {
  const tree = flameTree(input);

  it("goes down to the widest, up to the caller, and sideways", () => {
    expect(nodeBeside(tree, 0, "ArrowDown")).toBe(2);
    expect(nodeBeside(tree, 2, "ArrowUp")).toBe(0);
    expect(nodeBeside(tree, 2, "ArrowLeft")).toBe(1);
    expect(nodeBeside(tree, 1, "ArrowLeft")).toBe(1);
    expect(nodeBeside(tree, 3, "ArrowDown")).toBe(3);
    expect(nodeBeside(tree, 3, "a")).toBeNull();
  });

  it("counts a match within a match once", () => {
    const found = searched(tree, "^[bc]$", 0);
    expect(found?.frames).toBe(2);
    expect(found?.share).toBeCloseTo(165 / 186);
    expect(searched(tree, "", 0)).toBeNull();
    expect(searched(tree, "c(", 0)?.frames).toBe(0);
  });

  it("keeps functions of one kind in one category", () => {
    expect(categoryOf("_dl_lookup_symbol_x")).toBe(categoryOf("dl_main"));
    expect(categoryOf("__GI___")).toBe("GI");
  });
});

it("clips text to its room", () => {
  const measure = (text: string) => text.length * 10;
  expect(clipped("abcdef", 60, measure)).toBe("abcdef");
  expect(clipped("abcdef", 45, measure)).toBe("abc…");
  expect(clipped("abcdef", 5, measure)).toBe("");
});

/** A tree of this many nodes, each with an own value of 1; the same tree every time. */
function grown(count: number) {
  const parent = new Uint32Array(count);
  const name = new Uint32Array(count);
  let state = 1;
  for (let node = 1; node < count; node += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    parent[node] = Math.floor(node * (state / 2 ** 32));
    name[node] = node;
  }
  const own = new Float64Array(count).fill(1);
  return { names: Array.from(name, (index) => `f${index}`), parent, name, own };
}
