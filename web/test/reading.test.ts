// How a page is read: a stranger's questions are answered where it opens, nothing is lost on the
// way back, and what is not shown immediately is one step away.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckDocument, Document } from "../src/contract";
import { typeset } from "../src/format/units";
import { executable, launch, open, unfold } from "./browser";
import { fsprism, JOBS, place, screenshots } from "./runs";

/** Half of the height that a survey's page had when all of it was in one column. */
const HEIGHT_MOST = 8150;
const WINDOW = { viewport: { width: 1400, height: 900 } };

// The runs are those of page.test.ts, which goes first.
describe.skipIf(executable === undefined)("a reader", () => {
  let browser: Browser;
  const file = (run: string) => join(place, run, "report.html");
  const survey = () => open(browser, file("survey"), WINDOW);

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("finds the answer, what it rests on and what is missing without scrolling", async () => {
    const { page: tab, troubles } = await survey();
    expect(await tab.locator("h1").count()).toBe(1);
    const answer = (await tab.locator("h1").textContent()) ?? "";
    expect(answer).toMatch(/costs? least in|nothing can be told apart|none is ahead/);
    expect(answer).not.toMatch(/warning|refused/);
    for (const seen of ["h1", ".card.sure", ".card.doubts-card", ".card.missing"]) {
      expect(await isWhole(tab, seen), seen).toBe(true);
    }
    const missing = (await tab.locator(".card.missing").textContent()) ?? "";
    const screen = fsprism("report", "survey", "--terminal").replace(/\s+/g, " ");
    const said = /Left out: (.*?)\. [A-Z]/.exec(screen)?.[1]?.split("; ")[0] ?? "nothing";
    expect(missing.replace(/\s+/g, " ")).toContain(said);
    expect(await isWhole(tab, "#map .map tbody tr:nth-child(3)")).toBe(true);
    const mail = tab.locator("#loads .map tbody tr", { hasText: "a mail server" });
    // On a busy machine, too few blocks may be left to compare all of its operations.
    const document = JSON.parse(fsprism("report", "survey", "--format", "json")) as Document;
    const load = document.loads?.find((one) => one.title === "a mail server");
    const isCompared = load?.comparisons.some((one) => one.interval != null) ?? false;
    const figures = isCompared ? /\d× ?\[.*1×|1×.*\d× ?\[/ : /1×|–/;
    await expect.poll(() => mail.textContent()).toMatch(figures);
    expect(await isWhole(tab, "#loads .map tbody tr:nth-child(2)")).toBe(true);
    expect(await height(tab)).toBeLessThan(HEIGHT_MOST);
    await tab.screenshot({ path: join(screenshots, "first-window.png") });
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("looks at one benchmark, finds its sentence and figures, and loses nothing else", async () => {
    const document = JSON.parse(fsprism("report", "survey", "--format", "json")) as Document;
    const cell = document.cells.find((one) => /^create/.test(one.title) && one.curve == null);
    const { page: tab } = await survey();
    const key = `${cell?.suite}/${cell?.benchmark}`;
    await tab.evaluate(() => scrollTo(0, 1500));
    await tab.getByLabel("Benchmark", { exact: true }).first().selectOption(key);
    const said = tab.locator("#distribution .also").first();
    await expect.poll(() => said.textContent()).toContain(`${cell?.title}: `);
    expect(await said.textContent()).toMatch(/slower|cannot be told apart|the same|too little/);
    await expect.poll(() => isWhole(tab, "#distribution .also")).toBe(true);
    // Things drawn late above it must not push it away.
    const top = () => tab.locator("#distribution").evaluate((it) => it.getBoundingClientRect().top);
    await tab.waitForTimeout(1500);
    expect(await top()).toBeGreaterThan(0);
    expect(await top()).toBeLessThan(100);
    expect(await tab.locator("#distribution figure").count()).toBeGreaterThan(1);
    const before = await tab.locator("main > section").count();
    await tab.goBack();
    await expect.poll(() => tab.evaluate(() => scrollY)).toBe(1500);
    expect(await tab.locator("main > section").count()).toBe(before);
    await unfold(tab);
    await tab.locator(".chip").first().click();
    for (const section of ["#effects", "#words", "#warnings"]) {
      const text = await tab.locator(section).textContent();
      expect(text, section).toContain("filters do not change it");
    }
    await tab.context().close();
  });

  it("sees each benchmark relative to the best, and its own figures with units", async () => {
    const document = JSON.parse(fsprism("report", "survey", "--format", "json")) as Document;
    const { page: tab } = await survey();
    const rows = tab.locator("main .relative tbody tr");
    expect(await rows.count()).toBeGreaterThan(5);
    for (const text of await tab.locator(".relative .value .own").allTextContents()) {
      expect(text).toMatch(
        /^(too little data|[\d,.]+ ?(ns|µs|ms|s|×|[KMGT]iB|bytes|[kMGT]? ?op\/s|[KMG]iB\/s)?)$/,
      );
    }
    // If one is marked as the best, some other is certainly worse.
    const marked = tab.locator(".relative tr", { has: tab.locator(".best") });
    for (const row of await marked.all()) {
      const title = ((await row.locator("button").textContent()) ?? "").replace(": speed-up", "");
      const own = document.cells.find((one) => one.title === title)?.benchmark;
      const pairs = document.comparisons.filter((one) => one.benchmark === own);
      expect(
        pairs.some(({ verdict }) => verdict.startsWith("real")),
        title,
      ).toBe(true);
    }
    await tab.locator("#dimension-io .relative button").first().scrollIntoViewIfNeeded();
    await tab.locator("#dimension-io .relative tbody tr").first().hover();
    const tip = tab.locator("#dimension-io .row-tip");
    await expect.poll(() => tip.isVisible()).toBe(true);
    expect(await tip.textContent()).toMatch(/\[.+\]/);
    await tab.mouse.move(0, 0);
    await expect.poll(() => tip.isVisible()).toBe(false);
    await tab.keyboard.press("Tab");
    await tab.locator("#dimension-io .relative button").first().focus();
    await expect.poll(() => tip.isVisible()).toBe(true);
    await tab.keyboard.press("Escape");
    await expect.poll(() => tip.isVisible()).toBe(false);
    await tab.context().close();
  });

  it("reads units and no raw numbers in any table", async () => {
    const { page: tab } = await survey();
    await unfold(tab);
    // A button that has been clicked has another name.
    const closed = tab.getByRole("button", { name: "Table", exact: true });
    while ((await closed.count()) > 0) await closed.first().click();
    const cells = await tab.locator(".chart-table td").allTextContents();
    expect(cells.length).toBeGreaterThan(100);
    // More than four significant digits after the decimal point.
    const isRaw = (text: string) => /[1-9]\d*\.\d{5,}|\.0*[1-9]\d{4,}/.test(text);
    expect(cells.filter(isRaw)).toEqual([]);
    const heads = await tab.locator("#distribution table.figures thead").first().textContent();
    expect(heads).toContain("Means of blocks");
    expect(heads).toContain("Single operations");
    await tab.context().close();
  });

  it("comes back to where it was", async () => {
    const { page: tab } = await survey();
    await tab.evaluate(() => scrollTo(0, 1500));
    const before = await tab.evaluate(() => scrollY);
    await tab.locator('nav a[href^="#machine"]').click();
    await expect.poll(() => tab.evaluate(() => location.hash)).toContain("#machine");
    await expect.poll(() => tab.evaluate(() => scrollY)).toBeGreaterThan(before + 300);
    await tab.goBack();
    await expect.poll(() => tab.evaluate(() => scrollY)).toBe(before);
    await tab.locator(".chip").first().click();
    await expect.poll(() => tab.evaluate(() => location.hash)).toContain("target=");
    await tab.goBack();
    await expect.poll(() => tab.evaluate(() => location.hash)).not.toContain("target=");
    await expect.poll(() => tab.evaluate(() => scrollY)).toBe(before);
    await tab.context().close();
  });

  it("sees in the list of sections which one is read", async () => {
    const { page: tab } = await survey();
    const current = () => tab.locator('nav [aria-current="location"]').textContent();
    await expect.poll(current).toBe("The answer");
    await tab.locator("#warnings").evaluate((one) => one.scrollIntoView());
    await expect.poll(current).toBe("Warnings");
    await tab.evaluate(() => scrollTo(0, 0));
    await expect.poll(current).toBe("The answer");
    await tab.context().close();
  });

  it("learns what each warning means, and which cells it is about", async () => {
    const { page: tab } = await survey();
    const kinds = tab.locator("#warnings .warned-kind");
    expect(await kinds.count()).toBeGreaterThan(0);
    expect(await tab.locator("#warnings .warned h3").count()).toBeGreaterThan(0);
    for (const kind of await kinds.all()) {
      expect((await kind.locator(".means").textContent())?.length).toBeGreaterThan(20);
    }
    // By keyboard, as charts that are drawn when they come into view may move the target of a
    // click.
    await kinds.first().locator("summary").press("Enter");
    await expect.poll(() => kinds.first().locator("li, td").count()).toBeGreaterThan(0);
    await tab.context().close();
  });

  it("has one cursor and one zoom for a histogram and its cumulative shares", async () => {
    const { page: tab, troubles } = await open(browser, file("survey"), WINDOW, "#distribution");
    const plots = tab.locator("#distribution .pair .plot");
    await expect.poll(() => plots.locator(".u-over").count()).toBe(2);
    const over = plots.first().locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error("no plot");
    const middle = box.y + box.height / 2;
    await tab.mouse.move(box.x + box.width * 0.3, middle);
    for (const plot of await plots.all()) {
      await expect.poll(() => plot.locator(".plot-tip").textContent()).toMatch(/[nµm]?s/);
    }
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 });
    await tab.mouse.up();
    const all = tab.locator("#distribution .pair").getByRole("button", { name: "Show all" });
    await expect.poll(() => all.count()).toBe(2);
    await all.first().click();
    await expect.poll(() => all.count()).toBe(0);
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("reaches whatever scrolls by keyboard, on a small screen too", async () => {
    const small = { viewport: { width: 420, height: 900 } };
    const { page: tab } = await open(browser, file("survey"), small);
    await unfold(tab);
    const cut = await tab.evaluate(() =>
      [...document.querySelectorAll("main svg, main canvas, main table.relative")]
        .filter((one) => one.closest(".scrolling[tabindex], .chart-scroller") === null)
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
        .map((one) => one.parentElement?.className),
    );
    expect(cut).toEqual([]);
    const lost = await tab.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>(".scrolling")]
        .filter((one) => one.scrollWidth > one.clientWidth && one.tabIndex !== 0)
        .map((one) => one.textContent?.slice(0, 60)),
    );
    expect(lost).toEqual([]);
    await tab.context().close();
  });

  it("sees first what changed between two runs", async () => {
    cpSync(join(place, "survey"), join(place, "survey-later"), { recursive: true });
    slowedDown(join(place, "survey-later", "cells.jsonl"));
    fsprism("report", "survey", "survey-later", "--out", "changed.html");
    const { page: tab, troubles } = await open(browser, join(place, "changed.html"), WINDOW);
    const answer = (await tab.locator("h1").textContent()) ?? "";
    expect(answer).toMatch(/^From survey to survey-later: \d+ worse/);
    const order = await tab.locator("main > section").evaluateAll((all) => all.map(({ id }) => id));
    expect(order.slice(0, 2)).toEqual(["summary", "changes"]);
    expect(await isWhole(tab, "h1")).toBe(true);
    const [largest, bound] = await tab.locator("#summary .lead").allTextContents();
    expect(largest).toContain("The largest difference: ");
    expect(bound).toContain("single runs");
    const sure = await tab.locator(".card.sure").textContent();
    expect(sure).toContain("differ between these runs");
    await tab.screenshot({ path: join(screenshots, "changed-window.png") });
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("sees which known mistakes a classic benchmark contains, and what avoids each", async () => {
    const brief = ["--file-size", "64k", "--blocks", "2", "--out", "classic"];
    fsprism("run", "sprite-lfs", `here=${place}`, ...brief);
    const { page: tab, troubles } = await open(browser, file("classic"), WINDOW);
    const mistakes = tab.locator("#mistakes");
    expect(await isWhole(tab, "#mistakes h3")).toBe(true);
    const said = (await mistakes.textContent()) ?? "";
    const told = JSON.parse(fsprism("check", "classic", "--format", "json")) as CheckDocument;
    const counted = `${told.found} of ${told.known} known mistakes`;
    for (const words of [counted, "Avoid it: --align page", "Cannot tell"]) {
      expect(said).toContain(words);
    }
    for (const { findings } of told.checks) {
      for (const { message } of findings) expect(said).toContain(typeset(message));
    }
    await mistakes.screenshot({ path: join(screenshots, "classic-mistakes.png") });
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("sees the text of a job file, as it was written", async () => {
    const { page: tab, troubles } = await open(browser, file("jobs"), WINDOW);
    await unfold(tab);
    expect(await tab.locator("pre.jobs").textContent()).toBe(JOBS.trimEnd());
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("sees what a network file system asks for in every state of its caches", async () => {
    const { page: tab, troubles } = await open(browser, file("network"), WINDOW);
    expect(await tab.locator("h1").textContent()).toMatch(/with a hot cache, 3 of 11 calls/);
    expect(await tab.locator(".card.doubts-card").textContent()).toContain("No warnings");
    const states = tab.locator("#states table.states");
    expect(await states.count()).toBe(3);
    expect(await isWhole(tab, "#states table.states tbody tr:last-child")).toBe(true);
    const widths = await states
      .first()
      .locator("tbody .calls")
      .evaluateAll((all) =>
        all.map((one) => [...one.children].reduce((sum, part) => sum + part.clientWidth, 0)),
      );
    const [server = 1, none = 0, cold = 0, hot = 0] = widths;
    expect(server).toBe(0);
    expect(none).toBeCloseTo(cold, 0);
    expect(hot / none).toBeCloseTo(3 / 11, 1);
    const row = states.first().locator("tbody tr", { hasText: "none" });
    expect(await row.locator(".calls").getAttribute("title")).toContain("READ 8");
    expect(await tab.locator("#states").textContent()).toContain("MB of content");
    // Nothing about costs and single operations, as calls were counted.
    expect(await tab.locator("main").textContent()).not.toMatch(/relative to the best|Effects/);
    await tab.screenshot({ path: join(screenshots, "network-window.png") });
    expect(troubles).toEqual([]);
    await tab.context().close();
  });

  it("is offered no stacks of bytes never executed, and told what totals are", async () => {
    const view = "#footprint?traced=xfs&operation=create";
    const { page: tab } = await open(browser, file("traced"), WINDOW, view);
    const map = tab.locator("#footprint figure", { hasText: "xfs, create: data" });
    await map.scrollIntoViewIfNeeded();
    await map.getByLabel(/cachemap\. Arrow keys/).focus();
    for (const key of ["ArrowDown", "ArrowDown", "End"]) await tab.keyboard.press(key);
    await expect.poll(() => map.locator(".reading").textContent()).toContain("never accessed");
    await tab.keyboard.press("Enter");
    expect(await map.locator(".chart-detail").count()).toBe(0);
    const flame = tab.locator("#footprint figure", { hasText: "bytes of code" });
    expect(await flame.locator(".chart-summary").textContent()).toContain("The total is of");
    await tab.context().close();
  });
});

/** Makes replicates of half of the cells cost far more than a busy machine could. */
function slowedDown(journal: string) {
  const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
  // Removes the line numbers and checksums, which would no longer match, as in older journals.
  const all = lines.map((line) => JSON.parse(line.replace(/,"line":\d+,"crc32":\d+}$/, "}")));
  for (const one of all.filter(({ kind }) => kind === "replicate")) {
    // The primary metric, the time of an operation, comes first.
    if (one.cell % 2 === 0) one.metrics[0] *= 20;
  }
  writeFileSync(journal, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

/** Whether the first match is visible from top to bottom. */
function isWhole(tab: Page, selector: string): Promise<boolean> {
  return tab
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { top, bottom, height } = element.getBoundingClientRect();
      return height > 0 && top >= 0 && bottom <= innerHeight;
    });
}

function height(tab: Page): Promise<number> {
  return tab.evaluate(() => document.documentElement.scrollHeight);
}
