// How fast a large page is. Only printed, as other work on the machine affects such numbers.

import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawAll, executable, launch, open, timed } from "./browser";
import { writeWithFootprint } from "./pages";
import { enlarged, fsprism, place, screenshots } from "./runs";

const LARGEST_BYTES = 3 * 1024 * 1024;

// The runs are those of page.test.ts, which goes first.
describe.skipIf(executable === undefined)("a large page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("of 240 cells and 20 blocks is small, and soon there", async () => {
    const run = enlarged(join(place, "survey"), "large", 20);
    fsprism("report", "large");
    const file = join(run, "report.html");
    const { size } = statSync(file);
    const { page, troubles } = await open(browser, file);
    const shown = await page.evaluate(() => ({
      paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      whole: performance.getEntriesByName("fsprism-shown")[0]?.startTime ?? Number.NaN,
    }));
    say(`${(size / 1024).toFixed(0)} KiB`);
    say(`first paint ${ms(shown.paint)}, shown ${ms(shown.whole)} after opening`);
    expect(size).toBeLessThan(LARGEST_BYTES);
    await drawAll(page);
    const dimension = page.getByLabel("Dimension", { exact: true });
    const changes: [string, () => Promise<unknown>][] = [
      ["hide a target", () => page.locator(".chip").first().click()],
      ["show it again", () => page.locator(".chip").first().click()],
      ["choose a dimension", () => dimension.selectOption("metadata")],
      ["show all dimensions", () => dimension.selectOption("")],
      ["go to a section", () => page.locator('nav a[href^="#effects"]').click()],
      ["open a table", () => page.locator("#effects button", { hasText: "Table" }).first().click()],
      ["go to single operations", () => page.locator('nav a[href^="#distribution"]').click()],
      [
        "choose a benchmark",
        () => page.locator("#distribution select").first().selectOption({ index: 20 }),
      ],
      ["turn dark", () => page.locator(".theme").click()],
    ];
    for (const [what, change] of changes) say(`${what}: ${ms(await timed(page, change))}`);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("of a journal that is nearly full opens", async () => {
    // 67,200 replicates: how long their lines are depends on how busy the machine was.
    const run = enlarged(join(place, "survey"), "longest", 280);
    fsprism("report", "longest");
    const file = join(run, "report.html");
    const { page, troubles } = await open(browser, file);
    say(`${(statSync(file).size / 1024).toFixed(0)} KiB`);
    await drawAll(page);
    expect(troubles).toEqual([]);
    await page.context().close();
    rmSync(run, { recursive: true });
  });

  it("with cachemaps and a flame graph draws and answers", async () => {
    const file = join(place, "footprint.html");
    const lines = writeWithFootprint(join(place, "survey/report.html"), file);
    const { page, troubles } = await open(browser, file, {}, "#footprint");
    await drawAll(page);
    const map = page.locator("#footprint figure").first();
    await map.scrollIntoViewIfNeeded();
    const zoom = map.getByRole("button", { name: "Larger cells" });
    say(`cachemap of up to ${lines} lines, zoom in: ${ms(await timed(page, () => zoom.click()))}`);
    const canvas = map.locator("canvas").first();
    await canvas.click({ position: { x: 140, y: 60 } });
    await page.locator("#footprint").screenshot({ path: join(screenshots, "footprint.png") });
    expect(await map.textContent()).toMatch(/0x[0-9a-f]+/);
    expect(troubles).toEqual([]);
    await page.context().close();
  });
});

function ms(time: number): string {
  return `${time.toFixed(0)} ms`;
}

function say(text: string) {
  console.log(`  ${text}`);
}
