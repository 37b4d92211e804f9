// The colours keep the page's promises: they are ordered by luminance, text on them is readable,
// and targets can be told apart with every common kind of colour blindness.

import { describe, expect, it } from "vitest";
import { contrast, deficiencies, distance, luminance, rgbOf } from "./colour";
import { firstOn } from "./legend";
import {
  colourOf,
  divergent,
  divergentOn,
  ENTRIES,
  logShare,
  rgbAt,
  textOn,
  viridis,
} from "./palettes";
import { themes } from "./theme";

/** The least distance in CIELAB between two categories, as seen with any of the deficiencies. It is
 * several times what is barely noticeable, as thin lines need more than areas. Dashes help as
 * well. */
const DISTANCE_LEAST = 14;

describe("palettes", () => {
  it("end as published", () => {
    expect(colourOf(viridis, 0)).toBe("#440154");
    expect(colourOf(viridis, 1)).toBe("#fde725");
  });

  it.each([["viridis", viridis]])("%s grows brighter from entry to entry", (_, palette) => {
    const all = Array.from({ length: ENTRIES }, (_, entry) =>
      luminance(rgbAt(palette, entry / 255)),
    );
    // The published tables have 8 bits per channel, so a step can lose a quarter of a grey level.
    for (let entry = 1; entry < ENTRIES; entry += 1) {
      expect(all[entry]).toBeGreaterThan((all[entry - 1] as number) - 0.001);
      if (entry >= 4) expect(all[entry]).toBeGreaterThan(all[entry - 4] as number);
    }
  });

  it("diverge from a grey in the middle, blue below and red above", () => {
    const [blue, grey, red] = [rgbAt(divergent, 0), rgbAt(divergent, 0.5), rgbAt(divergent, 1)];
    expect(blue[2]).toBeGreaterThan(blue[0]);
    expect(red[0]).toBeGreaterThan(red[2]);
    expect(Math.max(...grey) - Math.min(...grey)).toBeLessThanOrEqual(1);
  });

  it("leave text readable on every colour", () => {
    for (const palette of [viridis, divergent, divergentOn.dark]) {
      for (let entry = 0; entry < ENTRIES; entry += 1) {
        const ground = colourOf(palette, entry / 255);
        expect(contrast(rgbOf(textOn(ground)), rgbOf(ground))).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("tell the least from never on both surfaces", () => {
    for (const { name, never } of Object.values(themes)) {
      for (const palette of [viridis]) {
        const least = rgbAt(palette, firstOn[name]);
        expect(contrast(least, rgbOf(never))).toBeGreaterThanOrEqual(1.5);
      }
    }
  });

  it("place values by logarithm", () => {
    expect(logShare(1, 1, 10000)).toBe(0);
    expect(logShare(100, 1, 10000)).toBeCloseTo(0.5);
    expect(logShare(7, 7, 7)).toBe(1);
  });
});

describe.each(Object.values(themes))("categories of the $name theme", (theme) => {
  it("stand out from the surface", () => {
    for (const colour of theme.categories) {
      expect(contrast(rgbOf(colour), rgbOf(theme.surface)), colour).toBeGreaterThanOrEqual(3);
    }
  });

  it.each([["none", undefined], ...Object.entries(deficiencies)] as const)(
    "are told apart with %s",
    (_, deficiency) => {
      theme.categories.forEach((left, index) => {
        for (const right of theme.categories.slice(index + 1)) {
          const apart = distance(rgbOf(left), rgbOf(right), deficiency);
          expect(apart, `${left} and ${right}`).toBeGreaterThanOrEqual(DISTANCE_LEAST);
        }
      });
    },
  );
});
