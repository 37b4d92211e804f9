// A file from its first page to its last, as a strip. The darker a pixel, the more of its pages
// were resident.

import { useLayoutEffect, useRef } from "preact/hooks";
import { element, file, text } from "../charts/svg";
import type { Theme } from "../charts/theme";
import type { PageRuns } from "../contract";

/** Width of a strip in pixels, before scaling. */
const COLUMNS = 600;

export interface PageStripProps {
  label: string;
  colour: string;
  surface: string;
  pages: PageRuns;
  said: string;
}

export function PageStrip({ label, colour, surface, pages, said }: PageStripProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    context.globalAlpha = 1;
    context.fillStyle = surface;
    context.fillRect(0, 0, COLUMNS, 1);
    context.fillStyle = colour;
    shares(pages, COLUMNS).forEach((share, column) => {
      context.globalAlpha = share;
      context.fillRect(column, 0, 1, 1);
    });
  }, [colour, surface, pages]);
  return (
    <div class="strip">
      <span>{label}</span>
      <canvas
        ref={canvas}
        width={COLUMNS}
        height={1}
        role="img"
        aria-label={`${label}: ${said} resident`}
      />
      <span class="note">{said}</span>
    </div>
  );
}

const STRIP = { label: 140, width: 600, height: 22, said: 220 };

/** Strips below each other, as a file. */
export function stripsSvg(title: string, strips: PageStripProps[], theme: Theme): string {
  const head = { x: 8, y: 24, fill: theme.ink, "font-size": 15, "font-weight": 600 };
  const parts = [text(title, head)];
  strips.forEach(({ label, colour, pages, said }, index) => {
    const y = 40 + index * STRIP.height;
    const words = { y: y + 14, fill: theme.ink };
    parts.push(text(label, { x: 8, ...words }));
    const scale = STRIP.width / pages.pages;
    for (const [first, length] of pages.resident) {
      const run = { x: STRIP.label + first * scale, width: Math.max(0.5, length * scale) };
      parts.push(element("rect", { ...run, y, height: STRIP.height - 4, fill: colour }));
    }
    const frame = { x: STRIP.label, y, width: STRIP.width, height: STRIP.height - 4 };
    parts.push(element("rect", { ...frame, fill: "none", stroke: theme.rule }));
    parts.push(text(said, { x: STRIP.label + STRIP.width + 10, ...words }));
  });
  const width = STRIP.label + STRIP.width + STRIP.said;
  const height = 48 + strips.length * STRIP.height;
  return file(width, height, theme.surface, parts.join(""));
}

/** For each of `columns` equal parts of the file, the share of its pages that were resident. */
export function shares({ pages, resident }: PageRuns, columns: number): Float64Array {
  const found = new Float64Array(columns);
  const width = pages / columns;
  for (const [first = 0, length = 0] of resident) {
    const end = Math.min(pages, first + length);
    for (let column = Math.floor(first / width); column < columns; column += 1) {
      const [from, to] = [column * width, (column + 1) * width];
      if (from >= end) break;
      const overlap = Math.min(end, to) - Math.max(first, from);
      found[column] = Math.min(1, (found[column] ?? 0) + Math.max(0, overlap) / width);
    }
  }
  return found;
}
