import { expect, it } from "vitest";
import { csvOf } from "../charts/frame";
import { intervalDomain } from "../charts/interval/interval-svg";
import { lineSvg } from "../charts/line/line-svg";
import { themes } from "../charts/theme";
import type { CurveFit } from "../contract";
import { floats } from "../data/payload";
import { shares } from "./PageStrip";
import { lawPoints } from "./Scalability";

it("gives each part of a file the share of its pages that were resident", () => {
  const seen = { pages: 8, resident: [[1, 2] as [number, number], [6, 2] as [number, number]] };
  expect([...shares({ title: "", ...seen }, 4)]).toEqual([0.5, 0.5, 0, 1]);
  expect([...shares({ title: "", ...seen }, 2)]).toEqual([0.5, 0.5]);
});

it("draws the law that was fitted", () => {
  const parameters = [
    { name: "gamma", value: 100 },
    { name: "alpha", value: 0.5 },
  ];
  const points = lawPoints({ parameters } as CurveFit, 3);
  expect(points[0]).toEqual({ x: 1, y: 100 });
  expect(points.at(-1)).toEqual({ x: 3, y: 150 });
});

it("writes tables that can be read back, whatever labels hold", () => {
  const rows = [['a"b,c', 1]];
  expect(csvOf({ head: ["label", "value"], rows })).toBe('label,value\n"a""b,c",1\n');
});

it("never reads numbers from beyond the block", () => {
  const block = Float64Array.of(1, 2, 3).buffer;
  expect([...floats(block, { type: "f64", offset: 8, length: 2 })]).toEqual([2, 3]);
  expect(() => floats(block, { type: "f64", offset: 8, length: 3 })).toThrow(/shorter/);
});

it("has room for the ends of intervals, not for values alone", () => {
  const row = { label: "a", colour: "#000000", value: 2, low: 1, high: 9, said: "" };
  const axis = { label: "", kind: "linear" as const, format: String };
  const [low, high] = intervalDomain({ title: "", axis, groups: [{ title: "", rows: [row] }] });
  expect(low).toBeLessThan(1);
  expect(high).toBeGreaterThan(9);
});

it("saves a histogram with the steps that are on the screen", () => {
  const points = [
    { x: 0, y: 1 },
    { x: 1, y: 2 },
  ];
  const corners = (stepped: boolean) => {
    const one = { label: "a", colour: "#000000", dash: [], points, stepped };
    const axis = { label: "", kind: "linear" as const, format: String };
    const model = { title: "", x: axis, y: axis, series: [one], markers: [] };
    const drawn = /<polyline points="([^"]*)"/.exec(lineSvg(model, themes.light))?.[1];
    return drawn?.split(" ").length;
  };
  expect([corners(false), corners(true)]).toEqual([2, 3]);
});
