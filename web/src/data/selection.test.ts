import { expect, it } from "vitest";
import type { Benchmark, Report, Side } from "./model";
import { HOME } from "./route";
import { known, select } from "./selection";

const sides = ["ext4", "__proto__"].map((label, index) => ({
  index,
  run: 0,
  target: label,
  label,
}));

function benchmark(name: string, dimension: string): Benchmark {
  const cells = sides.map((side) => ({ side }));
  return { key: `nano/${name}`, name, title: name, dimension, curve: null, cells } as Benchmark;
}

const report = {
  sides: sides as Side[],
  benchmarks: [benchmark("read", "io"), benchmark("create", "metadata")],
  curves: [],
  dimensions: ["io", "metadata"],
} as unknown as Report;

const shownOf = (change: object) =>
  select(report, known(report, { ...HOME, ...change })).benchmarks.map((one) => one.name);

it("is not emptied by an address that names what is not there", () => {
  const all = ["read", "create"];
  expect(shownOf({ dimension: "__proto__" })).toEqual(all);
  expect(shownOf({ benchmark: "nano/gone" })).toEqual(all);
  expect(shownOf({ targets: ["gone"] })).toEqual(all);
  // The benchmark is in another dimension, which must not be hidden.
  expect(shownOf({ dimension: "io", benchmark: "nano/create" })).toEqual(all);
});

it("hides nothing where a benchmark is looked at", () => {
  expect(shownOf({ benchmark: "nano/create" })).toEqual(["read", "create"]);
});

it("shows what is asked for, whatever it is called", () => {
  expect(shownOf({ dimension: "metadata" })).toEqual(["create"]);
  const route = known(report, { ...HOME, targets: ["gone", "__proto__"] });
  expect(route.targets).toEqual(["__proto__"]);
  expect(select(report, route).sides.map((side) => side.label)).toEqual(["__proto__"]);
});
