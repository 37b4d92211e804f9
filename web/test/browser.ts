// A browser that watches itself: everything that the page writes to the console or requests from a
// network is recorded, and there must be nothing.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const PLACES = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The path of Chromium, if it is installed. */
export const executable = PLACES.find((path) => path !== undefined && existsSync(path));

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
}

export interface Watched {
  page: Page;
  /** Things that should not have happened. */
  troubles: string[];
}

/** Opens a file, and waits until its report is shown. */
export async function open(
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
  hash = "",
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("console", (message) => troubles.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.stack ?? error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== pathToFileURL(file).href && !/^(data|blob):/.test(url)) troubles.push(url);
  });
  await page.goto(`${pathToFileURL(file).href}${hash}`);
  await page.waitForSelector("main section, .trouble");
  return { page, troubles };
}

/** Opens everything that is folded. */
export async function unfold(page: Page) {
  for (let depth = 0; depth < 3; depth += 1) {
    await page.evaluate(async () => {
      for (const one of document.querySelectorAll("main details")) {
        (one as HTMLDetailsElement).open = true;
      }
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    });
  }
}

/** Scrolls from top to bottom, so that every chart is drawn. */
export async function drawAll(page: Page) {
  await page.evaluate(async () => {
    for (let at = 0; at < document.documentElement.scrollHeight; at += 0.8 * innerHeight) {
      scrollTo(0, at);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo(0, 0);
  });
}

/** How long it takes until a change has been painted, in milliseconds. */
export async function timed(page: Page, change: () => Promise<unknown>): Promise<number> {
  await page.evaluate(() => {
    const clock = globalThis as unknown as { began: number; painted: Promise<number> };
    clock.painted = new Promise((done) => {
      const watch = () => {
        clock.began = performance.now();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - clock.began)));
        for (const kind of ["click", "change", "hashchange"])
          removeEventListener(kind, watch, true);
      };
      for (const kind of ["click", "change", "hashchange"]) addEventListener(kind, watch, true);
    });
  });
  await change();
  return page.evaluate(() => (globalThis as unknown as { painted: Promise<number> }).painted);
}
