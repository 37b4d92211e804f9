import { expect, it } from "vitest";
import type { Cachemap, ComparedTraces, FlameGraph } from "../contract";
import { flamesOf, shownOf, subjectsOf, totalExplained } from "./footprint";
import type { Report } from "./model";
import { HOME } from "./route";
import type { Selection } from "./selection";

const sides = ["ext4", "xfs"].map((target, index) => ({ index, run: 0, target, label: target }));

function map(target: string, operation: string, run = 0): Cachemap {
  return { traced: { run, target, operation }, of: "data" } as Cachemap;
}

function graph(target: string, frames: string, weights: string[]): FlameGraph {
  const traced = { run: 0, target, operation: "create", repetition: 1, repetitions: 1 };
  return { traced, frames, weights: weights.map((name) => ({ name })) } as FlameGraph;
}

const report = {
  sides,
  payload: {
    cachemaps: [map("xfs", "create"), map("ext4", "create"), map("ext4", "stat"), map("grep", "-")],
    flame_graphs: [
      graph("ext4", "categories", ["bytes", "lines"]),
      graph("ext4", "functions", ["bytes"]),
    ],
  },
} as unknown as Report;

const all = { sides } as unknown as Selection;
const route = HOME.footprint;

it("shows what was traced of the targets that are shown, and what is no target", () => {
  const labels = (selection: Selection) => subjectsOf(report, selection).map(({ label }) => label);
  expect(labels(all)).toEqual(["xfs", "ext4", "grep"]);
  expect(labels({ sides: sides.slice(1) } as unknown as Selection)).toEqual(["xfs", "grep"]);
});

it("compares what a page of comparisons says, whatever the address names", () => {
  const subjects = subjectsOf(report, all);
  const one = { operation: "create", before: "ext4", after: "xfs" };
  const compared = { differences: [one], warnings: [] } as unknown as ComparedTraces;
  for (const change of [{}, { traced: "ext4", against: "grep", operation: "create" }]) {
    const shown = shownOf(subjects, { ...route, ...change }, compared);
    expect([shown?.subject.label, shown?.against?.label]).toEqual(["xfs", "ext4"]);
    expect(shown?.difference).toBe(one);
    expect(shown?.subjects.length).toBe(1);
  }
  expect(shownOf(subjects, route)?.difference).toBe(null);
});

it("falls back to what there is", () => {
  const subjects = subjectsOf(report, all);
  const of = (change: object) => {
    const shown = shownOf(subjects, { ...route, ...change });
    return [shown?.subject.label, shown?.operation, shown?.against?.label ?? null, shown?.weight];
  };
  expect(of({})).toEqual(["xfs", "create", null, ""]);
  expect(of({ traced: "ext4", against: "xfs", weight: "lines" })).toEqual([
    "ext4",
    "create",
    "xfs",
    "lines",
  ]);
  const stat = { traced: "ext4", operation: "stat", against: "xfs" };
  expect(of(stat)).toEqual(["ext4", "stat", null, ""]);
  expect(of({ traced: "gone", operation: "gone", against: "xfs" })[2]).toBe(null);
  expect(shownOf(subjects, { ...route, traced: "ext4", frames: "functions" })?.weight).toBe(
    "bytes",
  );
  expect(shownOf([], route)).toBe(null);
});

it("keeps of a tree what leads to something done, now or before", () => {
  const tree = {
    parent: Uint32Array.from([0, 0, 1, 1, 0, 4]),
    name: Uint32Array.from([0, 1, 2, 3, 4, 5]),
  };
  const names = ["", "vfs", "ext4", "xfs", "time", "lock"];
  const now = { stack: Uint32Array.from([2, 5]), own: Float64Array.from([7, 0]) };
  const before = { stack: Uint32Array.from([1, 3]), own: Float64Array.from([1, 4]) };
  const alone = flamesOf(names, tree, now);
  expect([...alone.name].map((name) => alone.names[name])).toEqual(["all", "vfs", "ext4"]);
  expect([[...alone.parent], [...alone.own], alone.before]).toEqual([
    [0, 0, 1],
    [0, 0, 7],
    undefined,
  ]);
  const compared = flamesOf(names, tree, now, before);
  expect([...compared.name]).toEqual([0, 1, 2, 3]);
  expect([...compared.own]).toEqual([0, 0, 7, 0]);
  expect([...(compared.before ?? [])]).toEqual([0, 1, 0, 4]);
});

it("shows functions of a program, which the kernel's categories say nothing of", () => {
  const own = { ...graph("grep", "categories", ["bytes"]) };
  const traced = { ...own.traced, operation: "program" };
  const graphs = ["categories", "functions"].map((frames) => ({ ...own, traced, frames }));
  const payload = { cachemaps: [], flame_graphs: graphs };
  const subjects = subjectsOf({ sides, payload } as unknown as Report, all);
  expect(shownOf(subjects, route)?.frames).toBe("functions");
  expect(shownOf(subjects, { ...route, frames: "categories" })?.frames).toBe("categories");
});

it("explains what a total is made of", () => {
  expect(totalExplained("bytes")).toContain("each counted once for a frame");
  expect(totalExplained("instructions")).toContain("each as often as it was");
  expect(totalExplained("l1i_misses")).toContain("misses");
});
