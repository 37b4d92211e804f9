// Reports of real runs in a real browser: every view, its figures against the document, its files,
// its manners (no requests, no messages, no script from data), and its looks.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Document } from "../src/contract";
import { drawAll, executable, launch, open, unfold } from "./browser";
import { withPayload } from "./pages";
import { fsprism, HOSTILE, makeRuns, place, type Runs, screenshots } from "./runs";

/** How often a file is requested at most. */
const ATTEMPTS_MOST = 4;
/** The height in pixels of a window that quickly shows all of a page. */
const TALL = 4000;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

describe.skipIf(executable === undefined)("a page", () => {
  let browser: Browser;
  let runs: Runs;
  const page = (run: string) => join(run, "report.html");

  beforeAll(async () => {
    runs = makeRuns();
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("shows every view, quietly, and looks as it should", async () => {
    for (const [name, run] of Object.entries(runs)) {
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1400, 420]) {
          const viewport = { width, height: TALL };
          const { page: tab, troubles } = await open(browser, page(run), { colorScheme, viewport });
          await drawAll(tab);
          const whole = join(screenshots, `${name}-${colorScheme}-${width}.png`);
          await tab.screenshot({ path: whole, fullPage: true });
          await unfold(tab);
          await drawAll(tab);
          // What sticks to the window would cover what is photographed.
          await tab.locator(".top").evaluate((top) => {
            (top as HTMLElement).style.position = "static";
          });
          if (colorScheme === "light") {
            const unfolded = join(screenshots, `${name}-unfolded-${width}.png`);
            await tab.screenshot({ path: unfolded, fullPage: true });
          }
          expect(await wider(tab), `${name} at ${width}`).toEqual([]);
          expect(troubles, `${name} ${colorScheme} ${width}`).toEqual([]);
          await tab.context().close();
        }
      }
    }
  });

  it("leads to each section by its link, and says where it is in its address", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.survey));
    for (const id of await sections(tab)) {
      await tab.locator(`nav a[href^="#${id}"]`).click();
      await expect.poll(() => tab.evaluate(() => location.hash)).toContain(`#${id}`);
      await expect.poll(() => isInView(tab, id), { message: id }).toBe(true);
    }
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("shows how many operations took longer, down to the longest", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.survey), {}, "#distribution");
    const tails = tab.locator("#distribution figure", { hasText: ": tail" });
    await expect.poll(() => tails.count()).toBe(1);
    const rows = await csvOf(tab, tails.first());
    expect(rows.length).toBeGreaterThan(2);
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("shows the figures of the document", async () => {
    const document = documentOf(runs.survey);
    const names = [...new Set(document.cells.map((cell) => `${cell.suite}/${cell.benchmark}`))];
    const { page: tab } = await open(browser, page(runs.survey), {}, "#distribution");
    const offered = await tab.locator("#distribution select").first().locator("option").all();
    expect(offered.length).toBeGreaterThan(10);
    for (const option of [offered[0], offered[7], offered.at(-1)]) {
      const key = (await option?.getAttribute("value")) as string;
      expect(names).toContain(key);
      await tab.locator("#distribution select").first().selectOption(key);
      await unfold(tab);
      const rows = [];
      for (const title of [": figures", ": other metrics"]) {
        const figures = tab.locator("#distribution figure", { hasText: title }).first();
        if ((await figures.count()) > 0) rows.push(...(await csvOf(tab, figures)));
      }
      const expected = document.cells
        .filter((cell) => `${cell.suite}/${cell.benchmark}` === key)
        .flatMap((cell) =>
          cell.metrics.map((metric) => [
            cell.target,
            metric.name,
            metric.unit,
            String(metric.figure.value),
            String(metric.figure.interval?.low ?? ""),
            String(metric.figure.interval?.high ?? ""),
            String(metric.median),
            String(metric.mean),
            String(metric.values.length),
          ]),
        );
      expect(rows.sort()).toEqual(expected.sort());
    }
    await tab.context().close();
  });

  it("maps what each target costs in each dimension, relative to any of them", async () => {
    const document = documentOf(runs.survey);
    const pairs = document.dimensions?.filter((pair) => pair.ratio != null) ?? [];
    expect(pairs.length).toBeGreaterThan(0);
    const { page: tab } = await open(browser, page(runs.survey), {}, "#map");
    const [first] = document.targets;
    await tab.locator("#map select").selectOption(first?.label as string);
    const rows = await csvOf(tab, tab.locator("#map figure"));
    for (const pair of pairs.filter((one) => one.first === first?.label)) {
      const shown = rows.find(([, target, ratio]) => {
        return (
          target === pair.second && Math.abs(Number(ratio) / (pair.ratio as number) - 1) < 1e-12
        );
      });
      expect(shown, `${pair.dimension} ${pair.second}`).toBeDefined();
    }
    await tab.context().close();
  });

  it("filters by target, dimension and benchmark, as its address says", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.survey));
    const labels = await tab.locator(".chip").allTextContents();
    await tab.locator(".chip").first().click();
    await tab.getByLabel("Dimension", { exact: true }).selectOption("metadata");
    await expect.poll(() => sections(tab)).not.toContain("dimension-io");
    expect(await sections(tab)).toContain("dimension-metadata");
    const address = await tab.evaluate(() => location.hash);
    const again = await open(browser, page(runs.survey), {}, address);
    await drawAll(again.page);
    expect(await sections(again.page)).toEqual(await sections(tab));
    const chart = again.page.locator("#dimension-metadata .relative").first();
    expect(await chart.textContent()).not.toContain(labels[0]);
    expect(await chart.textContent()).toContain(labels[1]);
    await again.page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => sections(again.page)).toContain("dimension-metadata");
    expect(await again.page.evaluate(() => location.hash)).not.toContain("target=");
    expect([...troubles, ...again.troubles]).toEqual([]);
    await Promise.all([tab.context().close(), again.page.context().close()]);
  });

  it("hands out the raw data as the program prints them", async () => {
    const { page: tab } = await open(browser, page(runs.survey), {}, "#repeat");
    for (const [button, format] of [
      ["Save CSV", "csv"],
      ["Save JSON", "json"],
    ] as const) {
      const saved = tab.waitForEvent("download");
      await tab.getByRole("button", { name: button }).click();
      const text = readFileSync(await (await saved).path(), "utf8");
      expect(text === fsprism("report", "survey", "--format", format), format).toBe(true);
    }
    await tab.context().close();
  });

  it("saves charts of every kind as PNG and SVG", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.survey), {}, "#distribution");
    await unfold(tab);
    await drawAll(tab);
    const charts = tab.locator("#distribution figure, #dimension-metadata figure:has(.relative)", {
      has: tab.getByText("SVG"),
    });
    expect(await charts.count()).toBeGreaterThanOrEqual(7);
    for (const chart of await charts.all()) {
      const name = (await chart.locator("h3").textContent()) ?? "";
      const png = readFileSync(await saved(tab, chart.getByRole("button", { name: "PNG" })));
      expect(png.subarray(1, 4).toString(), name).toBe("PNG");
      expect(png.length, name).toBeGreaterThan(5000);
      const file = await saved(tab, chart.getByRole("button", { name: "SVG" }));
      const svg = readFileSync(file, "utf8");
      // An XML parser decides whether the file is complete.
      const root = await tab.evaluate((text) => {
        const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
        return parsed.querySelector("parsererror")?.textContent ?? parsed.documentElement.tagName;
      }, svg);
      expect(root, name).toBe("svg");
    }
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("is printed on few pages, with what is quoted and without what is folded", async () => {
    const viewport = { width: 718, height: 1046 };
    const { page: tab } = await open(browser, page(runs.survey), { viewport });
    const pages = (await tab.pdf({ format: "A4" }))
      .toString("latin1")
      .match(/\/Type\s*\/Page[^s]/g);
    expect(pages?.length).toBeLessThanOrEqual(9);
    await tab.emulateMedia({ media: "print" });
    const width = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    expect(await tab.locator(".relative .paper-only").first().isVisible()).toBe(true);
    expect(await tab.locator("#distribution").isVisible()).toBe(false);
    await tab.context().close();
  });

  it("has no fault of accessibility, light and dark, wide and narrow", async () => {
    const { survey, curves, cliff, traced, compared, network } = runs;
    for (const run of [survey, curves, cliff, traced, compared, network]) {
      for (const [colorScheme, width] of [
        ["light", 1400],
        ["dark", 1400],
        ["light", 420],
      ] as const) {
        const viewport = { width, height: TALL };
        const { page: tab } = await open(browser, page(run), { colorScheme, viewport });
        await unfold(tab);
        await drawAll(tab);
        await tab.evaluate(axe);
        const found = await tab.evaluate(async () => {
          const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
          const { violations } = await axe.run();
          return violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3)}`,
          );
        });
        expect(found, `${run} ${colorScheme} ${width}`).toEqual([]);
        await tab.context().close();
      }
    }
  });

  it("can be read by keyboard", async () => {
    const { page: tab } = await open(browser, page(runs.curves), {}, "#dimension-scaling");
    await drawAll(tab);
    const plot = tab.locator("#dimension-scaling .plot").first();
    await plot.focus();
    await tab.keyboard.press("ArrowRight");
    const reading = tab.locator("#dimension-scaling .reading").first();
    await expect.poll(() => reading.textContent()).toMatch(/^1: .+ \d/);
    await tab.keyboard.press("ArrowRight");
    // On a busy machine, the second position may be left out.
    await expect.poll(() => reading.textContent()).toMatch(/^[2-9]\d*: /);
    await tab.context().close();
  });

  it("shows what was traced, of the target and operation that its address says", async () => {
    const view = "#footprint?traced=xfs&operation=create";
    const { page: tab, troubles } = await open(browser, page(runs.traced), {}, view);
    const section = tab.locator("#footprint");
    const titles = () => section.locator("h3").allTextContents();
    await expect
      .poll(titles)
      .toEqual(["xfs, create: instructions", "xfs, create: data", "xfs, create: bytes of code"]);
    const data = section.locator("figure", { hasText: "xfs, create: data" });
    await data.getByRole("button", { name: "Table" }).click();
    const rows = await cellsOf(data.locator(".chart-table tbody tr"));
    expect(rows.map(([, name]) => name)).toContain("dentry+0x58 d_lockref");
    expect(rows).toContainEqual(["0xffff88803e400000", "per-CPU cpu_slabs+0x8", "8", "3"]);
    await section.getByLabel("Compared with").selectOption("ext4");
    await section.getByLabel("Frames are").selectOption("functions");
    await section.getByLabel("Widths are").selectOption("instructions");
    await expect.poll(titles).toHaveLength(7);
    expect((await titles()).at(-1)).toBe("create: what changes from ext4 to xfs: instructions");
    const address = await tab.evaluate(() => location.hash);
    expect(address).toContain("against=ext4");
    const again = await open(browser, page(runs.traced), {}, address);
    const said = again.page.locator("#footprint figure", { hasText: "what changes from ext4" });
    await expect
      .poll(() => said.textContent())
      .toContain("114 instructions in ext4, 126 in xfs: +12");
    await section.getByLabel("Operation").selectOption("stat");
    await expect.poll(async () => (await titles())[0]).toBe("xfs, stat: instructions");
    expect([...troubles, ...again.troubles]).toEqual([]);
    expect(await tab.locator("#warnings").textContent()).toContain("other.trace");
    await Promise.all([tab.context().close(), again.page.context().close()]);
  });

  it("shows two traces beside each other, and names both sides", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.compared));
    expect(await sections(tab)).toEqual(["difference", "footprint", "warnings"]);
    const section = tab.locator("#difference");
    const figures = await cellsOf(section.locator("table").first().locator("tr"));
    expect(figures.map((row) => row.join(" "))).toContain("114 126 +12");
    await section.getByLabel("Widths are").selectOption("instructions");
    const flames = section.locator("figure");
    expect(await flames.locator("h3").textContent()).toBe(
      "create: what changes from ext4 (before) to xfs (after): instructions",
    );
    expect(await flames.textContent()).toContain("Red frames do more in xfs (after) than in ext4");
    const functions = await section.locator("details").textContent();
    expect(functions).toContain("kmem_cache_alloc (malloc)");
    const titles = await tab.locator("#footprint h3").allTextContents();
    expect(titles.slice(0, 2)).toEqual([
      "ext4 (before), create: instructions",
      "xfs (after), create: instructions",
    ]);
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("tells by keyboard which stacks touched a byte", async () => {
    const view = "#footprint?traced=xfs&operation=create";
    const { page: tab } = await open(browser, page(runs.traced), {}, view);
    const map = tab.locator("#footprint figure", { hasText: "xfs, create: data" });
    await map.scrollIntoViewIfNeeded();
    await map.getByLabel(/cachemap\. Arrow keys/).focus();
    for (const key of ["ArrowDown", "ArrowDown", "End", "Home"]) await tab.keyboard.press(key);
    for (let byte = 0; byte < 8; byte += 1) await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("Enter");
    const detail = map.getByLabel("Stacks that touched the byte");
    await expect.poll(() => detail.textContent()).toContain("cpu_slabs");
    expect(await detail.textContent()).toContain("kmem_cache_alloc ← xfs_create ← vfs_create");
    await tab.context().close();
  });

  it("never takes a label for markup or script", async () => {
    const { page: tab, troubles } = await open(browser, page(runs.hostile));
    await drawAll(tab);
    expect(await tab.evaluate(() => "hostile" in globalThis)).toBe(false);
    expect(await tab.locator("img").count()).toBe(0);
    expect(await tab.locator(".chip").first().textContent()).toBe(HOSTILE);
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("shows its text where no script may run", async () => {
    for (const run of [runs.survey, runs.hostile]) {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const tab = await context.newPage();
      await tab.goto(`file://${page(run)}`);
      expect(await tab.locator("#text").textContent()).toContain("How sure this is");
      await context.close();
    }
  });

  it("says so when it was cut off, changed, or is of another version", async () => {
    const whole = readFileSync(page(runs.survey), "utf8");
    const script = whole.slice(whole.lastIndexOf("<script>"));
    const cut = whole.indexOf('id="block">') + 5000;
    const cases: [string, string, RegExp][] = [
      ["cut.html", `${whole.slice(0, cut)}</script>${script}`, /cut off or changed/],
      ["empty.html", whole.replace(/(id="payload">)[^<]*/, "$1"), /was cut off/],
      ["other.html", withPayload(whole, (it) => Object.assign(it, { page_version: 99 })), /99/],
      [
        "short.html",
        withPayload(whole, ({ runs: [run] }) => {
          if (run) run.document.offset += 1 << 30;
        }),
        /shorter than they say/,
      ],
    ];
    for (const [name, html, expected] of cases) {
      const path = join(place, name);
      writeFileSync(path, html);
      const { page: tab } = await open(browser, path);
      expect(await tab.locator(".trouble").textContent(), name).toMatch(expected);
      expect(await tab.locator("#text").isVisible(), name).toBe(true);
      await tab.context().close();
    }
    // The text before the script is shown even if the page is cut off there.
    const path = join(place, "half.html");
    writeFileSync(path, whole.slice(0, cut));
    const tab = await browser.newPage();
    await tab.goto(`file://${path}`);
    expect(await tab.locator("#text").textContent()).toContain("How sure this is");
    await tab.close();
  });

  it("puts several runs side by side", async () => {
    fsprism("report", "survey", "hostile", "--out", "both.html");
    const { page: tab, troubles } = await open(browser, join(place, "both.html"));
    await drawAll(tab);
    expect(await tab.locator("#summary .subject > span").count()).toBe(2);
    const labels = (await tab.locator(".chip").allTextContents()).join("; ");
    expect(labels).toContain("· survey");
    expect(labels).toContain("· hostile");
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  function documentOf(run: string): Document {
    return JSON.parse(fsprism("report", run, "--format", "json")) as Document;
  }

  it("is not large", () => {
    for (const run of Object.values(runs)) {
      expect(statSync(page(run)).size).toBeLessThan(3 * 1024 * 1024);
    }
  });
});

function sections(tab: Page): Promise<string[]> {
  return tab.locator("main > section").evaluateAll((all) => all.map((one) => one.id));
}

function isInView(tab: Page, id: string): Promise<boolean> {
  return tab.locator(`#${id}`).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  });
}

