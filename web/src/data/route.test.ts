import { expect, it } from "vitest";
import { formatRoute, HOME, parseRoute } from "./route";

it("leads back to the same view, whatever labels hold", () => {
  const route = {
    section: "map",
    targets: ["a&b=c", "</script>", "ext4 · run 1"],
    dimension: "in-memory",
    benchmark: "nano/io/random read?#",
    footprint: {
      traced: "ext4 · run 1",
      operation: "create",
      against: "a&b=c",
      frames: "categories",
      weight: "l1i_misses",
    },
  };
  expect(parseRoute(formatRoute(route))).toEqual(route);
  expect(parseRoute("")).toEqual(HOME);
  expect(parseRoute("#machine")).toEqual({ ...HOME, section: "machine" });
  expect(formatRoute(HOME)).toBe("#summary");
});