/** Elements that are wider than the window, except for those that scroll separately. */
function wider(tab: Page): Promise<string[]> {
  return tab.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("main *")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .filter((one) => one.closest(".scrolling, .chart-table, #text, svg") === null)
          .map((one) => `${one.tagName}.${one.getAttribute("class")}`),
  );
}

async function cellsOf(rows: ReturnType<Page["locator"]>): Promise<string[][]> {
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
  );
}

/** The rows of a chart's CSV file, without the header. */
async function csvOf(tab: Page, chart: ReturnType<Page["locator"]>): Promise<string[][]> {
  await chart.getByRole("button", { name: "Table", exact: true }).click();
  const path = await saved(tab, chart.getByRole("button", { name: "Save as CSV" }));
  await chart.getByRole("button", { name: "Hide table" }).click();
  const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  // Fields with commas are quoted; no label in these runs contains a quotation mark.
  return lines.map((line) =>
    [...line.matchAll(/("[^"]*"|[^,]*)(?:,|$)/g)]
      .slice(0, line.endsWith(",") ? undefined : -1)
      .map(([, field = ""]) => field.replaceAll('"', "")),
  );
}

async function saved(tab: Page, button: ReturnType<Page["locator"]>): Promise<string> {
  // A browser occasionally drops a download if many follow each other.
  for (let attempt = 1; ; attempt += 1) {
    const download = tab.waitForEvent("download", { timeout: 10_000 * attempt });
    await button.click();
    try {
      return await (await download).path();
    } catch (error) {
      if (attempt === ATTEMPTS_MOST) throw error;
    }
  }
}
